"""Definitions at a door: read as everywhere, and refused where they say what nothing here would heed.

What is stored already is read by `definition_json` alone: a rule that was made since must not hide a tool.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import islice
from typing import Any, Final, get_args, get_type_hints

from apps.firewall.patterns import PatternError, compile_pattern
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.definition_json import (
    SPELLINGS,
    DefinitionInvalidError,
    Problem,
    invalid_definition,
    read_definition,
)
from apps.firewall.tools.near import did_you_mean
from apps.firewall.tools.schema_walk import forms, properties, resolved

OF_MCP: Final = frozenset({"annotations", "icons", "execution", "_meta"})
"""What MCP's own form has beside, and says nothing here."""

_IN_PLACE: Final = ("allOf", "anyOf", "oneOf")
_CONDITIONS: Final = ("then", "else")
_MAPS: Final = ("properties", "patternProperties")
_OF_ONE: Final = ("items", "contains", "additionalProperties", "unevaluatedProperties", "unevaluatedItems")
PROBLEMS_LIMIT: Final = 50
_PARTS_LIMIT: Final = 20_000
NAME_LETTERS: Final = 200


def admit_definition(
    document: object, *, path: str = "", beside: frozenset[str] = frozenset(), is_described: bool = False
) -> Definition:
    """Read a definition that somebody states here.

    Args:
        document: a JSON object with at least `name`.
        path: where it stands in what the caller was given, for example `tools[3].`.
        beside: members that belong to the door, not to the definition.
        is_described: it comes from the process that loads authors' code, which knows their own formats.
    Raises:
        DefinitionInvalidError: with every mistake of it: those of `read_definition`, members that no definition has,
            and required names that its schemas do not describe.
    """
    unknown = _unknown(document, path, beside) if isinstance(document, Mapping) else iter(())
    problems = list(islice(unknown, PROBLEMS_LIMIT))
    try:
        definition = read_definition(document, path=path)
    except DefinitionInvalidError as exc:
        details = [*problems, *exc.details]
        raise (invalid_definition(document, details) if problems else exc) from exc
    if definition.formats and not is_described:
        problems.append({"path": f"{path}formats", "code": "unknown_field", "message": "is filled in here"})
    problems += schema_mistakes(definition, path=path)
    if problems:
        raise invalid_definition(document, problems)
    return definition


def schema_mistakes(definition: Definition, *, path: str = "") -> list[Problem]:
    """List the required names that the schemas of a definition do not describe."""
    mistakes: list[Problem] = []
    for member, schema in (("parameters", definition.parameters), ("output", definition.output)):
        for place, name in undescribed(schema or {}):
            message = f"`{name}` is required and no property has this name"
            mistakes.append({"path": f"{path}{member}.{place}", "code": "required_unknown", "message": message})
    return mistakes


def undescribed(schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """List the names that a schema requires and nowhere describes, each with its place, as `required[1]`.

    A name counts as described by a property beside it, in a part that holds for the same value, or around it, by a
    pattern, and by a schema for all other members.
    """
    left: list[tuple[str, Any, frozenset[str]]] = [("", schema, frozenset())]
    seen = 0
    while left and seen < _PARTS_LIMIT:
        place, part, around = left.pop()
        seen += 1
        if not isinstance(part, Mapping):
            continue
        names = around | _described(schema, part)
        required = part.get("required")
        if isinstance(required, list) and not _describes_others(part):
            for index, name in enumerate(required):
                if isinstance(name, str) and name not in names and not _fits_pattern(part, name):
                    yield f"{place}required[{index}]", name
        left += _below(part, place, names)


def _below(part: Mapping[str, Any], place: str, names: frozenset[str]) -> Iterator[tuple[str, Any, frozenset[str]]]:
    for keyword in _IN_PLACE:
        parts = part.get(keyword)
        if isinstance(parts, list):
            yield from ((f"{place}{keyword}[{index}].", each, names) for index, each in enumerate(parts))
    for keyword in _CONDITIONS:
        yield f"{place}{keyword}.", part.get(keyword), names
    dependent = part.get("dependentSchemas")
    if isinstance(dependent, Mapping):
        yield from ((f"{place}dependentSchemas.{name}.", each, names) for name, each in dependent.items())
    for keyword in _MAPS:
        parts = part.get(keyword)
        if isinstance(parts, Mapping):
            yield from ((f"{place}{keyword}.{name}.", each, frozenset()) for name, each in parts.items())
    for keyword in _OF_ONE:
        yield f"{place}{keyword}.", part.get(keyword), frozenset()
    items = part.get("prefixItems")
    if isinstance(items, list):
        yield from ((f"{place}prefixItems[{index}].", each, frozenset()) for index, each in enumerate(items))
    definitions = part.get("$defs")
    if isinstance(definitions, Mapping):
        # One without properties is a part of others, which say what it requires.
        whole = ((name, each) for name, each in definitions.items() if isinstance(each, Mapping) and properties(each))
        yield from ((f"{place}$defs.{name}.", each, frozenset()) for name, each in whole)


def _described(root: Mapping[str, Any], part: Mapping[str, Any]) -> frozenset[str]:
    names: set[str] = set()
    for together in resolved(root, part):
        names.update(properties(together))
        for form in forms(together):
            for inner in resolved(root, form):
                names.update(properties(inner))
    return frozenset(names)


def _describes_others(part: Mapping[str, Any]) -> bool:
    """Say whether every further member has a schema of its own, as in a map."""
    others = (part.get(keyword) for keyword in ("additionalProperties", "unevaluatedProperties"))
    return any(isinstance(each, Mapping) and each for each in others)


def _fits_pattern(part: Mapping[str, Any], name: str) -> bool:
    patterns = part.get("patternProperties")
    return isinstance(patterns, Mapping) and any(_finds(pattern, name) for pattern in patterns)


def _finds(pattern: str, name: str) -> bool:
    try:
        return compile_pattern(pattern).search(name[:NAME_LETTERS]) is not None
    except PatternError:
        return True  # written for another engine: nobody here can tell


def _unknown(document: Mapping[str, Any], path: str, beside: frozenset[str]) -> Iterator[Problem]:
    """Name the members that no definition has, at its top and in its parts."""
    known = own_members()
    spelt = {*known, *SPELLINGS, *OF_MCP, "timeout", *beside}
    for name, value in document.items():
        if name not in spelt:
            yield _problem(f"{path}{name}", name, known)
        part = _parts().get(SPELLINGS.get(name, name))
        if part is not None:
            for place, each in _objects(f"{path}{name}", value):
                yield from (_problem(f"{place}.{inner}", inner, part) for inner in each if inner not in part)


def _objects(place: str, value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        yield place, value
    elif isinstance(value, list | tuple):
        yield from ((f"{place}[{index}]", each) for index, each in enumerate(value) if isinstance(each, Mapping))


def _problem(path: str, name: object, known: frozenset[str]) -> Problem:
    hint = did_you_mean(str(name), sorted(known))
    return {"path": path[:300], "code": "unknown_field", "message": f"is no member of a definition{hint}"}


@cache
def own_members() -> frozenset[str]:
    """Give the names of the members of a definition."""
    return frozenset(each.name for each in fields(Definition))


@cache
def _parts() -> Mapping[str, frozenset[str]]:
    """Give the members of those parts of a definition that are objects themselves, or lists of such."""
    found: dict[str, frozenset[str]] = {}
    for name, hint in get_type_hints(Definition).items():
        for kind in (hint, *get_args(hint)):
            if isinstance(kind, type) and is_dataclass(kind):
                found[name] = frozenset(each.name for each in fields(kind))
    return found
