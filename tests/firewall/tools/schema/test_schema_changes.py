"""What a person is told about what a provider does not receive."""

from typing import Any

import pytest

from apps.firewall.tools.schema import (
    Change,
    ChangeKind,
    Family,
    ModelCompat,
    Normalized,
    clean_for_gemini,
    count_changes,
    normalize_schema,
)
from apps.firewall.tools.schema.changes import REASONS, Cause

ISSUE = {
    "type": "object",
    "properties": {
        "owner": {"type": "string", "minLength": 1, "maxLength": 39, "pattern": "^[a-z0-9-]+$"},
        "repo": {"type": "string", "minLength": 1, "maxLength": 100},
        "title": {"type": "string", "minLength": 1, "maxLength": 256},
        "body": {"type": "string", "maxLength": 65536},
        "labels": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "milestone": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
        "priority": {"type": "string", "enum": ["low", "normal", "high"], "default": "normal"},
    },
    "required": ["owner", "repo", "title"],
}

NO_EMPTY_ITEMS = ModelCompat(omit_empty_items=True)
GRAMMAR = ModelCompat(profile="llamacpp")
NO_FORMAT = ModelCompat(unsupported=frozenset({"format"}))


def told(result: Normalized) -> list[tuple[str, str, str, str]]:
    return [(change.path, change.kind.value, change.keyword, change.cause.value) for change in result.changes]


def told_of_property(schema: Any, **options: Any) -> list[tuple[str, str, str]]:
    result = normalize_schema({"type": "object", "properties": {"p": schema}}, **options)
    return [(path.removeprefix("/properties/p"), keyword, cause) for path, _, keyword, cause in told(result)]


def test_a_preview_for_gemini_says_what_was_stripped_and_what_converted() -> None:
    counts = count_changes(normalize_schema(ISSUE, provider="google").changes)
    stripped = [str(each) for each in counts if each.kind is ChangeKind.REMOVED]
    converted = [str(each) for each in counts if each.kind is ChangeKind.CONVERTED]
    assert stripped == ["minLength ×3", "maxLength ×4", "pattern", "uniqueItems", "minimum"]
    assert converted == ["anyOf null → optional"]
    assert counts[0].reason == "Gemini does not accept it"


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_plain_schema_reaches_other_providers_as_it_is(provider: str) -> None:
    family = Family(provider)
    assert normalize_schema(ISSUE, provider=provider, family=family) == Normalized(ISSUE, ())


def test_a_change_leads_to_its_place() -> None:
    schema = {"properties": {"a/b": {"items": {"~c": {}, "anyOf": [{"type": "null"}, {"format": "x"}]}}}}
    assert told(clean_for_gemini(schema)) == [
        ("/properties/a~1b/items/anyOf/1", "removed", "format", "gemini_keyword"),
        ("/properties/a~1b/items", "removed", "~c", "beside_union"),
        ("/properties/a~1b/items", "converted", "anyOf", "union_without_null"),
    ]


def test_what_befell_variants_is_forgotten_when_they_are_dropped() -> None:
    union = {"oneOf": [{"type": "string", "format": "x"}, {"type": "number", "minimum": 1}], "minLength": 1}
    assert told_of_property(union, provider="google") == [
        ("", "minLength", "beside_union"),
        ("", "oneOf", "union_as_type"),
    ]
    literals = {"anyOf": [{"const": "x", "type": "string", "format": "x"}]}
    assert told_of_property(literals, provider="google") == [("", "anyOf", "union_as_enum")]


def test_references_are_told_where_they_stood() -> None:
    schema = {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"x": {"$ref": "#/$defs/A"}}}}}
    assert told(normalize_schema(schema)) == [
        ("", "converted", "$ref", "reference_replaced"),
        ("/properties/x", "converted", "$ref", "reference_cycle"),
        ("", "added", "type", "root_not_object"),
    ]


def test_a_root_union_tells_what_is_lost_with_it() -> None:
    variants = [
        {"properties": {"p": {"const": 1}, "q": {"type": "string"}}, "required": ["p"]},
        {"properties": {"p": {"const": 2}, "q": {"type": "number"}}, "required": ["p"]},
    ]
    assert told(normalize_schema({"anyOf": variants, "default": {}})) == [
        ("", "merged", "anyOf", "root_union"),
        ("/properties/p", "merged", "p", "property_merged"),
        ("/properties/q", "merged", "q", "property_first_kept"),
        ("", "merged", "required", "root_union_required"),
        ("", "added", "additionalProperties", "root_union_open"),
        ("", "removed", "default", "root_keyword_lost"),
    ]
    older = normalize_schema({"anyOf": [{"properties": {"p": {}}}], "properties": {"own": {}}}, release="2026.2")
    assert ("", "removed", "properties", "root_properties_lost") in told(older)


