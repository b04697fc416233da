"""What becomes of a schema, rule by rule; the recorded vectors are asked in `test_conformance`."""

import json
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.schema import (
    Family,
    ModelCompat,
    UnknownReleaseError,
    clean_for_gemini,
    normalize_schema,
    read_compat,
)
from apps.firewall.tools.schema import releases as tables

DUMPS = Path(__file__).parents[3] / "conformance" / "schema.jsonl"


def sent(schema: Any, **options: Any) -> Any:
    return normalize_schema(schema, **options).schema


def property_sent(schema: Any, **options: Any) -> Any:
    return sent({"type": "object", "properties": {"p": schema}}, **options)["properties"]["p"]


def dump(what: str, member: str = "expect") -> Any:
    rows = map(json.loads, DUMPS.read_text(encoding="utf-8").splitlines())
    return next(row for row in rows if row["kind"] == "dump" and row["input"]["what"] == what)[member]


def test_the_tables_are_the_recorded_ones() -> None:
    releases = tables.RELEASES
    assert releases["2026.9"].gemini_removed == set(dump("gemini_removed_keywords"))
    assert releases["2026.2"].gemini_removed == set(dump("gemini_removed_keywords", "expect_2026_2"))
    assert list(tables.ANNOTATIONS) == dump("annotation_keywords_kept_when_merging")
    assert tables.OPENAPI_KEYWORDS | {tables.NULLABLE} == set(dump("openapi_keywords_removed"))
    walk = {"maps": tables.MAPS, "schemas": tables.SCHEMAS, "lists": tables.LISTS, "literal": tables.LITERAL}
    assert {name: sorted(keys) for name, keys in walk.items()} == dump("reference_walk")
    assert dump("limits") == {"llamacppMaxRepetition": tables.GRAMMAR_REPEATS_LIMIT}


def test_an_unknown_release_is_refused_by_name() -> None:
    with pytest.raises(UnknownReleaseError, match=r"no release named `2026\.5`, known are 2026\.9, 2026\.2"):
        normalize_schema({}, release="2026.5")


# --- references ---


@pytest.mark.parametrize("keyword", sorted(tables.SCHEMAS))
def test_references_are_found_below_every_keyword_that_holds_a_schema(keyword: str) -> None:
    schema = {"type": "object", "properties": {}, keyword: {"$ref": "#/$defs/A"}, "$defs": {"A": {"minLength": 1}}}
    assert sent(schema) == {"type": "object", "properties": {}, keyword: {"minLength": 1}}


@pytest.mark.parametrize("keyword", sorted(tables.LISTS - {"anyOf", "oneOf"}))
def test_references_are_found_below_every_keyword_that_holds_a_list(keyword: str) -> None:
    schema = {"type": "object", "properties": {}, keyword: [{"$ref": "#/$defs/A"}], "$defs": {"A": {"minLength": 1}}}
    assert sent(schema)[keyword] == [{"minLength": 1}]


@pytest.mark.parametrize("keyword", sorted(tables.MAPS - {"$defs", "definitions"}))
def test_references_are_found_below_every_keyword_that_holds_named_schemas(keyword: str) -> None:
    schema = {
        "type": "object",
        "properties": {},
        keyword: {"$ref": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"title": "t"}},
    }
    assert sent(schema)[keyword] == {"$ref": {"title": "t"}}


@pytest.mark.parametrize("keyword", sorted(tables.LITERAL))
def test_what_looks_like_a_reference_in_a_value_is_left_alone(keyword: str) -> None:
    literal = [{"$ref": "#/$defs/A", "nullable": True, "example": 1}]
    assert property_sent({keyword: literal}) == {keyword: literal}


def test_the_nearest_definition_of_a_name_counts_and_the_tables_are_apart() -> None:
    inner = {
        "$defs": {"A": {"title": "inner"}},
        "properties": {"x": {"$ref": "#/$defs/A"}, "y": {"$ref": "#/definitions/A"}},
    }
    schema = {
        "type": "object",
        "properties": {"o": inner},
        "$defs": {"A": {"title": "outer"}},
        "definitions": {"A": {"title": "older"}},
    }
    assert sent(schema)["properties"]["o"] == {"properties": {"x": {"title": "inner"}, "y": {"title": "older"}}}


def test_a_reference_goes_on_inside_what_it_names_and_by_position() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A/anyOf/1/items"}, "b": {"$ref": "#/$defs/A/anyOf/01"}},
        "$defs": {"A": {"anyOf": [{}, {"items": {"title": "t"}}]}},
    }
    assert sent(schema)["properties"] == {"a": {"title": "t"}, "b": {"$ref": "#/$defs/A/anyOf/01"}}


