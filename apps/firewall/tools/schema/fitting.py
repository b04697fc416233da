"""Remove what a provider's endpoint would refuse, after OpenClaw's own rules have done their part.

One schema that an endpoint refuses takes the whole request with it, and all other tools; a description that says a
little less does not, and params are validated against the tool's own schema in any case. For the schemas that tools
usually have there is nothing left to do here.
"""

from typing import Any, Final

import jsonschema_rs

from apps.firewall.tools.schema.acceptance import (
    GEMINI_TYPES,
    PROPERTY_NAME,
    ROOT_REFUSED,
    Family,
    gemini_problem,
    places,
    refusals,
    unresolved,
)
from apps.firewall.tools.schema.array_items import describe_items
from apps.firewall.tools.schema.changes import Cause, ChangeLog
from apps.firewall.tools.schema.limits import escape
from apps.firewall.tools.schema.references import replace_references
from apps.firewall.tools.schema.releases import ANNOTATIONS, DEFINITIONS, LISTS, LITERAL, MAPS, SCHEMAS
from apps.firewall.tools.schema.values import enum_text, with_annotations

_NARROWER: Final = {("number", "integer"), ("integer", "number")}


def fit(schema: Any, family: Family, log: ChangeLog) -> Any:
    """Return a schema that an endpoint of a family accepts, given a normalised one; most stay as they are."""
    if not refusals(schema, family):
        return schema
    if _has_refused_reference(schema, family):
        schema = _self_contained(schema, log)
    result = _object(schema, log)
    if family is Family.GEMINI:
        return _gemini_schema(result, log, "")
    if family is Family.OPENAI:
        return describe_items(_in_vocabulary(result, log), log)
    return _with_plain_names(_in_vocabulary(result, log), log)


def _has_refused_reference(schema: Any, family: Family) -> bool:
    if not isinstance(schema, dict):
        return False
    if family is Family.GEMINI:
        return _has_reference(schema)
    return "$ref" in schema or next(unresolved(schema, schema), None) is not None


def _has_reference(node: Any) -> bool:
    return isinstance(node, dict) and ("$ref" in node or any(_has_reference(each) for _, each in places(node, "")))


def _self_contained(schema: dict[str, Any], log: ChangeLog) -> Any:
    """Return a schema without references and without definitions."""
    return _without_references(replace_references(schema, log), log, "")


def _object(schema: Any, log: ChangeLog) -> dict[str, Any]:
    """Return what the root says as one object."""
    if not isinstance(schema, dict):
        log.converted("", "type", Cause.ROOT_NOT_OBJECT)
        return {"type": "object", "properties": {}}
    result = dict(schema)
    if isinstance(schema.get("allOf"), list):
        log.merged("", "allOf", Cause.ALL_OF_MERGED)
        result = merge_all(schema)
    kinds = result.get("type", "object")
    if kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
        log.converted("", "type", Cause.ROOT_NOT_OBJECT)
        return with_annotations(result, {"type": "object", "properties": {}}, ("title", "description"))
    if result.get("type") != "object":
        note = log.converted if "type" in result else log.added
        note("", "type", Cause.ROOT_NOT_OBJECT)
        result["type"] = "object"
    if not isinstance(result.get("properties"), dict):
        log.added("", "properties", Cause.ROOT_WITHOUT_PROPERTIES)
        result["properties"] = {}
    for keyword in ROOT_REFUSED:
        if keyword in result:
            log.removed("", keyword, Cause.ROOT_REFUSED)
            del result[keyword]
    return result


def merge_all(schema: dict[str, Any]) -> dict[str, Any]:
    """Return one schema for a schema with `allOf`: what any part says, and of two contradictions the first."""
    result = {key: value for key, value in schema.items() if key != "allOf"}
    for part in schema["allOf"]:
        if isinstance(part, dict):
            merged = merge_all(part) if isinstance(part.get("allOf"), list) else part
            result = _merged(result, merged)
    return result


