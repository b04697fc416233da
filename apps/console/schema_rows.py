"""A tool's schema as a table: each parameter with its type, its meaning and its limits in words."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

ROWS_LIMIT: Final = 200
DEPTH_LIMIT: Final = 5
WORDS_LIMIT: Final = 8
TEXT_LIMIT: Final = 300
UNIONS: Final = ("anyOf", "oneOf", "allOf")

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ParamRow:
    """One parameter.

    Attributes:
        name: its path, `edits[].text` for a member of a list's items.
        limits: in words, in the order of a reader's interest.
        notes: what else happens to it: masked, filled from the caller's facts.
    """

    name: str
    depth: int
    is_required: bool
    type: str
    meaning: str
    limits: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParamTable:
    rows: tuple[ParamRow, ...]
    top: int
    required: int
    is_cut: bool


def table_of(
    schema: JsonObject, *, sensitive: Sequence[str] = (), mappings: Mapping[str, str] | None = None
) -> ParamTable:
    """Lay out a schema.

    Args:
        sensitive: names of params that are masked.
        mappings: params that a fact of the caller fills.
    """
    notes: dict[str, list[str]] = {}
    for name in sensitive:
        notes.setdefault(name, []).append(_("masked in records"))
    for name, fact in (mappings or {}).items():
        notes.setdefault(name, []).append(_("filled from %(fact)s") % {"fact": fact})
    rows: list[ParamRow] = []
    for row in _rows(schema, schema, "", 0, notes):
        if len(rows) == ROWS_LIMIT:
            return _table(rows, is_cut=True)
        rows.append(row)
    return _table(rows, is_cut=False)


def _table(rows: list[ParamRow], *, is_cut: bool) -> ParamTable:
    top = [row for row in rows if row.depth == 0]
    return ParamTable(tuple(rows), len(top), sum(row.is_required for row in top), is_cut)


def members_of(schema: JsonObject, root: JsonObject) -> dict[str, tuple[JsonObject, bool]]:
    """Return the properties of an object's schema, those of its variants too, each with whether it must be there.

    What must be there comes first, in its author's order: stored objects have lost theirs.
    """
    found: dict[str, tuple[JsonObject, bool]] = {}
    required = _texts(schema.get("required"))
    for name, each in _object(schema.get("properties")).items():
        found[str(name)] = (resolved(each, root), name in required)
    for union in UNIONS:
        for variant in _list(schema.get(union)):
            inner = resolved(variant, root)
            must = _texts(inner.get("required")) if union == "allOf" else required
            for name, each in _object(inner.get("properties")).items():
                known, was_required = found.get(str(name), (None, False))
                found[str(name)] = (known or resolved(each, root), was_required or name in must)
    order = {name: at for at, name in enumerate(_list(schema.get("required"))) if isinstance(name, str)}
    names = sorted(found, key=lambda name: (not found[name][1], order.get(name, len(order))))
    return {name: found[name] for name in names}


def resolved(schema: Any, root: JsonObject) -> JsonObject:
    """Follow references inside the document, a few steps; what leads nowhere allows anything."""
    for _step in range(DEPTH_LIMIT):
        if not isinstance(schema, Mapping):
            return {}
        target = schema.get("$ref")
        if not isinstance(target, str):
            return schema
        schema = {**_object(_behind(target, root)), **{key: value for key, value in schema.items() if key != "$ref"}}
    return {}


def _behind(target: str, root: JsonObject) -> Any:
    place: Any = root
    if not target.startswith("#"):
        return {}
    for step in target[1:].split("/")[1:]:
        place = place.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(place, Mapping) else None
    return place


def _rows(
    schema: JsonObject, root: JsonObject, path: str, depth: int, notes: Mapping[str, list[str]]
) -> Iterator[ParamRow]:
    if depth >= DEPTH_LIMIT:
        return
    for name, (each, is_required) in members_of(schema, root).items():
        place = f"{path}{name}"
        yield ParamRow(
            name=place,
            depth=depth,
            is_required=is_required,
            type=type_text(each, root),
            meaning=_text(each.get("description")) or _text(each.get("title")),
            limits=tuple(limits_of(each)),
            notes=(*notes.get(place, ()), *((_("masked in records"),) if each.get("sensitive") is True else ())),
        )
        items = resolved(each.get("items"), root)
        if members_of(each, root):
            yield from _rows(each, root, f"{place}.", depth + 1, notes)
        elif members_of(items, root):
            yield from _rows(items, root, f"{place}[].", depth + 1, notes)


def type_text(schema: JsonObject, root: JsonObject | None = None) -> str:
    """Say in words what kind of value a schema takes."""
    return _type(schema, root or schema, 0)


def _type(schema: JsonObject, root: JsonObject, depth: int) -> str:
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return _("one of %(values)s") % {"values": _values(schema["enum"])}
    if "const" in schema:
        return _("always %(value)s") % {"value": _value(schema["const"])}
    kinds = kinds_in(schema)
    if kinds or depth >= DEPTH_LIMIT:
        return _alternatives([_named(kind, schema, root, depth) for kind in kinds]) if kinds else _("anything")
    names = [_type(each, root, depth + 1) for each in variants_in(schema, root)]
    return _alternatives(names) if names else _implied(schema)


def kinds_in(schema: JsonObject) -> list[str]:
    """Return the types that a schema names itself."""
    kinds = schema.get("type")
    return [kinds] if isinstance(kinds, str) else [each for each in _list(kinds) if isinstance(each, str)]


def variants_in(schema: JsonObject, root: JsonObject) -> list[JsonObject]:
    """Return the alternatives of a schema, references followed."""
    return [resolved(each, root) for union in ("anyOf", "oneOf") for each in _list(schema.get(union))]


def _implied(schema: JsonObject) -> str:
    if "properties" in schema:
        return _("object")
    return _("list") if "items" in schema else _("anything")


def _named(name: str, schema: JsonObject, root: JsonObject, depth: int) -> str:
    if name == "array" and schema.get("items") and depth < DEPTH_LIMIT:
        return _("list of %(type)s") % {"type": _type(resolved(schema["items"], root), root, depth + 1)}
    words = {
        "string": _("string"),
        "integer": _("integer"),
        "number": _("number"),
        "boolean": _("yes or no"),
        "object": _("object"),
        "array": _("list"),
        "null": _("null"),
    }
    return words.get(name, name)


def _alternatives(names: Sequence[str]) -> str:
    unique = list(dict.fromkeys(names))
    if len(unique) == 1:
        return unique[0]
    return _("%(types)s or %(last)s") % {"types": ", ".join(unique[:-1]), "last": unique[-1]}


# --- limits ---


def limits_of(schema: JsonObject) -> Iterator[str]:
    """Say in words what a value must be like beside its type."""
    yield from _span(schema, ("minLength", "maxLength"), _characters)
    yield from _span(schema, ("minimum", "maximum"), _range)
    yield from _span(schema, ("minItems", "maxItems"), _items)
    if isinstance(schema.get("pattern"), str):
        yield _("matches %(pattern)s") % {"pattern": schema["pattern"][:TEXT_LIMIT]}
    if isinstance(schema.get("format"), str):
        yield _("format %(name)s") % {"name": schema["format"][:TEXT_LIMIT]}
    for keyword, words in _PLAIN.items():
        if schema.get(keyword) not in (None, False):
            yield str(words) % {"value": _value(schema[keyword])}
    if "default" in schema:
        yield _("default %(value)s") % {"value": _value(schema["default"])}
    if schema.get("additionalProperties") is False and "properties" in schema:
        yield _("no other members")
    if schema.get("deprecated") is True:
        yield _("deprecated")


_PLAIN: Final[Mapping[str, Promise]] = {
    "exclusiveMinimum": gettext_lazy("above %(value)s"),
    "exclusiveMaximum": gettext_lazy("below %(value)s"),
    "multipleOf": gettext_lazy("a multiple of %(value)s"),
    "uniqueItems": gettext_lazy("no repeats"),
    "minProperties": gettext_lazy("at least %(value)s members"),
    "maxProperties": gettext_lazy("at most %(value)s members"),
}


def _span(schema: JsonObject, names: tuple[str, str], words: Any) -> Iterator[str]:
    low, high = (schema.get(name) if _is_number(schema.get(name)) else None for name in names)
    if low is not None or high is not None:
        yield words(low, high)


def _characters(low: Any, high: Any) -> str:
    if high is None:
        return ngettext("at least %(low)s character", "at least %(low)s characters", int(low)) % {"low": _number(low)}
    if not low:
        return ngettext("up to %(high)s character", "up to %(high)s characters", int(high)) % {"high": _number(high)}
    return _("%(low)s–%(high)s characters") % {"low": _number(low), "high": _number(high)}


def _range(low: Any, high: Any) -> str:
    if high is None:
        return _("%(low)s or more") % {"low": _number(low)}
    if low is None:
        return _("up to %(high)s") % {"high": _number(high)}
    return _("%(low)s to %(high)s") % {"low": _number(low), "high": _number(high)}


def _items(low: Any, high: Any) -> str:
    if high is None:
        return ngettext("at least %(low)s item", "at least %(low)s items", int(low)) % {"low": _number(low)}
    if not low:
        return ngettext("up to %(high)s item", "up to %(high)s items", int(high)) % {"high": _number(high)}
    return _("%(low)s–%(high)s items") % {"low": _number(low), "high": _number(high)}


# --- hostile values ---


def _values(values: Sequence[Any]) -> str:
    shown = ", ".join(_value(each) for each in values[:WORDS_LIMIT])
    return f"{shown}, …" if len(values) > WORDS_LIMIT else shown


def _value(value: Any) -> str:
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= TEXT_LIMIT else f"{text[:TEXT_LIMIT]}…"


def _number(value: Any) -> str:
    return str(number_format(value, force_grouping=True))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _object(value: Any) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(value: Any) -> frozenset[str]:
    return frozenset(each for each in _list(value) if isinstance(each, str))