def test_what_a_place_says_about_itself_outlives_the_reference() -> None:
    place = {"$ref": "#/$defs/A", "description": "here", "minLength": 3, "nullable": True}
    schema = {"type": "object", "properties": {"p": place}, "$defs": {"A": {"type": "string", "description": "there"}}}
    assert sent(schema)["properties"]["p"] == {"type": ["string", "null"], "description": "here"}


def test_a_reference_inside_itself_describes_any_value() -> None:
    schema = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/T"}, "all": {"$ref": "#/properties/all", "title": "t"}},
        "$defs": {"T": {"type": "array", "items": {"$ref": "#/$defs/T"}}},
    }
    assert sent(schema)["properties"] == {"tree": {"type": "array", "items": {}}, "all": {"title": "t"}}


def test_definitions_stay_as_they_were_when_something_local_leads_nowhere() -> None:
    definitions = {"A": {"properties": {"x": {"$ref": "#/$defs/B"}}}, "B": {"type": "string"}}
    schema = {"type": "object", "properties": {"p": {"$ref": "#/$defs/Z"}}, "$defs": definitions}
    assert sent(schema) == schema
    schema = {"type": "object", "properties": {"p": {"$ref": "other.json#/A"}}, "$defs": definitions}
    assert sent(schema) == {"type": "object", "properties": {"p": {"$ref": "other.json#/A"}}}


def test_the_older_release_follows_references_for_gemini_only_and_by_their_last_name() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/properties/a", "title": "t"}},
        "definitions": {"A": {"type": "string", "format": "uri"}},
    }
    assert sent(schema, release="2026.2") == schema
    cleaned = sent(schema, release="2026.2", provider="google")
    assert cleaned["properties"] == {"a": {"type": "string"}, "b": {"title": "t"}}


# --- OpenAPI ---


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, {"type": ["string", "null"]}),
        ({"type": "null"}, {"type": "null"}),
        ({"type": ["string", "number"]}, {"type": ["string", "number", "null"]}),
        ({"type": ["null", "number"]}, {"type": ["null", "number"]}),
        ({"enum": ["x"]}, {"enum": ["x", None]}),
        ({"enum": ["x", None]}, {"enum": ["x", None]}),
        ({"const": "x"}, {"const": "x"}),
        ({}, {}),
        (
            {"oneOf": [{"title": "t"}], "title": "outer"},
            {"anyOf": [{"oneOf": [{"title": "t"}], "title": "outer"}, {"type": "null"}], "title": "outer"},
        ),
        ({"allOf": [{"type": "null"}]}, {"anyOf": [{"allOf": [{"type": "null"}]}, {"type": "null"}]}),
        ({"anyOf": [{"type": ["string", "null"]}]}, {"anyOf": [{"type": ["string", "null"]}]}),
        ({"oneOf": [{"enum": [None, 1]}]}, {"oneOf": [{"enum": [None, 1]}]}),
        ({"anyOf": [{"const": None}]}, {"anyOf": [{"const": None}]}),
    ],
)
def test_nullable_becomes_a_null_type(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert property_sent(schema | {"nullable": True}) == expected


@pytest.mark.parametrize("keyword", sorted(tables.OPENAPI_KEYWORDS | {"nullable"}))
def test_openapi_keywords_go_but_not_properties_of_that_name(keyword: str) -> None:
    schema = {"type": "object", "properties": {keyword: {"type": "string", keyword: False}}, "required": [keyword]}
    assert sent(schema) == {"type": "object", "properties": {keyword: {"type": "string"}}, "required": [keyword]}
    assert sent(schema, release="2026.2") == schema


# --- the object at the root ---


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, {"type": "object", "properties": {}}),
        ([], {"type": "object", "properties": {}}),
        ({"type": "object", "properties": 5}, {"type": "object", "properties": {}}),
        ({"required": []}, {"type": "object", "properties": {}, "required": []}),
        ({"title": "t"}, {"title": "t"}),
        ({"type": ["object", "null"]}, {"type": ["object", "null"]}),
        ({"type": "object", "allOf": [{"title": "t"}]}, {"type": "object", "allOf": [{"title": "t"}]}),
        (True, True),
        (None, None),
    ],
)
def test_the_root_becomes_an_object_where_it_describes_one(schema: Any, expected: Any) -> None:
    assert sent(schema) == expected


def test_required_of_a_union_is_what_all_variants_with_properties_require() -> None:
    variants = [
        {"properties": {"a": {}, "b": {}}, "required": ["a", "b"]},
        {"properties": {"a": {}}, "required": ["a", 5]},
        {"required": ["z"]},
        {"type": "string"},
        7,
    ]
    assert sent({"oneOf": variants})["required"] == ["a"]
    assert sent({"oneOf": variants, "required": ["own"]})["required"] == ["own"]
    assert sent({"oneOf": variants, "required": [1]})["required"] == ["a"]


