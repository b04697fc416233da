"""Mistakes in params: where, which, and in words that let a model correct itself."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import jsonschema_rs

from apps.firewall.tools.formats import FORMATS

FAILED: Final = "parameter_validation_failed"
SHOWN_CHARACTERS: Final = 80
OPTIONS_CHARACTERS: Final = 1_000
NAME_CHARACTERS: Final = 200

Problem: TypeAlias = dict[str, str]
"""`{"path", "code", "message"}`; the path is written as `edits[0].text`."""

Path: TypeAlias = Sequence[str | int]
Hides: TypeAlias = Callable[[Path], bool]
"""Says whether the value at a path may not be shown."""

Step: TypeAlias = Literal["structure", "type", "constraint", "semantics"]
STEPS: Final[tuple[Step, ...]] = ("structure", "type", "constraint", "semantics")
"""What is looked at, in this order: which fields there are, their types, their limits, what they mean."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How a keyword of JSON Schema is answered: its code, its step, and the words from its own values and what came."""

    code: str
    step: Step
    words: Callable[[Any, str], str]


def shown(value: Any, *, limit: int = SHOWN_CHARACTERS) -> str:
    """Write a JSON value for a message, cut where it gets longer than so many characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else f"{text[:limit]}…"


def _format(kind: Any, found: str) -> str:
    return f"must be {FORMATS.meaning(kind.format)}, got {found}"


def _type(kind: Any, found: str) -> str:
    return f"must be {' or '.join(sorted(kind.types))}, got {found}"


def _enum(kind: Any, found: str) -> str:
    return f"must be one of {shown(kind.options, limit=OPTIONS_CHARACTERS)}, got {found}"


def _count(least_or_most: str, things: str) -> Callable[[Any, str], str]:
    return lambda kind, _: f"must have {least_or_most} {kind.limit} {things}"


def _limit(how: str) -> Callable[[Any, str], str]:
    return lambda kind, found: f"must be {how} {kind.limit}, got {found}"


def _says(words: str) -> Callable[[Any, str], str]:
    return lambda _, __: words


RULES: Final[dict[str, Rule]] = {
    "required": Rule("required_field_missing", "structure", _says("is required")),
    "dependentRequired": Rule("dependent_field_missing", "structure", _says("is required with the others given")),
    "additionalProperties": Rule("unknown_field", "structure", _says("is not a parameter of this tool")),
    "unevaluatedProperties": Rule("unknown_field", "structure", _says("is not a parameter of this tool")),
    "unevaluatedItems": Rule("unexpected_items", "structure", _says("has more items than the tool knows")),
    "additionalItems": Rule("unexpected_items", "structure", _says("has more items than the tool knows")),
    "propertyNames": Rule("property_name_violation", "structure", _says("has a member whose name is not allowed")),
    "falseSchema": Rule("not_allowed", "structure", _says("must be left out")),
    "type": Rule(
        "type_mismatch", "type", lambda kind, found: f"must be {' or '.join(sorted(kind.types))}, got {found}"
    ),
    "anyOf": Rule("any_of_mismatch", "type", _says("has none of the allowed forms")),
    "oneOf": Rule("one_of_mismatch", "type", _says("must have exactly one of the allowed forms")),
    "not": Rule("not_violation", "type", _says("has a form that is not allowed")),
    "enum": Rule("enum_mismatch", "constraint", _enum),
    "const": Rule("const_mismatch", "constraint", lambda kind, _: f"must be {shown(kind.expected_value)}"),
    "minLength": Rule("min_length_violation", "constraint", _count("at least", "characters")),
    "maxLength": Rule("max_length_violation", "constraint", _count("at most", "characters")),
    "pattern": Rule("pattern_mismatch", "constraint", lambda kind, _: f"must match the pattern `{kind.pattern}`"),
    "minimum": Rule("minimum_violation", "constraint", _limit("at least")),
    "maximum": Rule("maximum_violation", "constraint", _limit("at most")),
    "exclusiveMinimum": Rule("exclusive_minimum_violation", "constraint", _limit("above")),
    "exclusiveMaximum": Rule("exclusive_maximum_violation", "constraint", _limit("below")),
    "multipleOf": Rule(
        "multiple_of_violation",
        "constraint",
        lambda kind, found: f"must be a multiple of {kind.multiple_of}, got {found}",
    ),
    "minItems": Rule("min_items_violation", "constraint", _count("at least", "items")),
    "maxItems": Rule("max_items_violation", "constraint", _count("at most", "items")),
    "uniqueItems": Rule("unique_items_violation", "constraint", _says("must not hold the same item twice")),
    "contains": Rule("contains_violation", "constraint", _says("lacks an item of the required kind")),
    "minContains": Rule("min_contains_violation", "constraint", _says("has too few items of the required kind")),
    "maxContains": Rule("max_contains_violation", "constraint", _says("has too many items of the required kind")),
    "minProperties": Rule("min_properties_violation", "constraint", _count("at least", "members")),
    "maxProperties": Rule("max_properties_violation", "constraint", _count("at most", "members")),
    "format": Rule("invalid_format", "semantics", _format),
}
"""Keyword -> rule. The codes are stable: agents and the pages go by them."""

_UNKNOWN_RULE: Final = Rule("schema_violation", "constraint", _says("breaks a rule of the tool's schema"))
_MORE_EXACT: Final = {"required": "dependentRequired", "contains": "minContains maxContains"}
_STEP_OF_CODE: Final = {rule.code: STEPS.index(rule.step) for rule in RULES.values()}


def path_text(path: Path) -> str:
    """Write a path as `edits[0].text`, with names that would be misread as `["a.b"]`; empty for the root.

    Names that nobody would give are cut.
    """
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
            continue
        if len(step) > NAME_CHARACTERS:
            step = f"{step[:NAME_CHARACTERS]}…"
        if not step or any(letter in step for letter in '.[]"'):
            text += f"[{json.dumps(step, ensure_ascii=False)}]"
        else:
            text += f".{step}" if text else step
    return text


def path_steps(text: str) -> list[str | int]:
    """Read what `path_text` wrote."""
    steps: list[str | int] = []
    at = 0
    while at < len(text):
        if text[at] == "[":
            step, end = json.JSONDecoder().raw_decode(text, at + 1)
            steps.append(step)
            at = end + 1
            continue
        at += text[at] == "."
        ends = [found for mark in ".[" if (found := text.find(mark, at)) >= 0]
        end = min(ends, default=len(text))
        steps.append(text[at:end])
        at = end
    return steps


def pointer(path: Path) -> str:
    """Write a path as a JSON Pointer, `/edits/0/text`. Source: RFC 6901."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def model_error(problems: Iterable[Problem]) -> dict[str, Any]:
    """Write mistakes as a model reads them, with JSON Pointers.

    Returns:
        `{"error": "parameter_validation_failed", "details": [{"path", "code", "message"}]}`.
    """
    details = [{**problem, "path": pointer(path_steps(problem["path"]))} for problem in problems]
    return {"error": FAILED, "details": details}


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Sort by path, then by step and code, without repetitions."""
    distinct = {(each["path"], each["code"], each["message"]): each for each in problems}
    return sorted(distinct.values(), key=lambda each: (each["path"], _STEP_OF_CODE.get(each["code"], 0), each["code"]))


def keyword_of(error: jsonschema_rs.ValidationError) -> str:
    """Name the keyword that is broken, as the schema has it."""
    name = error.kind.name
    last = error.schema_path[-1] if error.schema_path else ""
    return str(last) if last in _MORE_EXACT.get(name, "").split() else name


def problems_of(error: jsonschema_rs.ValidationError, *, hides: Hides) -> Iterator[Problem]:
    """Put one error of the validator into our words; one that names several fields becomes several."""
    kind: Any = error.kind
    keyword = keyword_of(error)
    rule = RULES.get(keyword, _UNKNOWN_RULE)
    path = list(error.instance_path)
    if rule.code == "unknown_field":
        places = [[*path, name] for name in kind.unexpected]
    elif kind.name == "required":
        places = [[*path, kind.property]]
    else:
        places = [path]
    for place in places:
        found = _found(error.instance, is_hidden=hides(place))
        text = path_text(place)
        subject = f"`{text}`" if text else "the parameters"
        yield {"path": text, "code": rule.code, "message": f"{subject} {rule.words(kind, found)}"}


def _found(value: Any, *, is_hidden: bool) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return "a value that is not shown" if is_hidden else shown(value)