def _merged(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    result = dict(first)
    for key, value in second.items():
        own = result.get(key)
        if key not in result:
            result[key] = value
        elif key == "properties" and isinstance(own, dict) and isinstance(value, dict):
            result[key] = own | {name: _both(own[name], each) if name in own else each for name, each in value.items()}
        elif key == "required" and isinstance(own, list) and isinstance(value, list):
            result[key] = [*own, *(each for each in value if each not in own)]
        elif key == "enum" and isinstance(own, list) and isinstance(value, list):
            result[key] = [each for each in own if each in value] or own
        elif key == "items":
            result[key] = _both(own, value)
        elif key == "type" and (str(own), str(value)) in _NARROWER:
            result[key] = "integer"
    return result


def _both(first: Any, second: Any) -> Any:
    if isinstance(first, dict) and isinstance(second, dict):
        return _merged(first, second)
    return second if first is True else first


def _without_references(node: Any, log: ChangeLog, path: str) -> Any:
    """Return a schema without the references that lead nowhere: the annotations beside them stay."""
    if isinstance(node, list):
        return [_without_references(each, log, f"{path}/{index}") for index, each in enumerate(node)]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        log.removed(path, "$ref", Cause.REFERENCE_UNRESOLVED)
        return with_annotations(node, {}, ANNOTATIONS)
    result = dict(node)
    for key, value in node.items():
        if key in DEFINITIONS:
            log.removed(path, key, Cause.DEFINITIONS_UNUSED)
            del result[key]
        elif key in LITERAL or not isinstance(value, dict | list):
            continue
        elif key in MAPS and isinstance(value, dict):
            result[key] = {
                name: _without_references(each, log, f"{path}/{key}/{escape(name)}") for name, each in value.items()
            }
        elif key in (SCHEMAS if isinstance(value, dict) else LISTS):
            result[key] = _without_references(value, log, f"{path}/{key}")
    return result


def _with_plain_names(schema: dict[str, Any], log: ChangeLog) -> dict[str, Any]:
    odd = [name for name in schema["properties"] if not PROPERTY_NAME.fullmatch(name)]
    if not odd:
        return schema
    for name in odd:
        log.removed("/properties", name, Cause.PROPERTY_NAME)
    result = {**schema, "properties": {name: each for name, each in schema["properties"].items() if name not in odd}}
    if isinstance(schema.get("required"), list):
        result["required"] = [name for name in schema["required"] if name not in odd]
    return result


def _in_vocabulary(schema: dict[str, Any], log: ChangeLog) -> dict[str, Any]:
    """Return a schema that keeps the rules of JSON Schema, without the keywords that break them."""
    if _is_schema(schema):
        return schema
    return _repaired(schema, log, "")


def _repaired(node: dict[str, Any], log: ChangeLog, path: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in node.items():
        member = _repaired_member(key, value, log, f"{path}/{key}")
        if _is_schema({key: member}):
            result[key] = member
        else:
            log.removed(path, key, Cause.NOT_JSON_SCHEMA)
    return result


def _repaired_member(key: str, value: Any, log: ChangeLog, path: str) -> Any:
    """Return what stands under a keyword, with the schemas in it repaired and what is none left out."""
    if isinstance(value, dict) and key in MAPS:
        mended = {name: _repaired_place(each, log, f"{path}/{escape(name)}") for name, each in value.items()}
        return {name: each for name, each in mended.items() if each is not None}
    if isinstance(value, dict) and key in SCHEMAS:
        return _repaired(value, log, path)
    if isinstance(value, list) and key in LISTS:
        places = [_repaired_place(each, log, f"{path}/{index}") for index, each in enumerate(value)]
        return [each for each in places if each is not None]
    return value


def _repaired_place(value: Any, log: ChangeLog, path: str) -> Any:
    if isinstance(value, dict):
        return _repaired(value, log, path)
    if isinstance(value, bool):
        return value
    log.removed(path, "", Cause.NOT_JSON_SCHEMA)
    return None


def _is_schema(schema: Any) -> bool:
    if not isinstance(schema, dict | bool):
        return False
    try:
        return bool(jsonschema_rs.meta.is_valid(schema))
    except (ValueError, jsonschema_rs.ReferencingError):
        return False


def _gemini_schema(node: Any, log: ChangeLog, path: str) -> dict[str, Any]:
    if not isinstance(node, dict):
        log.converted(path, "", Cause.GEMINI_PLACE)
        return {}
    if isinstance(node.get("allOf"), list):
        log.merged(path, "allOf", Cause.ALL_OF_MERGED)
        node = merge_all(node)
    result: dict[str, Any] = {}
    for key, value in node.items():
        if gemini_problem(key, value) is not None and key != "required":
            _gemini_instead(result, key, value, log, path)
        elif key == "properties":
            result[key] = {
                name: _gemini_schema(each, log, f"{path}/properties/{escape(name)}") for name, each in value.items()
            }
        elif key == "items":
            result[key] = _gemini_schema(value, log, f"{path}/items")
        elif key == "anyOf":
            result[key] = [_gemini_schema(each, log, f"{path}/anyOf/{index}") for index, each in enumerate(value)]
        else:
            result[key] = value
    if result.get("type") == "array" and "items" not in result:
        log.added(path, "items", Cause.ITEMS_MISSING)
        result["items"] = {}
    return _with_declared(result, log, path)


def _gemini_instead(result: dict[str, Any], key: str, value: Any, log: ChangeLog, path: str) -> None:
    """Note what stands for a keyword that Gemini refuses: one type for several, texts for values, else nothing."""
    kind = _one_type(value) if key == "type" else None
    texts = (
        [text for text in map(enum_text, value) if text is not None]
        if key == "enum" and isinstance(value, list)
        else []
    )
    if kind is not None:
        log.converted(path, key, Cause.GEMINI_ONE_TYPE)
        result[key] = kind
    elif texts:
        log.converted(path, key, Cause.ENUM_AS_TEXT)
        result[key] = list(dict.fromkeys(texts))
    else:
        log.removed(path, key, Cause.GEMINI_REFUSED)


def _one_type(value: Any) -> str | None:
    """Return the first type of several, a null among them aside."""
    named = [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
    return next((each for each in named if each in GEMINI_TYPES and each != "null"), None)


def _with_declared(schema: dict[str, Any], log: ChangeLog, path: str) -> dict[str, Any]:
    if "required" not in schema:
        return schema
    required, declared = schema.pop("required"), schema.get("properties", {})
    kept = (
        [name for name in required if isinstance(name, str) and name in declared] if isinstance(required, list) else []
    )
    if kept:
        schema["required"] = kept
    if kept != required or not kept:
        log.removed(path, "required", Cause.REQUIRED_UNDECLARED if required else Cause.REQUIRED_EMPTY)
    return schema
