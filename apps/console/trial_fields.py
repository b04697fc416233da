"""A form made from a tool's schema: its fields, what was typed, and the params that this means."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.http import QueryDict
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from apps.console.schema_rows import DEPTH_LIMIT, kinds_in, limits_of, members_of, resolved, type_text, variants_in
from apps.firewall.tools.definition import Definition
from apps.texts import read_json

PREFIX: Final = "p."
RAW: Final = "raw"
TEXT_LIMIT: Final = 1_000_000
RADIOS: Final = 4
RADIO_LETTERS: Final = 28
LONG: Final = 256
_INTEGER: Final = re.compile(r"\A-?[0-9]{1,300}\Z")
_PATH_HEAD: Final = re.compile(r"\A([^.\[\]]+)")

JsonObject = Mapping[str, Any]
Problem = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TrialField:
    """One parameter of the form.

    Attributes:
        kind: `text`, `long`, `number`, `radios`, `choice`, `flag`, `lines` or `json`.
        values: what a choice offers, as JSON texts with their labels.
        filled: the fact of the caller that fills it; it is not typed then.
    """

    name: str
    kind: str
    is_required: bool
    value: str
    type: str
    meaning: str
    limits: str
    values: tuple[tuple[str, str], ...] = ()
    limit: int | None = None
    is_sensitive: bool = False
    errors: tuple[str, ...] = ()

    @property
    def input_name(self) -> str:
        return PREFIX + self.name

    @property
    def count(self) -> str:
        """How many characters of how many; empty without a limit worth showing."""
        if self.limit is None or self.kind not in {"text", "long"}:
            return ""
        return f"{number_format(len(self.value))} / {number_format(self.limit, force_grouping=True)}"


def fields_of(definition: Definition, texts: Mapping[str, str], problems: Sequence[Problem] = ()) -> list[TrialField]:
    """Make the fields of a form.

    Args:
        texts: what stands in each field, by parameter.
        problems: mistakes, each shown at the field that its path begins with.
    """
    root = definition.parameters
    wrong: dict[str, list[str]] = {}
    for problem in problems:
        wrong.setdefault(field_of(problem["path"]), []).append(problem["message"])
    fields = [
        _field(name, schema, is_required, definition, texts.get(name, ""), tuple(wrong.get(name, ())))
        for name, (schema, is_required) in members_of(root, root).items()
        if name not in definition.context_mappings
    ]
    return sorted(fields, key=lambda field: not field.is_required)


def field_of(path: str) -> str:
    """Name the parameter that a path leads into; empty for the root."""
    found = _PATH_HEAD.match(path)
    return found[1] if found else ""


def _field(
    name: str, schema: JsonObject, is_required: bool, definition: Definition, text: str, errors: tuple[str, ...]
) -> TrialField:
    kind, values = kind_of(schema, definition.parameters)
    limit = schema.get("maxLength")
    return TrialField(
        name=name,
        kind=kind,
        is_required=is_required,
        value=text,
        type=type_text(schema, definition.parameters),
        meaning=str(schema.get("description") or ""),
        limits=", ".join(limits_of(schema)),
        values=values,
        limit=limit if isinstance(limit, int) and 0 < limit <= 10_000 else None,
        is_sensitive=name in definition.sensitive or schema.get("sensitive") is True,
        errors=errors,
    )


def kind_of(schema: JsonObject, root: JsonObject) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Choose how a parameter is typed, and what a choice offers."""
    options = schema.get("enum")
    if isinstance(options, list) and options:
        values = tuple((json.dumps(each, ensure_ascii=False), _label(each)) for each in options[:500])
        is_short = len(values) <= RADIOS and sum(len(label) for _value, label in values) <= RADIO_LETTERS
        return ("radios" if is_short else "choice"), values
    kind = _type_of(schema, root)
    if kind == "boolean":
        return "flag", (("true", _("yes")), ("false", _("no")))
    if kind in {"integer", "number"}:
        return "number", ()
    if kind == "string":
        return ("text" if _is_short(schema) else "long"), ()
    if kind == "array":
        inner = _type_of(resolved(schema.get("items"), root), root)
        return ("lines" if inner in {"string", "integer", "number"} else "json"), ()
    return "json", ()


