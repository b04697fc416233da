"""Parameter schemas: what a model needs to fill them in without guessing."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import jsonschema_rs

from apps.firewall.redaction.names import is_secret_name
from apps.firewall.tools.admission import undescribed
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.lint.findings import Finding, found
from apps.firewall.tools.lint.naming import words_of
from apps.firewall.tools.lint.wording import repeats
from apps.firewall.tools.lint.words import NO_SECRETS, VAGUE_PARAMS
from apps.firewall.tools.own_formats import unknown_formats

MANY_PARAMS: Final = 20
DEEP: Final = 4
LARGE_ENUM: Final = 100
READ_CHARACTERS: Final = 600
"""Of a description: it comes from strangers, and looking for lists in it takes longer than its length."""
_TYPING: Final = frozenset({"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "not", "if"})
_CHOICES: Final = re.compile(
    r"""\b(?:one\ of|either|must\ be|can\ be|choose|allowed(?:\ values)?|options?|valid\ values)\b[^.]*?
        (?:["'`]?[\w-]+["'`]?\s*(?:,|/|\|)\s*)+(?:or\s+|and\s+)?["'`]?[\w-]+ |
        \b(?:one\ of|either)\s*:?\s+["'`]?[\w-]+["'`]?\s+or\s+["'`]?[\w-]+ |
        (?:可选值|取值|可选)[::]""",
    re.VERBOSE | re.IGNORECASE,
)
_BOOLEAN_VALUES: Final = ({"true", "false"}, {"yes", "no"}, {"on", "off"}, {"0", "1"}, {"y", "n"}, {"t", "f"})
_NUMBER_NAME: Final = re.compile(
    r"(?:^|_)(count|limit|offset|size|max|min|page|amount|quantity|timeout|retries|seconds|minutes|days|age|width|height|port|top_k)$"
)
_NUMBER_FREE: Final = frozenset({"pattern", "format", "enum", "const"})


@dataclass(frozen=True, slots=True)
class Param:
    """One property at any depth. `path` is from the schema's root (`filter.range`), `depth` counts from 1."""

    name: str
    path: str
    depth: int
    schema: Mapping[str, Any]
    is_required: bool


def params_of(schema: Mapping[str, Any], *, path: str = "", depth: int = 1) -> Iterator[Param]:
    """List the properties of an object schema and of the objects and lists in it, as far as they are written out."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or depth > 32:
        return
    required = schema.get("required")
    for name, inner in properties.items():
        if not isinstance(inner, Mapping):
            continue
        here = f"{path}.{name}" if path else str(name)
        yield Param(str(name), here, depth, inner, isinstance(required, list) and name in required)
        yield from params_of(inner, path=here, depth=depth + 1)
        items = inner.get("items")
        if isinstance(items, Mapping):
            yield from params_of(items, path=f"{here}[]", depth=depth + 1)


def check_params_schema(definition: Definition) -> Iterator[Finding]:
    """Check the schema as a whole, then each param."""
    schema = definition.parameters
    params = list(params_of(schema))
    if len(params) > MANY_PARAMS:
        yield found("params_many", "parameters", count=len(params))
    deepest = max(params, key=lambda param: param.depth, default=None)
    if deepest is not None and deepest.depth > DEEP:
        yield found("params_deep", _place(deepest), param=deepest.path, depth=deepest.depth)
    yield from _unknown_required(schema)
    for name, place in unknown_formats(schema).items():
        if name not in definition.formats:
            yield found("format_unknown", f"parameters.{place}", format=name)
    yield from _mixed_styles(params)
    for param in params:
        for check in (_described, _typed, _better_type, _values, _bounds):
            yield from check(param)
        if _sounds_secret(param) and not _is_sensitive(param, definition):
            yield found("secret_not_sensitive", _place(param), param=param.path)


def _place(param: Param) -> str:
    return f"parameters.{param.path}"


def _sounds_secret(param: Param) -> bool:
    name = param.name.lower()
    return param.schema.get("type") == "string" and name not in NO_SECRETS and is_secret_name(name)


def _is_sensitive(param: Param, definition: Definition) -> bool:
    return (
        param.schema.get("sensitive") is True
        or param.name in definition.sensitive
        or param.path in definition.sensitive
    )


def _unknown_required(schema: Mapping[str, Any]) -> Iterator[Finding]:
    for place, name in undescribed(schema):
        yield found("required_unknown", f"parameters.{place}", param=name)


def _mixed_styles(params: list[Param]) -> Iterator[Finding]:
    """Name the params that are written in camel case where most are not, or the reverse."""
    top = [param for param in params if param.depth == 1 and len(words_of(param.name)) > 1]
    camel = [param for param in top if re.search(r"[a-z][A-Z]", param.name)]
    snake = [param for param in top if "_" in param.name]
    for param in camel if len(camel) <= len(snake) else snake:
        if camel and snake:
            yield found("param_name_style", _place(param), param=param.path)


def _described(param: Param) -> Iterator[Finding]:
    text = param.schema.get("description")
    if not isinstance(text, str) or not text.strip():
        yield found("param_undescribed", _place(param), param=param.path)
    elif repeats(text, param.name):
        yield found("param_description_repeats_name", _place(param), param=param.path)
    if param.name.lower() in VAGUE_PARAMS or re.fullmatch(r"(arg|param|value|field)s?\d+", param.name.lower()):
        yield found("param_name_vague", _place(param), param=param.path)


def _typed(param: Param) -> Iterator[Finding]:
    schema, kind = param.schema, param.schema.get("type")
    if not _TYPING & schema.keys():
        yield found("param_untyped", _place(param), param=param.path)
    if kind == "array" and not {"items", "prefixItems"} & schema.keys():
        yield found("array_without_items", _place(param), param=param.path)
    told = {"properties", "additionalProperties", "patternProperties", "anyOf", "oneOf", "allOf", "$ref"}
    if kind == "object" and not told & schema.keys():
        yield found("object_without_properties", _place(param), param=param.path)


def _better_type(param: Param) -> Iterator[Finding]:
    schema, text = param.schema, param.schema.get("description")
    if schema.get("type") != "string":
        return
    values = {str(value).lower() for value in schema["enum"]} if isinstance(schema.get("enum"), list) else set()
    if values in _BOOLEAN_VALUES:
        yield found("param_should_be_boolean", _place(param), param=param.path)
    elif not _NUMBER_FREE & schema.keys():
        if isinstance(text, str) and _CHOICES.search(text[:READ_CHARACTERS]):
            yield found("param_should_be_enum", _place(param), param=param.path)
        elif _NUMBER_NAME.search(param.name.lower()):
            yield found("param_should_be_number", _place(param), param=param.path)


def _values(param: Param) -> Iterator[Finding]:
    enum = param.schema.get("enum")
    if isinstance(enum, list):
        texts = [repr(value) for value in enum]
        if len(set(texts)) != len(texts):
            yield found("enum_repeats", _place(param), param=param.path)
        if len(enum) > LARGE_ENUM:
            yield found("enum_large", _place(param), param=param.path, count=len(enum))
    if "default" in param.schema:
        if param.is_required:
            yield found("required_has_default", _place(param), param=param.path)
        reason = broken_rule(param.schema, param.schema["default"])
        if reason is not None:
            yield found("default_invalid", _place(param), param=param.path, reason=reason)


def broken_rule(schema: Mapping[str, Any], value: Any) -> str | None:
    """Say which rule of a schema a value breaks, None for none or where the schema cannot be used alone."""
    try:
        validator = jsonschema_rs.Draft202012Validator(
            dict(schema), offline=True, pattern_options=jsonschema_rs.RegexOptions()
        )
    except (ValueError, jsonschema_rs.ReferencingError):
        return None  # it refers to the rest of its document, or is no schema: another check says so
    error = next(iter(validator.iter_errors(value)), None)
    return None if error is None else str(error.message)[:200]


def _bounds(param: Param) -> Iterator[Finding]:
    for low, high in (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems")):
        least, most = param.schema.get(low), param.schema.get(high)
        if isinstance(least, int | float) and isinstance(most, int | float) and least > most:
            yield found(
                "bounds_contradict", _place(param), param=param.path, low=f"{low} {least}", high=f"{high} {most}"
            )
