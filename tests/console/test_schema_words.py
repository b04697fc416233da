"""Schemas that strangers wrote, in words, as forms, beside each other: nothing in them may break a page."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from apps.console.schema_diff import diff_of, lines_compared, ordered_like
from apps.console.schema_rows import ROWS_LIMIT, limits_of, table_of, type_text
from apps.console.trial_fields import fields_of, first_texts, kind_of, params_of, texts_of_params
from apps.firewall.tools.definition import Definition

WORDS = (
    "type properties items required enum anyOf oneOf allOf $ref $defs default const minLength maxLength minimum"
    " maximum minItems pattern format description title a b"
)
KEYWORDS = st.sampled_from(WORDS.split())
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["string", "object", "array", "integer", "#/$defs/a", "#", "", "x\u202e"])
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYWORDS, inner, max_size=5), max_leaves=25
)
ANY_SCHEMAS = st.dictionaries(KEYWORDS, JSON, max_size=8)
SCHEMAS = ANY_SCHEMAS | st.builds(
    lambda members, more: more | {"properties": members},
    st.dictionaries(st.sampled_from("abc"), ANY_SCHEMAS, min_size=1, max_size=3),
    ANY_SCHEMAS,
)


@given(SCHEMAS)
@settings(max_examples=500, deadline=None)
def test_any_object_has_a_table_a_form_and_params(schema: dict[str, Any]) -> None:
    definition = Definition(name="x", parameters=schema)
    table = table_of(schema)
    assert len(table.rows) <= ROWS_LIMIT
    texts = first_texts(definition)
    fields = fields_of(definition, texts, [{"path": "a[0].b", "message": "wrong"}])
    params, _problems = params_of(definition, {field.name: field.value for field in fields})
    assert set(params) <= {field.name for field in fields}


@given(JSON, JSON)
@settings(max_examples=300, deadline=None)
def test_a_difference_gives_both_sides_back(before: Any, after: Any) -> None:
    lines = lines_compared([json.dumps(before)], [json.dumps(after)])
    old = ["".join(part.text for part in line.parts) for line in lines if line.sign != "+"]
    new = ["".join(part.text for part in line.parts) for line in lines if line.sign != "−"]
    assert (old, new) == ([json.dumps(before)], [json.dumps(after)])
    assert isinstance(diff_of(before, after), list)


@given(JSON, JSON)
@settings(max_examples=200, deadline=None)
def test_another_order_of_keys_loses_nothing(value: Any, model: Any) -> None:
    assert json.dumps(ordered_like(value, model), sort_keys=True) == json.dumps(value, sort_keys=True)


def test_reordered_keys_are_no_difference() -> None:
    before = {"type": "object", "properties": {"a": {"type": "string", "title": "A"}, "b": {}}}
    after = {"properties": {"b": {}, "a": {"title": "A", "type": "string"}}, "type": "object"}
    assert {line.sign for line in diff_of(before, after)} <= {""}


def test_a_schema_that_points_to_itself_ends() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#"}}, "$defs": {"b": {"$ref": "#/$defs/b"}}}
    names = [row.name for row in table_of(schema).rows]
    assert names[:2] == ["a", "a.a"]
    assert len(names) <= 6


def test_references_and_unions_are_read() -> None:
    schema = {
        "type": "object",
        "$defs": {"level": {"type": "string", "enum": ["low", "high"]}},
        "properties": {"level": {"$ref": "#/$defs/level", "description": "How loud."}},
        "anyOf": [{"properties": {"by": {"type": "string"}}}, {"properties": {"to": {"type": "number"}}}],
        "required": ["level"],
    }
    rows = {row.name: (row.is_required, row.type, row.meaning) for row in table_of(schema).rows}
    assert rows == {
        "level": (True, "one of low, high", "How loud."),
        "by": (False, "string", ""),
        "to": (False, "number", ""),
    }


def test_limits_are_words() -> None:
    assert list(limits_of({"minLength": 1})) == ["at least 1 character"]
    assert list(limits_of({"maxLength": 65536})) == ["up to 65,536 characters"]
    assert list(limits_of({"minimum": 0, "maximum": 5, "multipleOf": 5})) == ["0 to 5", "a multiple of 5"]
    assert list(limits_of({"minimum": float("nan"), "maxLength": "x", "uniqueItems": False})) == []
    assert type_text({"type": ["integer", "null"]}) == "integer or null"
    assert type_text({"type": "array", "items": {"enum": [1, 2]}}) == "list of one of 1, 2"


def test_what_was_made_of_params_means_the_same_params() -> None:
    definition = Definition(
        name="x",
        parameters={
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "flag": {"type": "boolean"},
                "list": {"type": "array", "items": {"type": "integer"}},
                "any": {},
            },
        },
    )
    params = {"text": "a\nb", "flag": False, "list": [1, 2], "any": {"b": [None]}}
    assert params_of(definition, texts_of_params(definition, params)) == (params, [])
    assert kind_of({"type": ["string", "null"], "maxLength": 10}, {}) == ("text", ())