def _is_short(schema: JsonObject) -> bool:
    limit = schema.get("maxLength")
    return (isinstance(limit, int) and limit <= LONG) or "pattern" in schema or "format" in schema


def _type_of(schema: JsonObject, root: JsonObject, depth: int = 0) -> str:
    """Name the one type that a schema takes beside null; empty when there are several or none."""
    names = set(kinds_in(schema))
    if not names and depth < DEPTH_LIMIT:
        names = {_type_of(each, root, depth + 1) for each in variants_in(schema, root)}
    names -= {"null"}
    return names.pop() if len(names) == 1 else ""


def _label(value: Any) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


# --- what was typed ---


def texts_of_params(definition: Definition, params: JsonObject) -> dict[str, str]:
    """Write params as the texts of the fields."""
    root = definition.parameters
    texts = {}
    for name, (schema, _required) in members_of(root, root).items():
        if name in params:
            texts[name] = _text(params[name], kind_of(schema, root)[0])
    return texts


def first_texts(definition: Definition) -> dict[str, str]:
    """Fill the form as the author's first example does, else with the defaults."""
    if definition.examples:
        return texts_of_params(definition, definition.examples[0].parameters)
    members = members_of(definition.parameters, definition.parameters)
    given = {name: schema["default"] for name, (schema, _required) in members.items() if "default" in schema}
    return texts_of_params(definition, given)


def _text(value: Any, kind: str) -> str:
    if kind in {"radios", "choice", "flag"}:
        return json.dumps(value, ensure_ascii=False)
    if kind == "lines" and isinstance(value, list):
        return "\n".join(each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in value)
    if isinstance(value, str) and kind != "json":
        return value
    return json.dumps(value, ensure_ascii=False, indent=2 if kind == "json" else None)


def read_texts(definition: Definition, given: QueryDict) -> dict[str, str]:
    """Take the texts of the fields from a form."""
    names = members_of(definition.parameters, definition.parameters)
    found = {name: given.get(PREFIX + name, "")[:TEXT_LIMIT] for name in names}
    return {name: text.replace("\r\n", "\n") for name, text in found.items() if text != ""}


def params_of(definition: Definition, texts: Mapping[str, str]) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """Read the params that a form means; an empty field is left out.

    Returns:
        The params, and what cannot be read, each with the path of its field.
    """
    root = definition.parameters
    params: dict[str, Any] = {}
    problems: list[dict[str, str]] = []
    for name, (schema, is_required) in members_of(root, root).items():
        text = texts.get(name, "")
        kind, _values = kind_of(schema, root)
        if text == "" and not (is_required and kind in {"text", "long"} and schema.get("minLength")):
            continue
        try:
            params[name] = _value(text, kind, resolved(schema.get("items"), root))
        except ValueError:
            problems.append({"path": name, "code": "no_json", "message": _("This is no JSON.")})
    return params, problems


def params_of_json(text: str) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """Read params that were typed as one JSON object."""
    try:
        params = read_json(text or "{}")
    except ValueError:
        return {}, [{"path": "", "code": "no_json", "message": _("This is no JSON.")}]
    if not isinstance(params, dict):
        return {}, [{"path": "", "code": "no_object", "message": _("Write a JSON object: { … }.")}]
    return params, []


def _value(text: str, kind: str, items: JsonObject) -> Any:
    if kind in {"json", "radios", "choice", "flag"}:
        return read_json(text)
    if kind == "number":
        return _number(text.strip())
    if kind == "lines":
        is_text = items.get("type") == "string"
        return [line if is_text else _number(line.strip()) for line in text.split("\n") if line.strip()]
    return text


def _number(text: str) -> Any:
    """Read a number; what is none stays as it was typed, so that the tool's own rules say what is wrong."""
    if _INTEGER.match(text):
        return int(text)
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def unplaced(fields: Sequence[TrialField], problems: Sequence[Problem]) -> Iterator[Problem]:
    """Give the mistakes that belong to no field of the form."""
    names = {field.name for field in fields}
    return (problem for problem in problems if field_of(problem["path"]) not in names)
