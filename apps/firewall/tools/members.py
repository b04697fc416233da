"""The members that an object from outside may have: whatever else it has is a mistake, never ignored."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from apps.firewall.tools.near import did_you_mean

CODE: Final = "unknown_field"
PATH_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class Members:
    """What an object may hold.

    Args:
        names: of its members.
        inner: what the members that are objects, or lists of objects, may hold themselves.
    """

    names: frozenset[str]
    inner: Mapping[str, "Members"] = field(default_factory=dict)


def unknown_members(value: Any, known: Members, place: str = "") -> list[dict[str, str]]:
    """Name every member that is not known, at any depth, and what was probably meant."""
    return [] if _fits(value, known) else list(_unknown(value, known, place))


def unknown_member(place: str, name: str, known: frozenset[str]) -> dict[str, str]:
    """Say of one member that it is not known."""
    path = f"{place}.{name}"[:PATH_CHARACTERS] if place else name[:PATH_CHARACTERS]
    hint = did_you_mean(name, sorted(known))
    return {"path": path, "code": CODE, "message": f"`{path}` is not part of this request{hint}"}


def members_of(schema: Mapping[str, Any], schemas: Mapping[str, Mapping[str, Any]]) -> Members | None:
    """Read the members of an object from its JSON schema; None where it may hold any, or is no object.

    Args:
        schemas: by name, for references to `#/components/schemas/…`. Of alternatives every member is known.
    """
    if "$ref" in schema:
        return members_of(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "oneOf" in schema:
        return _of_any([members_of(each, schemas) for each in schema["oneOf"]])
    if "items" in schema:
        return members_of(schema["items"], schemas)
    if "object" not in schema.get("type", ()) or schema.get("additionalProperties", False) is not False:
        return None
    properties = schema.get("properties", {})
    inner = {name: known for name, each in properties.items() if (known := members_of(each, schemas)) is not None}
    return Members(frozenset(properties), inner)


def _of_any(alternatives: list[Members | None]) -> Members | None:
    known = [each for each in alternatives if each is not None]
    if len(known) < len(alternatives):
        return None
    inner = {name: each for one in known for name, each in one.inner.items()}
    return Members(frozenset().union(*(one.names for one in known)), inner)


def _fits(value: Any, known: Members) -> bool:
    """Say whether everything is known: nearly always, and found without making anything."""
    if isinstance(value, dict):
        if not value.keys() <= known.names:
            return False
        return all(_fits(value[name], inner) for name, inner in known.inner.items() if name in value)
    if isinstance(value, list):
        return all(_fits(each, known) for each in value)
    return True


def _unknown(value: Any, known: Members, place: str) -> Iterator[dict[str, str]]:
    if isinstance(value, dict):
        if not value.keys() <= known.names:
            for name in sorted(value.keys() - known.names):
                yield unknown_member(place, name, known.names)
        for name, inner in known.inner.items():
            if name in value:
                yield from _unknown(value[name], inner, f"{place}.{name}" if place else name)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _unknown(each, known, f"{place}[{number}]")
