"""Definitions as JSON: read with every mistake at its place, written without what says nothing.

Read are our own members and the spellings of MCP servers, OpenClaw plugins and the usual tool packages.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Final

import jsonschema_rs
from pydantic import TypeAdapter, ValidationError

from apps.firewall.errors import FirewallError
from apps.firewall.patterns import PatternError, compile_pattern
from apps.firewall.tools.definition import OPEN_SCHEMA, Definition, JsonObject
from apps.firewall.tools.schema_walk import every_part

Problem = dict[str, str]

NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}")
_UNICODE_CLASS: Final = re.compile(r"\\[pP]\{[^{}]*\}")
NAME_RULE: Final = "use at most 128 letters, digits and `_ . : / -`, and start with a letter, digit or underscore"
DEFINITION_LIMIT_BYTES: Final = 512 * 1024
LETTERS_LIMIT: Final = 1024 * 1024
DEPTH_LIMIT: Final = 100
_UNKEPT: Final = re.compile("[\0\ud800-\udfff]")  # no database and no peer takes NUL or half a surrogate pair

_LEAST: Final[Mapping[str, Mapping[str, int]]] = {
    "": {"timeout_ms": 1, "result_limit": 1},
    "rate_limit": {"requests_per_minute": 1, "tokens_per_request": 1},
    "retry": {"max_retries": 0, "delay_ms": 0},
    "cache": {"ttl_ms": 0},
    "sandbox": dict.fromkeys(("memory_bytes", "cpu_ms", "wall_ms", "file_bytes", "open_files"), 1),
}
"""Part of a definition ("" for its own members) -> member -> the least that it can be."""

SPELLINGS: Final[Mapping[str, str]] = {
    "title": "label",
    "inputSchema": "parameters",
    "input_schema": "parameters",
    "params_schema": "parameters",
    "outputSchema": "output",
    "output_schema": "output",
    "ownerOnly": "owner_only",
    "rateLimit": "rate_limit",
    "retry_policy": "retry",
    "retryPolicy": "retry",
    "resultLimit": "result_limit",
    "max_result_length": "result_limit",
    "sensitive_fields": "sensitive",
    "contextMappings": "context_mappings",
    "executionMode": "execution_mode",
    "catalogMode": "catalog_mode",
}
"""Other spelling -> our member. A document that has both is read by ours."""


class DefinitionInvalidError(FirewallError):
    """A definition that cannot be used; `details` lists every mistake as `{"path", "code", "message"}`."""

    code = "definition_invalid"

    def __init__(self, message: str, details: list[Problem]) -> None:
        super().__init__(message)
        self.details = details


def read_definition(document: object, *, path: str = "") -> Definition:
    """Read one definition.

    Args:
        document: a JSON object with at least `name`.
        path: where it stands in what the caller was given, for example `tools[3].`.
    Raises:
        DefinitionInvalidError: with every mistake of it.
    """
    if not isinstance(document, Mapping):
        raise DefinitionInvalidError(
            "a definition is an object", [_problem(path.rstrip("."), "bad_type", "must be an object")]
        )
    if _is_deep(document):  # before anything walks it: each walk needs the stack
        message = f"it is deeper than {DEPTH_LIMIT} levels"
        raise DefinitionInvalidError(message, [_problem(path.rstrip("."), "too_deep", message)])
    try:
        definition = _adapter().validate_python(_in_our_words(document), strict=False)
    except ValidationError as exc:
        details = [_of_pydantic(each, path) for each in exc.errors(include_url=False, include_context=False)]
        raise invalid_definition(document, details) from exc
    details = definition_problems(definition, path=path)
    if details:
        raise invalid_definition(document, details)
    return definition


def invalid_definition(document: object, details: list[Problem]) -> DefinitionInvalidError:
    """Make the error that tells all mistakes of a definition."""
    return DefinitionInvalidError(_summary(document if isinstance(document, Mapping) else {}, details), details)


def definition_json(definition: Definition) -> dict[str, Any]:
    """Return a definition as JSON with the members that differ from what they are when nobody says anything."""
    shown = _plain(definition)
    shown["name"] = definition.name
    shown["parameters"] = dict(definition.parameters)
    return shown


def definition_problems(definition: Definition, *, path: str = "") -> list[Problem]:
    """List what is wrong with a definition that has the right shape: its name, its schemas, its size."""
    problems: list[Problem] = []
    values = list(_values_in(definition_json(definition)))
    if any(isinstance(value, str) and _UNKEPT.search(value) for value in values):
        problems.append(_problem(path.rstrip("."), "bad_character", "it holds NUL or half a character"))
    if any(_is_unkept_number(value) for value in values):
        problems.append(_problem(path.rstrip("."), "bad_number", "it holds a number that JSON cannot carry everywhere"))
    letters = sum(len(value) for value in values if isinstance(value, str))
    if letters > LETTERS_LIMIT:
        message = f"it has {letters} letters, {LETTERS_LIMIT} are allowed"
        problems.append(_problem(path.rstrip("."), "too_large", message))
    problems += [_problem(f"{path}{member}", "minimum_violation", rule) for member, rule in _too_small(definition)]
    if not NAME.fullmatch(definition.name):
        problems.append(_problem(f"{path}name", "bad_name", NAME_RULE))
    if definition.parameters.get("type", "object") != "object":
        problems.append(_problem(f"{path}parameters", "not_an_object", "the schema must describe an object"))
    for member, schema in (("parameters", definition.parameters), ("output", definition.output)):
        reason = None if schema is None else schema_problem(schema)
        if reason is not None:
            problems.append(_problem(f"{path}{member}", "bad_schema", reason))
        elif schema is not None:
            problems += [
                _problem(f"{path}{member}.{place}", "pattern_refused", why) for place, why in refused_patterns(schema)
            ]
    return problems


def schema_problem(schema: JsonObject) -> str | None:
    """Say why a JSON Schema cannot be used: it is too large, too deep, or breaks the rules of 2020-12."""
    try:
        size = len(jsonschema_rs.canonical.json.to_string(dict(schema)))
    except (ValueError, RecursionError) as exc:
        return f"it cannot be written as JSON: {str(exc)[:200]}"
    if size > DEFINITION_LIMIT_BYTES:
        return f"it has {size} bytes, {DEFINITION_LIMIT_BYTES} are allowed"
    try:
        jsonschema_rs.meta.validate(dict(schema))
        jsonschema_rs.Draft202012Validator(dict(schema), offline=True, pattern_options=jsonschema_rs.RegexOptions())
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, RecursionError) as exc:
        return _said(exc)
    return None


def _said(exc: Exception) -> str:
    """Say what a validator found, and where."""
    path = [str(step) for step in getattr(exc, "instance_path", ())]
    place = ".".join(path)[:200]
    if path[-1:] == ["type"] and path[-2:-1] not in (["properties"], ["$defs"]):
        return f"`{place}` names no type of JSON Schema"
    message = str(getattr(exc, "message", exc))[:500]
    return f"`{place}`: {message}" if place else message


def _is_deep(document: Any) -> bool:
    level = [document]
    for _ in range(DEPTH_LIMIT):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, Mapping):
                inner += value.values()
            elif isinstance(value, list | tuple):
                inner += value
        if not inner:
            return False
        level = inner
    return True


def refused_patterns(schema: JsonObject) -> Iterator[tuple[str, str]]:
    """List the regular expressions of a schema that are not used here, each as its place and why.

    They would be searched in what models send, and an expression can be written that keeps a validator busy for years.
    """
    for place, part in every_part(schema):
        inner = part.get("patternProperties")
        for pattern in (*(inner if isinstance(inner, Mapping) else ()), part.get("pattern")):
            why = _why_refused(pattern) if isinstance(pattern, str) and pattern else None
            if why is not None:
                yield f"{place}.pattern".lstrip("."), why


def _why_refused(pattern: str) -> str | None:
    try:
        compile_pattern(_UNICODE_CLASS.sub("[a-z中]", pattern))
    except PatternError as exc:
        return f"`{pattern[:80]}`: {exc.message}"
    return None


def _too_small(definition: Definition) -> Iterator[tuple[str, str]]:
    """List the numbers that are below what they can be: a limit of -1 means none at all to the system."""
    for part, members in _LEAST.items():
        holder = getattr(definition, part) if part else definition
        for name, least in members.items():
            value = getattr(holder, name, None)
            if value is not None and value < least:
                yield f"{part}.{name}".lstrip("."), f"must be at least {least}"


def _values_in(document: Any) -> Iterator[Any]:
    left = [document]
    while left:
        value = left.pop()
        yield value
        if isinstance(value, Mapping):
            left += [*value, *value.values()]
        elif isinstance(value, list | tuple):
            left += value


def _is_unkept_number(value: Any) -> bool:
    """Say whether a number is none, endless, or one that a database gives back as a whole one of more than 64 bits."""
    if isinstance(value, float) and not math.isfinite(value):
        return True
    return isinstance(value, int | float) and not -(2**63) <= value < 2**63


def _in_our_words(document: Mapping[str, Any]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in document.items():
        ours = SPELLINGS.get(name, name)
        if ours in _MEMBERS and (ours == name or ours not in document) and value is not None:
            members[ours] = value
    timeout = document.get("timeout")
    if "timeout_ms" not in members and isinstance(timeout, int | float) and not isinstance(timeout, bool):
        members["timeout_ms"] = round(timeout * 1000) if math.isfinite(timeout * 1000) else timeout
    if members.get("catalog_mode") == "direct-only":  # as OpenClaw's plugins write it
        members["catalog_mode"] = "direct_only"
    if not members.get("parameters", True):
        members["parameters"] = dict(OPEN_SCHEMA)
    return members


_MEMBERS: Final = frozenset(each.name for each in fields(Definition))


@cache
def _adapter() -> TypeAdapter[Definition]:
    return TypeAdapter(Definition)


def _of_pydantic(error: Any, path: str) -> Problem:
    place = ""
    for step in error["loc"]:
        place += f"[{step}]" if isinstance(step, int) else f".{step}" if place else str(step)
    code = "required_field_missing" if error["type"] == "missing" else "bad_type"
    message = "is required" if error["type"] == "missing" else str(error["msg"]).lower()
    return _problem(f"{path}{place}", code, message)


def _problem(path: str, code: str, message: str) -> Problem:
    return {"path": path, "code": code, "message": message}


def _summary(document: Mapping[str, Any], details: list[Problem]) -> str:
    name = document.get("name")
    of = f" of `{name}`" if isinstance(name, str) and name else ""
    return f"the definition{of} has {len(details)} mistake{'s' * (len(details) != 1)}: see details"


def _plain(value: Any) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for each in fields(value):
        held = getattr(value, each.name)
        default = each.default if each.default_factory is MISSING else each.default_factory()
        if held == default or held is None:
            continue
        shown[each.name] = _json(held)
    return shown


def _json(value: Any) -> Any:
    if is_dataclass(value):
        return _plain(value)
    if isinstance(value, tuple | list):
        return [_json(each) for each in value]
    if isinstance(value, Mapping):
        return {key: _json(each) for key, each in value.items()}
    return value
