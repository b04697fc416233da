"""Validation of a call's parameters: every mistake at once, each in words that let a model correct itself."""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import jsonschema_rs

from apps.firewall.errors import FirewallError
from apps.firewall.tools.definition import Definition, JsonObject, schema_digest

CACHED_SCHEMAS = 1024
PROBLEMS_LIMIT = 100
SHOWN_CHARACTERS = 80

Problem = dict[str, str]
"""`{"path", "code", "message"}`."""


class SchemaError(FirewallError):
    """A tool's own schema cannot be used, so nothing can be checked against it."""

    code = "schema_invalid"


def shown(value: Any) -> str:
    """Write a JSON value for a message, cut where it gets long."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def path_text(path: Sequence[str | int]) -> str:
    """Write a path as `edits[0].text`; empty for the root."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


Words = tuple[str, Callable[[Any, Any], str]]

# keyword -> (our code, message from the keyword's own values and the value found)
KEYWORDS: dict[str, Words] = {
    "type": ("type_mismatch", lambda kind, found: f"must be {' or '.join(sorted(kind.types))}, got {shown(found)}"),
    "enum": ("enum_mismatch", lambda kind, found: f"must be one of {shown(kind.options)}, got {shown(found)}"),
    "const": ("const_mismatch", lambda kind, _: f"must be {shown(kind.expected_value)}"),
    "minLength": ("min_length_violation", lambda kind, _: f"must have at least {kind.limit} characters"),
    "maxLength": ("max_length_violation", lambda kind, _: f"must have at most {kind.limit} characters"),
    "pattern": ("pattern_mismatch", lambda kind, _: f"must match the pattern `{kind.pattern}`"),
    "format": ("invalid_format", lambda kind, _: f"must be a {kind.format}"),
    "minimum": ("minimum_violation", lambda kind, found: f"must be at least {kind.limit}, got {shown(found)}"),
    "maximum": ("maximum_violation", lambda kind, found: f"must be at most {kind.limit}, got {shown(found)}"),
    "exclusiveMinimum": ("exclusive_minimum_violation", lambda kind, _: f"must be above {kind.limit}"),
    "exclusiveMaximum": ("exclusive_maximum_violation", lambda kind, _: f"must be below {kind.limit}"),
    "multipleOf": ("multiple_of_violation", lambda kind, _: f"must be a multiple of {kind.multiple_of}"),
    "minItems": ("min_items_violation", lambda kind, _: f"must have at least {kind.limit} items"),
    "maxItems": ("max_items_violation", lambda kind, _: f"must have at most {kind.limit} items"),
    "uniqueItems": ("unique_items_violation", lambda *_: "must not hold the same item twice"),
    "contains": ("contains_violation", lambda *_: "lacks an item of the required kind"),
    "minProperties": ("min_properties_violation", lambda kind, _: f"must have at least {kind.limit} members"),
    "maxProperties": ("max_properties_violation", lambda kind, _: f"must have at most {kind.limit} members"),
    "propertyNames": ("property_name_violation", lambda *_: "has a member whose name is not allowed"),
    "anyOf": ("any_of_mismatch", lambda *_: "has none of the allowed forms"),
    "oneOf": ("one_of_mismatch", lambda *_: "must have exactly one of the allowed forms"),
    "not": ("not_violation", lambda *_: "has a form that is not allowed"),
    "falseSchema": ("not_allowed", lambda *_: "must be left out"),
}
UNKNOWN_FIELDS = {"additionalProperties", "unevaluatedProperties"}


def _problems_of(error: jsonschema_rs.ValidationError) -> Iterator[Problem]:
    kind: Any = error.kind
    path = list(error.instance_path)
    if kind.name == "required":
        place = path_text([*path, kind.property])
        yield {"path": place, "code": "required_field_missing", "message": f"`{place}` is required"}
    elif kind.name in UNKNOWN_FIELDS:
        for name in kind.unexpected:
            place = path_text([*path, name])
            yield {"path": place, "code": "unknown_field", "message": f"`{place}` is not a parameter of this tool"}
    else:
        place = path_text(path)
        code, words = KEYWORDS.get(kind.name, ("schema_violation", lambda *_: "breaks a rule of the tool's schema"))
        subject = f"`{place}`" if place else "the parameters"
        yield {"path": place, "code": code, "message": f"{subject} {words(kind, error.instance)}"}


class _Validators:
    """Compiled schemas by digest; the least recently used one makes room."""

    def __init__(self) -> None:
        self._compiled: OrderedDict[str, jsonschema_rs.Draft202012Validator] = OrderedDict()
        self._lock = Lock()

    def get(self, schema: JsonObject, digest: str) -> jsonschema_rs.Draft202012Validator:
        with self._lock:
            found = self._compiled.get(digest)
            if found is not None:
                self._compiled.move_to_end(digest)
                return found
        made = _compile(schema)
        with self._lock:
            self._compiled[digest] = made
            while len(self._compiled) > CACHED_SCHEMAS:
                self._compiled.popitem(last=False)
        return made


def _compile(schema: JsonObject) -> jsonschema_rs.Draft202012Validator:
    try:
        # Offline: a `$ref` must not make us open an address. RegexOptions: the engine without backtracking, so that
        # no pattern can hold us up.
        return jsonschema_rs.Draft202012Validator(
            dict(schema), validate_formats=True, offline=True, pattern_options=jsonschema_rs.RegexOptions()
        )
    except (ValueError, jsonschema_rs.ReferencingError) as exc:
        raise SchemaError(f"the tool's schema cannot be used: {str(exc).splitlines()[0]}") from exc


_validators = _Validators()


def check_params(schema: JsonObject, params: Mapping[str, Any], *, digest: str | None = None) -> list[Problem]:
    """Compare parameters with a tool's JSON Schema.

    Args:
        digest: identity of the schema (`schema_digest`), when the caller has it at hand.
    Returns:
        All mistakes, at most 100, each `{"path", "code", "message"}`, by path; empty when there is none.
    Raises:
        SchemaError: the schema itself is broken.
    """
    validator = _validators.get(schema, digest or schema_digest(schema))
    given = params if isinstance(params, dict) else dict(params)
    if validator.is_valid(given):
        return []
    problems: list[Problem] = []
    for error in validator.iter_errors(given):
        problems.extend(_problems_of(error))
        if len(problems) >= PROBLEMS_LIMIT:
            break
    return sorted(problems[:PROBLEMS_LIMIT], key=lambda problem: (problem["path"], problem["code"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A call's params as the tool will get them, or all that is wrong with them.

    Args:
        params: coerced, filled and transformed; as they were sent when there are problems.
        warnings: what was changed or left out and the caller should know, each `{"path", "code", "message"}`.
        problems: every mistake, each `{"path", "code", "message"}`; empty when the call may go on.
    """

    params: dict[str, Any]
    warnings: list[Problem] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def prepare_params(
    definition: Definition,
    params: Mapping[str, Any],
    *,
    release: str = "2026.9",  # noqa: ARG001
    facts: Mapping[str, Any] | None = None,  # noqa: ARG001
    folders: Sequence[str] = (),  # noqa: ARG001
) -> Prepared:
    """Make a call's params ready for their tool.

    Args:
        release: the dialect in which a model speaks to file tools.
        facts: what is known of the caller, by the names that context mappings use.
        folders: absolute paths of the folders that paths in params may lead into.
    Raises:
        SchemaError: the tool's own schema is broken.
    """
    problems = check_params(definition.parameters, params, digest=definition.schema_digest)
    return Prepared(params=dict(params), problems=problems)
