"""Rows between a document and the database: plain values, known by their natural keys."""

from dataclasses import dataclass, field
from typing import Any

from apps.policies.document.findings import Path
from apps.policies.document.members import Member, fill, without_places
from apps.policies.models.base import PolicyRecord

NaturalKey = tuple[Any, ...]


@dataclass(slots=True)
class Row:
    """One record to be: `refs` name its parents by natural key, `path` is its place in the document."""

    model: type[PolicyRecord]
    key: NaturalKey
    path: Path
    values: dict[str, Any]
    refs: dict[str, NaturalKey | None] = field(default_factory=dict)


def kept_template(tree: dict[str, Any], members: tuple[Member, ...], values: dict[str, Any]) -> dict[str, Any]:
    """Return what a record keeps of its object: nothing when it can be written again, in order, without it."""
    if without_places(tree) or not _is_canonical(tree, members, values):
        return tree
    return {}


def _is_canonical(tree: dict[str, Any], members: tuple[Member, ...], values: dict[str, Any]) -> bool:
    pairs = [(member.path, values[member.field]) for member in members]
    return _layout(fill({}, pairs)) == _layout(tree)


def _layout(tree: dict[str, Any]) -> list[Any]:
    """Return the keys of an object and of the objects in it, in order."""
    return [(key, _layout(value) if isinstance(value, dict) else None) for key, value in tree.items()]
