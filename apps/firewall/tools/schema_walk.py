"""The way through a JSON Schema: its parts, with references inside the document followed."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

_TOGETHER: Final = ("allOf",)
_APART: Final = ("anyOf", "oneOf")
_CONDITIONAL: Final = ("then", "else", "if")
REFERENCES_LIMIT: Final = 16
_NO_SCHEMAS: Final = frozenset({"enum", "const", "default", "examples"})
_MAPS: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})


def resolved(root: Mapping[str, Any], schema: Any) -> Iterator[Mapping[str, Any]]:
    """Give a schema and everything that holds together with it: what `$ref` names and the parts of `allOf`."""
    yield from _together(root, schema, REFERENCES_LIMIT)


def _together(root: Mapping[str, Any], schema: Any, left: int) -> Iterator[Mapping[str, Any]]:
    if not isinstance(schema, Mapping) or left <= 0:
        return
    yield schema
    reference = schema.get("$ref")
    if isinstance(reference, str):
        yield from _together(root, _named(root, reference), left - 1)
    for part in _parts(schema, _TOGETHER):
        yield from _together(root, part, left - 1)


def _named(root: Mapping[str, Any], reference: str) -> Any:
    """Give what a reference inside the document names; None for any other."""
    if not reference.startswith("#"):
        return None
    found: Any = root
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping):
            found = found.get(name)
        elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        else:
            return None
    return found


def forms(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Give the schemas that may hold for the same value beside this one: of unions and conditions."""
    yield from _parts(schema, _APART)
    for keyword in _CONDITIONAL:
        if keyword in schema:
            yield schema[keyword]
    dependent = schema.get("dependentSchemas")
    if isinstance(dependent, Mapping):
        yield from dependent.values()


def _parts(schema: Mapping[str, Any], keywords: tuple[str, ...]) -> Iterator[Any]:
    for keyword in keywords:
        parts = schema.get(keyword)
        if isinstance(parts, list):
            yield from parts


def properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give the schemas of the members by name; empty when it has none."""
    found = schema.get("properties")
    return found if isinstance(found, Mapping) else {}


def items(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Give the schemas of items."""
    for keyword in ("items", "contains", "unevaluatedItems"):
        if isinstance(schema.get(keyword), Mapping):
            yield schema[keyword]
    yield from _parts(schema, ("prefixItems",))


def other_members(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Give the schemas of members that have no name of their own."""
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if isinstance(schema.get(keyword), Mapping):
            yield schema[keyword]
    patterns = schema.get("patternProperties")
    if isinstance(patterns, Mapping):
        yield from patterns.values()


def every_part(schema: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give each object of a document that may be read as a schema, with its place, as `properties.name.items`.

    Also what only looks so, below members that no schema has; values of `enum`, `const` and the like are left out.
    """
    left: list[tuple[str, Any, bool]] = [("", schema, False)]
    while left:
        place, value, is_map = left.pop()
        if isinstance(value, list | tuple):
            left += [(f"{place}[{index}]", each, False) for index, each in enumerate(value)]
        if not isinstance(value, Mapping):
            continue
        if not is_map:
            yield place, value
        for name, each in value.items():
            if is_map or name not in _NO_SCHEMAS:
                left.append((f"{place}.{name}".lstrip("."), each, not is_map and name in _MAPS))


def mentions(schema: Any, keyword: str, values: frozenset[str] | None = None) -> int:
    """Count where a keyword occurs in a schema, with one of the values if any are given; also where it only looks so,
    as a member of that name."""
    if isinstance(schema, list):
        return sum(mentions(part, keyword, values) for part in schema)
    if not isinstance(schema, Mapping):
        return 0
    here = 0
    if keyword in schema:
        value = schema[keyword]
        here = int(values is None or (isinstance(value, str) and value in values))
    return here + sum(mentions(part, keyword, values) for part in schema.values())
