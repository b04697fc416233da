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
REMEMBERED: Final = 1_000_000
"""Terms that are remembered, of all tools together."""
WEIGHTS: Final = (3, 2, 2, 1)
"""How often a word counts where it stands."""

Fields: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""The terms of a tool: of its name, its label, its description, its parameters."""
_Key: TypeAlias = tuple[str, str, str, str, int]

_NO_SCHEMA: Final[JsonObject] = {}


class Memory:
    """Terms by the words of a tool and the very schema; the first to come are the first to go.

    The schema is kept with them: its number is nobody else's only as long as it lives.
    """

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._known: dict[_Key, tuple[Fields, JsonObject]] = {}
        self._lock = Lock()

    def get(self, key: _Key) -> Fields | None:
        known = self._known.get(key)
        return None if known is None else known[0]

    def put(self, key: _Key, found: Fields, schema: JsonObject) -> None:
        with self._lock:
            if key in self._known:
                return
            self._known[key] = (found, schema)
            self._size += sum(map(len, found))
            while self._size > self._limit:
                gone, _ = self._known.pop(next(iter(self._known)))
                self._size -= sum(map(len, gone))

    def clear(self) -> None:
        with self._lock:
            self._known.clear()
            self._size = 0


_memory = Memory(limit=REMEMBERED)


def fields(descriptor: Descriptor) -> Fields:
    """Give the terms of a tool, from memory where they are known."""
    schema = _schema(descriptor)
    place, name, label = (each[:NAME_LIMIT] for each in (descriptor.id, descriptor.name, descriptor.label))
    description = descriptor.description[:TEXT_LIMIT]
    key = (place, name, label, description, id(schema))
    if (known := _memory.get(key)) is not None:
        return known
    named = terms(name)
    found = (
        (*named, *(term for term in terms(place.partition(":")[2]) if term not in named)),
        tuple(terms(label)),
        tuple(terms(description)),
        tuple(terms(_parameters_text(schema))),
    )
    _memory.put(key, found, schema)
    return found


def forget() -> None:
    """Forget the terms of all tools, as a process that begins."""
    _memory.clear()


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
    if schema is None or depth == 0 or not isinstance(schema, (dict, Mapping)):
        return
    properties = schema.get("properties")
    for name, each in properties.items() if isinstance(properties, (dict, Mapping)) else ():
        yield str(name)
        if isinstance(each, (dict, Mapping)):  # most are the first, which is told in no time
            if isinstance(description := each.get("description"), str):
                yield description
            yield from _of_parameters(each, depth=depth - 1)
    yield from _of_parameters(schema.get("items"), depth=depth - 1)
