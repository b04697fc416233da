"""Parameters against a schema: our codes, all mistakes at once, the same verdicts as the reference."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.tools.catalog import BUILTINS
from apps.firewall.tools.definition import schema_digest
from apps.firewall.tools.parameters import SchemaError, check_params

CASES: list[tuple[dict[str, Any], Any, str]] = [
    ({"type": "integer"}, "1", "type_mismatch"),
    ({"enum": ["a", "b"]}, "c", "enum_mismatch"),
    ({"const": 1}, 2, "const_mismatch"),
    ({"minLength": 2}, "a", "min_length_violation"),
    ({"maxLength": 2}, "abc", "max_length_violation"),
    ({"pattern": "^x"}, "y", "pattern_mismatch"),
    ({"format": "date"}, "tomorrow", "invalid_format"),
    ({"minimum": 3}, 2, "minimum_violation"),
    ({"maximum": 3}, 4, "maximum_violation"),
    ({"exclusiveMinimum": 3}, 3, "exclusive_minimum_violation"),
    ({"exclusiveMaximum": 3}, 3, "exclusive_maximum_violation"),
    ({"multipleOf": 2}, 3, "multiple_of_violation"),
    ({"minItems": 1}, [], "min_items_violation"),
    ({"maxItems": 1}, [1, 2], "max_items_violation"),
    ({"uniqueItems": True}, [1, 1], "unique_items_violation"),
    ({"contains": {"const": 1}}, [2], "contains_violation"),
    ({"minProperties": 1}, {}, "min_properties_violation"),
    ({"maxProperties": 0}, {"a": 1}, "max_properties_violation"),
    ({"propertyNames": {"maxLength": 1}}, {"ab": 1}, "property_name_violation"),
    ({"anyOf": [{"type": "integer"}, {"maxLength": 1}]}, "ab", "any_of_mismatch"),
    ({"oneOf": [{}, {}]}, 1, "one_of_mismatch"),
    ({"not": {}}, 1, "not_violation"),
]


@pytest.mark.parametrize(("schema", "value", "code"), CASES, ids=[case[2] for case in CASES])
def test_every_keyword_has_its_code_and_names_the_place(schema: dict[str, Any], value: Any, code: str) -> None:
    problems = check_params({"type": "object", "properties": {"it": schema}}, {"it": value})

    assert [(problem["path"], problem["code"]) for problem in problems] == [("it", code)]
    assert problems[0]["message"].startswith("`it` ")


def test_all_mistakes_come_at_once_and_in_order() -> None:
    problems = check_params(BUILTINS["read"].definition.parameters, {"offset": 0, "limit": "many", "file": "a"})

    assert [(problem["path"], problem["code"]) for problem in problems] == [
        ("file", "unknown_field"),
        ("limit", "type_mismatch"),
        ("offset", "minimum_violation"),
        ("path", "required_field_missing"),
    ]


def test_a_nested_place_is_written_as_a_path() -> None:
    schema = {"properties": {"edits": {"items": {"required": ["text"], "properties": {"n": {"type": "integer"}}}}}}

    problems = check_params(schema, {"edits": [{"text": "a"}, {"n": "x"}]})

    assert [problem["path"] for problem in problems] == ["edits[1].n", "edits[1].text"]


def test_a_long_value_is_cut_in_the_message() -> None:
    (problem,) = check_params({"properties": {"a": {"type": "integer"}}}, {"a": "x" * 10_000})

    assert len(problem["message"]) < 200


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nope"},
        {"$ref": "http://127.0.0.1:9/elsewhere"},
        {"properties": {"a": {"pattern": "(?=look)"}}},
        {"properties": {"a": {"pattern": "("}}},
    ],
)
def test_a_broken_schema_refuses_instead_of_passing(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        check_params(schema, {"a": "b"})


def test_a_hostile_pattern_costs_no_time() -> None:
    assert check_params({"properties": {"a": {"pattern": "^(a+)+$"}}}, {"a": "a" * 5000 + "b"})


def test_reordered_keys_are_the_same_schema() -> None:
    assert schema_digest({"a": 1, "b": {"c": 2, "d": 3}}) == schema_digest({"b": {"d": 3, "c": 2}, "a": 1})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 100_001) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)
NAMES = st.sampled_from(["path", "offset", "limit", "content", "command", "workdir", "timeout", "other"])


@given(st.sampled_from(sorted(BUILTINS)), st.dictionaries(NAMES, VALUES, max_size=4))
def test_the_verdict_equals_the_reference(tool: str, params: dict[str, Any]) -> None:
    schema = BUILTINS[tool].definition.parameters

    is_valid = jsonschema.Draft202012Validator(dict(schema)).is_valid(params)

    assert (check_params(schema, params) == []) is is_valid


@pytest.mark.parametrize("name", sorted(BUILTINS))
def test_every_builtin_describes_itself_and_all_its_parameters(name: str) -> None:
    definition = BUILTINS[name].definition

    jsonschema.Draft202012Validator.check_schema(dict(definition.parameters))
    assert definition.description
    assert all(part["description"] for part in definition.parameters["properties"].values())
