"""The words of one tool, by where they stand. Of a tool that nobody here answers for, its schema has none."""

from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Final, TypeAlias

from apps.firewall.tools.search.descriptors import Descriptor, JsonObject
from apps.firewall.tools.search.words import TEXT_LIMIT, terms

NAME_LIMIT: Final = 256
PARAMETERS_LIMIT: Final = 4_000
"""Characters of names and descriptions of parameters that count."""
PARAMETERS_DEPTH: Final = 4
REMEMBERED: Final = 20_000
"""Tools whose terms are remembered."""
WEIGHTS: Final = (3, 2, 2, 1)
"""How often a word counts where it stands."""

Fields: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""The terms of a tool: of its name, its label, its description, its parameters."""

_NO_SCHEMA: Final[JsonObject] = {}
_remembered: dict[tuple[str, str, str, str, int], tuple[Fields, JsonObject]] = {}
"""By the words of a tool and the very schema; it is kept, for its number is nobody else's only as long as it lives."""
_remembering: Final = Lock()


def fields(descriptor: Descriptor) -> Fields:
    """Give the terms of a tool, from memory where they are known."""
    schema = _schema(descriptor)
    key = (descriptor.id, descriptor.name, descriptor.label, descriptor.description, id(schema))
    known = _remembered.get(key)
    if known is not None:
        return known[0]
    named = terms(descriptor.name, limit=NAME_LIMIT)
    found = (
        (*named, *(term for term in terms(descriptor.id, limit=NAME_LIMIT) if term not in named)),
        tuple(terms(descriptor.label, limit=NAME_LIMIT)),
        tuple(terms(descriptor.description)),
        tuple(terms(_parameters_text(schema))),
    )
    with _remembering:
        while len(_remembered) >= REMEMBERED:
            del _remembered[next(iter(_remembered))]
        _remembered[key] = (found, schema)
    return found


def forget() -> None:
    """Forget the terms of all tools, as a process that begins."""
    with _remembering:
        _remembered.clear()


def text(descriptor: Descriptor) -> str:
    """Give the words of a tool, beside its name, as one text."""
    words = (
        descriptor.label[:NAME_LIMIT],
        descriptor.description[:TEXT_LIMIT],
        _parameters_text(_schema(descriptor)),
    )
    return "\n".join(filter(None, words))


def _schema(descriptor: Descriptor) -> JsonObject:
    return descriptor.parameters if descriptor.is_trusted else _NO_SCHEMA


def _parameters_text(schema: JsonObject) -> str:
    words, size = [], 0
    for each in _of_parameters(schema, depth=PARAMETERS_DEPTH):
        words.append(each[:PARAMETERS_LIMIT])
        size += len(each) + 1
        if size >= PARAMETERS_LIMIT:
            break
    return " ".join(words)[:PARAMETERS_LIMIT]


def _of_parameters(schema: object, *, depth: int) -> Iterator[str]:
    """Give the names and descriptions of parameters, also of those inside others."""
    if not isinstance(schema, Mapping) or depth == 0:
        return
    properties = schema.get("properties")
    for name, each in properties.items() if isinstance(properties, Mapping) else ():
        yield str(name)
        if isinstance(each, Mapping):
            if isinstance(description := each.get("description"), str):
                yield description
            yield from _of_parameters(each, depth=depth - 1)
    yield from _of_parameters(schema.get("items"), depth=depth - 1)
