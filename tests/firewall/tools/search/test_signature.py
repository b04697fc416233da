"""Signatures: what a model reads of a schema, one line of bounded size."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.tools.search.signature import UNKNOWN, signature

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
WORDS = ["type", "properties", "items", "required", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "$defs"]
TEXT = {"type": "string"}
SCHEMAS = st.recursive(
    ANYTHING | st.sampled_from(["object", "array", "string", "#/$defs/a", "#"]),
    lambda inner: st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=6), inner | st.lists(inner), max_size=5),
    max_leaves=30,
)


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": ["id"]}


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (schema(id={"type": "string"}, mode={"enum": ["drip", "flood"]}), '{ id: string; mode?: "drip" | "flood" }'),
        (schema(id={"type": "integer"}, tags={"type": "array", "items": TEXT}), "{ id: number; tags?: string[] }"),
        ({"type": "array", "items": schema(id={"type": "boolean"})}, "Array<{ id: boolean }>"),
        ({"type": ["string", "null"]}, "string | null"),
        ({"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "integer"}]}, "string | number"),
        (
            {"allOf": [schema(id={"const": 1}), {"type": "object", "additionalProperties": TEXT}]},
            "{ id: 1 } & Record<string, string>",
        ),
        ({"type": "object", "additionalProperties": False}, "{}"),
        (schema(**{"not a name": {"type": "null"}}), '{ "not a name"?: null }'),
        ({"$ref": "#/$defs/day", "$defs": {"day": {"type": "string"}}}, "string"),
        ({}, UNKNOWN),
        (None, UNKNOWN),
    ],
)
def test_it_reads_like_a_type(form: Any, expected: str) -> None:
    assert signature(form) == expected


def test_what_is_too_long_keeps_what_is_required() -> None:
    many = schema(**{f"option_{number}": {"enum": ["a" * 20, "b" * 20]} for number in range(60)}, id={"type": "string"})

    text = signature(many, limit=120)

    assert text.startswith("{ id: string; option_0?: string;") and text.endswith("; … }") and len(text) <= 120


@pytest.mark.parametrize(
    "form",
    [
        {"type": "object"},
        {"type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": True},
        {"type": "array"},
        schema(**{f"member_{number}": {"type": "string"} for number in range(60)}),
        schema(id={}),
        {"enum": [f"value {number}" for number in range(40)]},
        {"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}},
    ],
)
def test_a_promise_is_told_whole_or_not_at_all(form: dict[str, Any]) -> None:
    assert signature(form, is_whole=True) == UNKNOWN


def test_a_schema_within_itself_ends() -> None:
    tree = {"$ref": "#/$defs/t", "$defs": {"t": schema(id={"type": "string"}, kids={"items": {"$ref": "#/$defs/t"}})}}

    assert signature(tree).startswith("{ id: string; kids?: Array<{ id: string; ")


def test_a_deep_schema_ends() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(5_000):
        deep = {"type": "array", "items": {"anyOf": [deep]}}

    assert len(signature(deep)) <= 400


def test_a_huge_schema_ends() -> None:
    huge = schema(**{f"p{number}": {"type": "string", "enum": ["x" * 1000] * 50} for number in range(20_000)})

    assert len(signature(huge)) <= 400


@given(form=SCHEMAS, limit=st.integers(10, 500), is_whole=st.booleans())
def test_whatever_a_schema_holds_it_is_one_line_of_bounded_size(form: Any, limit: int, is_whole: bool) -> None:
    text = signature(form, limit=limit, is_whole=is_whole)

    assert 0 < len(text) <= limit and text.isprintable()