def test_a_property_of_several_variants_joins_its_values() -> None:
    variants = [
        {"properties": {"p": {"const": 1, "title": "first"}}},
        {"properties": {"p": {"oneOf": [{"enum": [True, 1]}, {"const": "1"}], "title": "second", "default": 1}}},
    ]
    joined = sent({"anyOf": variants})["properties"]["p"]
    assert joined == {"title": "first", "default": 1, "enum": [1, True, "1"]}
    assert [type(value) for value in joined["enum"]] == [int, bool, str]


def test_a_property_without_values_keeps_what_its_first_variant_says() -> None:
    variants = [{"properties": {"p": {"type": "string"}}}, {"properties": {"p": {"type": "number"}}}]
    assert sent({"anyOf": variants})["properties"]["p"] == {"type": "string"}
    broken: list[Any] = [{"properties": {"p": False}}, {"properties": {"p": {"type": "number"}}}]
    assert sent({"anyOf": broken})["properties"]["p"] == {"type": "number"}


def test_properties_beside_a_union_join_in_the_newer_release_and_are_lost_in_the_older() -> None:
    schema = {"type": "object", "properties": {"own": {}}, "anyOf": [{"properties": {"p": {}}}]}
    assert sent(schema)["properties"] == {"own": {}, "p": {}}
    assert sent(schema, release="2026.2")["properties"] == {"p": {}}


# --- items ---


def test_arrays_get_items_wherever_they_stand() -> None:
    array = {"type": "array"}
    schema = {"type": "object", "properties": {"p": {"not": array, "prefixItems": [array], "default": array}}}
    described = {"type": "array", "items": {}}
    assert sent(schema)["properties"]["p"] == {"not": described, "prefixItems": [described], "default": array}
    assert property_sent({"type": ["array"]}) == {"type": ["array"]}
    assert property_sent({"type": "array", "items": None}) == {"type": "array", "items": None}


def test_a_model_that_refuses_empty_items_gets_none() -> None:
    compat = ModelCompat(omit_empty_items=True)
    assert property_sent({"type": "array"}, compat=compat) == {"type": "array"}
    assert property_sent({"type": ["array", "null"], "items": {}}, compat=compat) == {"type": ["array", "null"]}
    assert property_sent({"type": "object", "items": {}}, compat=compat) == {"type": "object", "items": {}}
    nested = {"type": "array", "items": {"type": "array", "items": {}}}
    assert property_sent(nested, compat=compat) == {"type": "array", "items": {"type": "array"}}


# --- who is cleaned for ---


@pytest.mark.parametrize(
    ("options", "cleaned"),
    [
        ({"provider": "Google-Vertex"}, (True, True)),
        ({"provider": "my-gemini"}, (True, True)),
        ({"provider": "google-anthropic"}, (False, False)),
        ({"provider": "openrouter", "model": "google/Gemini-3"}, (True, False)),
        ({"model": "gemini"}, (True, False)),
        ({"model": "x:gemini.flash"}, (True, False)),
        ({"model": "geminium"}, (False, False)),
        ({"model": "my-gemini"}, (False, False)),
        ({"provider": "anthropic", "model": "gemini"}, (False, False)),
        ({"compat": ModelCompat(profile="gemini")}, (True, False)),
        ({}, (False, False)),
    ],
)
def test_gemini_is_known_by_provider_model_or_profile(options: dict[str, Any], cleaned: tuple[bool, bool]) -> None:
    schema = {"type": "string", "format": "uri"}
    releases = ("2026.9", "2026.2")
    assert tuple("format" not in property_sent(schema, release=each, **options) for each in releases) == cleaned


# --- Gemini ---


@pytest.mark.parametrize("release", tables.RELEASES)
def test_every_keyword_of_the_table_goes_at_every_depth(release: str) -> None:
    for keyword in tables.RELEASES[release].gemini_removed - {"$ref"}:
        place = {"type": "string", keyword: 1}
        schema = {"type": "array", "items": {"type": "object", "properties": {keyword: place}, "allOf": [place]}}
        item = clean_for_gemini(schema, release=release).schema["items"]
        assert item == {"type": "object", "properties": {keyword: {"type": "string"}}, "allOf": [{"type": "string"}]}


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        ([1, 1.0, "1", True, None, {"a": 1}, [2]], ["1", "true"]),
        (
            [0.1, 1e21, 1e-7, 123456789012345680000, -0.0, 1.5e300],
            ["0.1", "1e+21", "1e-7", "123456789012345680000", "0", "1.5e+300"],
        ),
        ([None, {}], None),
        ([], None),
        ("text", None),
    ],
)
def test_values_become_texts_as_javascript_writes_them(given: Any, texts: list[str] | None) -> None:
    cleaned = clean_for_gemini({"type": "string", "enum": given}).schema
    assert cleaned == ({"type": "string", "enum": texts} if texts else {"type": "string"})
    assert clean_for_gemini({"enum": given}, release="2026.2").schema == {"enum": given}