@pytest.mark.parametrize(
    ("schema", "options", "expected"),
    [
        ({"type": "string", "nullable": True}, {}, [("", "nullable", "nullable_type")]),
        ({"allOf": [], "nullable": True}, {}, [("", "nullable", "nullable_union")]),
        ({"nullable": False, "xml": 1}, {}, [("", "nullable", "openapi_keyword"), ("", "xml", "openapi_keyword")]),
        ({"type": "array"}, {}, [("", "items", "items_missing")]),
        ({"type": "array"}, {"compat": NO_EMPTY_ITEMS}, []),
        (
            {"type": "array", "items": {}},
            {"compat": NO_EMPTY_ITEMS},
            [("", "items", "items_empty")],
        ),
        ({"pattern": "x"}, {"compat": GRAMMAR}, [("", "pattern", "grammar_pattern")]),
        ({"maxLength": 9000}, {"compat": GRAMMAR}, [("", "maxLength", "grammar_length")]),
        (
            {"format": "x"},
            {"compat": NO_FORMAT},
            [("", "format", "model_keyword")],
        ),
        ({"const": "x"}, {"provider": "google"}, [("", "const", "const_as_enum")]),
        ({"enum": ["x", 1]}, {"provider": "google"}, [("", "enum", "enum_as_text")]),
        ({"enum": ["x", "y"]}, {"provider": "google"}, []),
        ({"enum": [None]}, {"provider": "google"}, [("", "enum", "enum_without_values")]),
        ({"type": ["string", "null"]}, {"provider": "google"}, [("", "type", "type_without_null")]),
        ({"required": []}, {"provider": "google"}, [("", "required", "required_empty")]),
        ({"properties": {}, "required": ["a"]}, {"provider": "google"}, [("", "required", "required_undeclared")]),
        ({"properties": 5}, {"provider": "google"}, [("", "properties", "gemini_properties")]),
        ({"type": "string", "anyOf": []}, {"provider": "google"}, [("", "type", "type_beside_union")]),
        ({"oneOf": [{"type": "null"}]}, {"provider": "google"}, [("", "oneOf", "union_without_null")]),
        ({"anyOf": [{"title": "a"}, {}]}, {"provider": "google"}, [("", "anyOf", "union_open")]),
        ({"anyOf": [{"title": "a"}]}, {"provider": "google"}, [("", "anyOf", "union_single")]),
        ({"$ref": "#/x"}, {"provider": "google"}, [("", "$ref", "reference_unresolved")]),
    ],
)
def test_each_rule_tells_what_it_did(
    schema: dict[str, Any], options: dict[str, Any], expected: list[tuple[str, str, str]]
) -> None:
    assert told_of_property(schema, **options) == expected


@pytest.mark.parametrize(
    ("schema", "family", "expected"),
    [
        ({"allOf": [{"type": "string"}, {"title": "t"}]}, Family.GEMINI, [("", "allOf", "all_of_merged")]),
        ({"type": ["string", "number"]}, Family.GEMINI, [("", "type", "gemini_one_type")]),
        ({"contains": {}}, Family.GEMINI, [("", "contains", "gemini_refused")]),
        (True, Family.GEMINI, [("", "", "gemini_place")]),
        ({"minLength": "x"}, Family.OPENAI, [("", "minLength", "not_json_schema")]),
        ({"$ref": "other.json"}, Family.ANTHROPIC, [("", "$ref", "reference_unresolved")]),
    ],
)
def test_what_an_endpoint_would_refuse_goes_and_is_told(
    schema: Any, family: Family, expected: list[tuple[str, str, str]]
) -> None:
    provider = "google" if family is Family.GEMINI else family.value
    assert told_of_property(schema, provider=provider, family=family) == expected
    assert told_of_property(schema, provider="openai") == []


def test_nothing_is_left_of_references_that_lead_nowhere() -> None:
    inner = {"$defs": {"A": {"$ref": "#/gone"}}, "items": {"$ref": "#/gone", "title": "t"}}
    schema = {"type": "object", "properties": {"p": inner}, "definitions": {"B": {}}}
    fitted = normalize_schema(schema, provider="openai", family=Family.OPENAI)
    assert fitted.schema == {"type": "object", "properties": {"p": {"items": {"title": "t"}}}}
    assert [change.keyword for change in fitted.changes] == ["$ref", "$defs", "definitions"]


def test_an_endpoint_that_refuses_empty_lists_gets_none() -> None:
    schema = {"type": "object", "properties": {}, "required": []}
    fitted = normalize_schema(schema, provider="google", release="2026.2", family=Family.GEMINI)
    assert fitted.schema == {"type": "object", "properties": {}}
    assert told(fitted) == [("", "removed", "required", "required_empty")]


def test_parts_of_a_root_with_all_of_become_one_object() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "number", "enum": [1, 2]}},
        "required": ["a"],
        "allOf": [
            {"properties": {"a": {"type": "integer", "enum": [2, 3]}, "b": {}}, "required": ["b", "a"]},
            {"allOf": [{"properties": {"c": {"items": {"title": "t"}}}}]},
            True,
        ],
    }
    fitted = normalize_schema(schema, provider="anthropic", family=Family.ANTHROPIC)
    assert fitted.schema == {
        "type": "object",
        "properties": {"a": {"type": "integer", "enum": [2]}, "b": {}, "c": {"items": {"title": "t"}}},
        "required": ["a", "b"],
    }
    assert told(fitted) == [("", "merged", "allOf", "all_of_merged")]


def test_anthropic_gets_no_parameter_whose_name_it_refuses() -> None:
    schema = {"type": "object", "properties": {"ok": {}, "not ok": {}}, "required": ["ok", "not ok"]}
    fitted = normalize_schema(schema, provider="anthropic", family=Family.ANTHROPIC)
    assert fitted.schema == {"type": "object", "properties": {"ok": {}}, "required": ["ok"]}
    assert told(fitted) == [("/properties", "removed", "not ok", "property_name")]
    assert normalize_schema(schema, provider="openai", family=Family.OPENAI).schema == schema


def test_every_cause_has_a_reason_and_a_label() -> None:
    assert set(REASONS) == set(Cause)
    for cause in Cause:
        change = Change("", ChangeKind.CONVERTED, "anyOf", cause)
        assert change.reason
        assert "anyOf" in change.label
