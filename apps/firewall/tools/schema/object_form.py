"""Make the root of a schema an object: providers accept nothing else as the parameters of a tool."""

from collections import Counter
from typing import Any, Final

from apps.firewall.tools.schema.changes import Cause, ChangeLog
from apps.firewall.tools.schema.limits import escape
from apps.firewall.tools.schema.values import is_truthy, members, type_word, unique

_MERGED_ANNOTATIONS: Final = ("title", "description", "default")
_REBUILT: Final = ("type", "title", "description", "properties", "required", "additionalProperties")


def object_form_2026_9(schema: dict[str, Any] | list[Any], log: ChangeLog) -> Any:
    """Return the schema with an object at its root, if it describes one."""
    if not schema:
        log.added("", "type", Cause.ROOT_NOT_OBJECT)
        return {"type": "object", "properties": {}}
    if isinstance(schema, list):
        return schema
    key = _union_key(schema)
    if key is not None:
        return _merge_variants(schema, key, log, root_joins=True)
    if isinstance(schema.get("allOf"), list):
        return schema
    has_properties = isinstance(schema.get("properties"), dict)
    is_object = schema.get("type") == "object"
    is_like_one = "type" not in schema and (has_properties or isinstance(schema.get("required"), list))
    if not is_object and not is_like_one:
        return schema
    result = dict(schema)
    if is_like_one:
        log.added("", "type", Cause.ROOT_NOT_OBJECT)
        result["type"] = "object"
    if not has_properties:
        note = log.converted if "properties" in schema else log.added
        note("", "properties", Cause.ROOT_WITHOUT_PROPERTIES)
        result["properties"] = {}
    return result


def object_form_2026_2(schema: dict[str, Any] | list[Any], log: ChangeLog) -> tuple[Any, bool]:
    """Return the schema with an object at its root, if it describes one, and whether that release cleans it further."""
    if isinstance(schema, list):
        return schema, False
    if "type" in schema and "properties" in schema and not isinstance(schema.get("anyOf"), list):
        return schema, True
    key = _union_key(schema)
    if key is not None:
        return _merge_variants(schema, key, log, root_joins=False), True
    properties = schema.get("properties", "")
    is_like_one = properties is None or isinstance(properties, dict | list) or isinstance(schema.get("required"), list)
    if "type" in schema or not is_like_one:
        return schema, False
    log.added("", "type", Cause.ROOT_NOT_OBJECT)
    return {**schema, "type": "object"}, True


def _union_key(schema: dict[str, Any]) -> str | None:
    return next((key for key in ("anyOf", "oneOf") if isinstance(schema.get(key), list)), None)


def _merge_variants(schema: dict[str, Any], key: str, log: ChangeLog, *, root_joins: bool) -> dict[str, Any]:
    """Return one object that admits what any variant admits, as far as their properties go."""
    log.merged("", key, Cause.ROOT_UNION)
    own = schema.get("properties")
    merged = dict(own) if root_joins and isinstance(own, dict) else {}
    counts: Counter[str] = Counter()
    variants = [
        variant
        for variant in schema[key]
        if isinstance(variant, dict) and isinstance(variant.get("properties"), dict | list)
    ]
    for variant in variants:
        for name, value in members(variant["properties"]):
            merged[name] = _merge_property(merged[name], value, log, name) if name in merged else value
        required = variant.get("required")
        counts.update(each for each in (required if isinstance(required, list) else ()) if isinstance(each, str))
    shared = [name for name, count in counts.items() if count == len(variants)]
    return _rebuilt(schema, key, log, merged, shared)


def _rebuilt(
    schema: dict[str, Any], key: str, log: ChangeLog, merged: dict[str, Any], shared: list[str]
) -> dict[str, Any]:
    result: dict[str, Any] = {"type": "object"}
    for name in ("title", "description"):
        if isinstance(schema.get(name), str):
            result[name] = schema[name]
    own = schema.get("properties")
    result["properties"] = merged or ({} if own is None else own)
    if isinstance(own, dict) and not own.keys() <= merged.keys():
        log.removed("", "properties", Cause.ROOT_PROPERTIES_LOST)
    required = schema.get("required")
    own_required = [each for each in required if isinstance(each, str)] if isinstance(required, list) else []
    if own_required or shared:
        result["required"] = own_required or shared
    if shared and not own_required:
        log.merged("", "required", Cause.ROOT_UNION_REQUIRED)
    if "additionalProperties" in schema:
        result["additionalProperties"] = schema["additionalProperties"]
    else:
        result["additionalProperties"] = True
        log.added("", "additionalProperties", Cause.ROOT_UNION_OPEN)
    for name in schema:
        if name not in _REBUILT and name != key:
            log.removed("", name, Cause.ROOT_KEYWORD_LOST)
    return result


def _merge_property(first: Any, second: Any, log: ChangeLog, name: str) -> Any:
    """Return what describes a property of two variants: their values joined, else what the first one says."""
    if not is_truthy(first):
        return second
    if not is_truthy(second):
        return first
    values, more = _values(first), _values(second)
    path = f"/properties/{escape(name)}"
    if values is None and more is None:
        if first != second:
            log.merged(path, name, Cause.PROPERTY_FIRST_KEPT)
        return first
    joined = unique([*(values or ()), *(more or ())])
    result: dict[str, Any] = {}
    for source in (first, second):
        for key in _MERGED_ANNOTATIONS:
            if isinstance(source, dict) and key in source and key not in result:
                result[key] = source[key]
    words = {type_word(value) for value in joined}
    if len(words) == 1:
        result["type"] = words.pop()
    result["enum"] = joined
    log.merged(path, name, Cause.PROPERTY_MERGED)
    return result


def _values(schema: Any) -> list[Any] | None:
    """Return the values that a schema lists, also through its variants; None if it lists none."""
    if not isinstance(schema, dict):
        return None
    if isinstance(schema.get("enum"), list):
        values: list[Any] = schema["enum"]
        return values
    if "const" in schema:
        return [schema["const"]]
    key = _union_key(schema)
    if key is None:
        return None
    return [value for variant in schema[key] for value in _values(variant) or ()] or None
