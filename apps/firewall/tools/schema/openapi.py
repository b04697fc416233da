"""Take OpenAPI's own keywords out of a schema: `nullable: true` becomes a null type, the others go."""

from typing import Any, Final

from apps.firewall.tools.schema.changes import Cause, ChangeLog
from apps.firewall.tools.schema.limits import escape
from apps.firewall.tools.schema.releases import (
    ANNOTATIONS,
    LISTS,
    LITERAL,
    MAPS,
    NULLABLE,
    OPENAPI_KEYWORDS,
    SCHEMAS,
)
from apps.firewall.tools.schema.values import with_annotations

_UNIONS: Final = ("anyOf", "oneOf")
_COMPOSITIONS: Final = ("allOf", *_UNIONS)
_NOT_WALKED: Final = LITERAL | {"components"}


def remove_openapi_keywords(node: Any, log: ChangeLog, path: str = "") -> Any:
    """Return a schema without OpenAPI keywords; literal values are not looked into."""
    if isinstance(node, list):
        return [remove_openapi_keywords(each, log, f"{path}/{index}") for index, each in enumerate(node)]
    if not isinstance(node, dict):
        return node
    result: dict[str, Any] = {}
    for key, value in node.items():
        if key in OPENAPI_KEYWORDS:
            log.removed(path, key, Cause.OPENAPI_KEYWORD)
        elif key == NULLABLE:
            if value is not True:
                log.removed(path, key, Cause.OPENAPI_KEYWORD)
        elif key in _NOT_WALKED or not isinstance(value, dict | list):
            result[key] = value
        elif key in MAPS and isinstance(value, dict):
            result[key] = {
                name: remove_openapi_keywords(each, log, f"{path}/{key}/{escape(name)}") for name, each in value.items()
            }
        elif key in (SCHEMAS if isinstance(value, dict) else LISTS):
            result[key] = remove_openapi_keywords(value, log, f"{path}/{key}")
        else:
            result[key] = value
    return _with_null(result, log, path) if node.get(NULLABLE) is True else result


def _with_null(schema: dict[str, Any], log: ChangeLog, path: str) -> dict[str, Any]:
    if any(isinstance(schema.get(key), list) for key in _COMPOSITIONS):
        log.converted(path, NULLABLE, Cause.NULLABLE_UNION)
        return _union_with_null(schema)
    log.converted(path, NULLABLE, Cause.NULLABLE_TYPE)
    kinds = schema.get("type")
    if isinstance(kinds, str) and kinds != "null":
        schema["type"] = [kinds, "null"]
    elif isinstance(kinds, list) and "null" not in kinds:
        schema["type"] = [*kinds, "null"]
    values = schema.get("enum")
    if isinstance(values, list) and None not in values:
        schema["enum"] = [*values, None]
    return schema


def _union_with_null(schema: dict[str, Any]) -> dict[str, Any]:
    for key in _UNIONS:
        variants = schema.get(key)
        if isinstance(variants, list) and any(_admits_null(variant) for variant in variants):
            return schema
    return with_annotations(schema, {"anyOf": [schema, {"type": "null"}]}, ANNOTATIONS)


def _admits_null(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    kinds, values = schema.get("type"), schema.get("enum")
    if kinds == "null" or (isinstance(kinds, list) and "null" in kinds):
        return True
    if "const" in schema and schema["const"] is None:
        return True
    return isinstance(values, list) and None in values