def test_required_names_must_be_properties_where_an_object_is_described() -> None:
    def clean(schema: dict[str, Any]) -> Any:
        return clean_for_gemini(schema).schema

    assert clean({"properties": {"a": {}}, "required": ["a", "b", 1]}) == {"properties": {"a": {}}, "required": ["a"]}
    assert clean({"properties": {"a": {}}, "required": ["b"]}) == {"properties": {"a": {}}}
    assert clean({"type": "object", "required": ["a"]}) == {"type": "object"}
    assert clean({"required": ["a"]}) == {"required": ["a"]}
    assert clean({"required": []}) == {}
    assert clean({"required": "a"}) == {"required": "a"}


@pytest.mark.parametrize(
    ("union", "expected"),
    [
        ([{"type": "integer", "minimum": 1}, {"type": "null"}], {"type": "integer"}),
        ([{"const": "a", "type": "string"}, {"enum": ["b"], "type": "string"}], {"type": "string", "enum": ["a", "b"]}),
        ([{"const": "a", "type": "string"}, {"const": 1, "type": "integer"}], {"type": "string"}),
        ([{"type": "string"}, {"minLength": 1}], {"type": "string"}),
        ([{"minLength": 1}, {"type": "string"}, {"type": "number"}], {}),
        ([{"type": "array", "items": {"type": "string"}}], {"type": "array", "items": {"type": "string"}}),
        ([{"type": "string"}, {"type": "null"}, {"type": "number"}], {"type": "string"}),
        ([{"type": "null"}], {"anyOf": []}),
        (["text", 3], {"anyOf": ["text", 3]}),
        ([True, {"type": "null"}], True),
    ],
)
def test_unions_come_down_to_what_gemini_can_say(union: list[Any], expected: Any) -> None:
    assert clean_for_gemini({"anyOf": union}).schema == expected


def test_a_union_keeps_only_annotations_of_its_place() -> None:
    schema = {
        "type": "object",
        "title": "t",
        "properties": {"a": {}},
        "oneOf": [{"type": "string"}, {"type": "number"}],
    }
    assert clean_for_gemini(schema).schema == {"type": "string", "title": "t"}


# --- what models refuse ---


def test_keywords_a_model_refuses_go_wherever_schemas_stand() -> None:
    compat = read_compat({"unsupportedToolSchemaKeywords": [" pattern ", "", 5, "properties"]})
    assert compat.unsupported == {"pattern", "properties"}
    compat = ModelCompat(unsupported=frozenset({"pattern"}))
    place = {"pattern": "x"}
    schema = {
        "properties": {"pattern": place},
        "dependencies": {"pattern": place},
        "unevaluatedItems": place,
        "x": place,
    }
    assert property_sent(schema, compat=compat) == {
        "properties": {"pattern": {}},
        "dependencies": {"pattern": {}},
        "unevaluatedItems": {},
        "x": place,
    }
    assert property_sent(schema, compat=compat, release="2026.2") == schema


def test_a_grammar_has_no_expressions_and_no_long_repetitions() -> None:
    compat = read_compat({"toolSchemaProfile": " LlamaCpp "})
    schema = {"pattern": "x", "maxLength": 2000, "anyOf": [{"maxLength": 1999}, {"maxLength": "2000"}]}
    assert property_sent(schema, compat=compat) == {"anyOf": [{"maxLength": 1999}, {"maxLength": "2000"}]}


def test_a_block_of_settings_that_makes_no_sense_means_nothing() -> None:
    wrong = {"toolSchemaProfile": 5, "unsupportedToolSchemaKeywords": "pattern", "omitEmptyArrayItems": 1}
    assert read_compat(wrong) == read_compat(None) == read_compat([1]) == ModelCompat()


@pytest.mark.parametrize(
    ("kinds", "kept"), [([{}, ["string"]], None), ([{}, "null", "integer"], "integer"), (["null", 5], None)]
)
def test_several_types_of_which_some_are_none_leave_gemini_the_first_that_is_one(kinds: Any, kept: str | None) -> None:
    fitted = normalize_schema({"type": "object", "properties": {"p": {"type": kinds}}}, family=Family.GEMINI)

    assert fitted.schema["properties"]["p"].get("type") == kept
    assert fitted.changes
