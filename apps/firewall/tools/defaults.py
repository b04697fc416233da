"""Defaults of a schema, filled in where a call says nothing."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import partial
from typing import Any, Final

from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.schema_walk import mentions, properties, resolved

DEPTH_LIMIT: Final = 32
_ABSENT: Final = object()


Filler = Callable[[dict[str, Any]], dict[str, Any]]
"""Gives params with defaults: a new object where something was filled in, else the same."""


def filler_of(schema: JsonObject) -> Filler | None:
    """Make what fills in the defaults of a schema; None where it has none."""
    count = mentions(schema, "default")
    if not count:
        return None
    plain = {name: each["default"] for name, each in properties(schema).items() if _is_plain(each)}
    return partial(_fill_plain, plain) if len(plain) == count else partial(with_defaults, schema)


def _is_plain(schema: Any) -> bool:
    return isinstance(schema, Mapping) and "default" in schema


def _fill_plain(defaults: Mapping[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    absent = {name: deepcopy(default) for name, default in defaults.items() if name not in params}
    return {**params, **absent} if absent else params


def with_defaults(schema: JsonObject, params: dict[str, Any]) -> dict[str, Any]:
    """Fill in the defaults of absent members, also in the objects and lists that the call gives.

    Returns:
        A new object where something was filled in, else the same.
    """
    filled: dict[str, Any] = _filled(schema, schema, params, DEPTH_LIMIT)
    return filled


def _filled(root: JsonObject, schema: Any, value: Any, left: int) -> Any:
    if left <= 0 or not isinstance(value, dict | list):
        return value
    for part in resolved(root, schema):
        value = _members(root, part, value, left) if isinstance(value, dict) else _items(root, part, value, left)
    return value


def _members(root: JsonObject, schema: Mapping[str, Any], value: dict[str, Any], left: int) -> dict[str, Any]:
    new: dict[str, Any] = {}
    for name, member in properties(schema).items():
        if name in value:
            inner = _filled(root, member, value[name], left - 1)
            if inner is not value[name]:
                new[name] = inner
            continue
        default = _default(root, member)
        if default is not _ABSENT:
            new[name] = deepcopy(default)
    return {**value, **new} if new else value


def _items(root: JsonObject, schema: Mapping[str, Any], value: list[Any], left: int) -> list[Any]:
    each = schema.get("items")
    if not isinstance(each, Mapping):
        return value
    start = len(schema["prefixItems"]) if isinstance(schema.get("prefixItems"), list) else 0
    new = [item if index < start else _filled(root, each, item, left - 1) for index, item in enumerate(value)]
    return new if any(one is not other for one, other in zip(new, value, strict=True)) else value


def _default(root: JsonObject, schema: Any) -> Any:
    for part in resolved(root, schema):
        if "default" in part:
            return part["default"]
    return _ABSENT
