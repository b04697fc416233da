"""Mistakes: the same places and keywords as the reference, codes that stay, paths that can be read back."""

from collections import deque
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.firewall.tools.injection import FACTS
from apps.firewall.tools.mistakes import RULES, STEPS, in_order, keyword_of, model_error, path_steps, path_text, pointer
from apps.firewall.tools.parameters import check_params
from apps.firewall.tools.validators import errors_of, validator_of
from tests.firewall.tools.random_schemas import PARAMS, ROOTS

PATHS = st.lists(
    st.integers(0, 99) | st.text(max_size=4) | st.sampled_from(["a.b", "[0]", '"', "", "名", "a"]), max_size=5
)


@given(PATHS)
def test_a_path_can_be_read_back(path: list[str | int]) -> None:
    assert path_steps(path_text(path)) == path


def test_a_plain_path_is_plain() -> None:
    assert path_text(["edits", 0, "new text"]) == "edits[0].new text"
    assert path_text([]) == ""


def test_a_name_that_nobody_would_give_is_cut() -> None:
    assert len(path_text(["x" * 10_000])) < 300


def test_a_model_gets_json_pointers() -> None:
    problem = {"path": path_text(["a/b", 0, "c~d"]), "code": "type_mismatch", "message": "…"}

    assert pointer(["a/b", 0, "c~d"]) == "/a~1b/0/c~0d"
    assert model_error([problem]) == {
        "error": "parameter_validation_failed",
        "details": [{"path": "/a~1b/0/c~0d", "code": "type_mismatch", "message": "…"}],
    }


CODES = {
    "required": "required_field_missing",
    "additionalProperties": "unknown_field",
    "type": "type_mismatch",
    "minLength": "min_length_violation",
    "maxLength": "max_length_violation",
    "pattern": "pattern_mismatch",
    "minimum": "minimum_violation",
    "maximum": "maximum_violation",
    "enum": "enum_mismatch",
    "minItems": "min_items_violation",
    "maxItems": "max_items_violation",
    "format": "invalid_format",
}


def test_the_codes_that_agents_go_by_stay() -> None:
    assert {keyword: RULES[keyword].code for keyword in CODES} == CODES
    assert {rule.step for rule in RULES.values()} == set(STEPS)


def test_the_page_on_tools_names_every_code_and_every_fact() -> None:
    page = (Path(__file__).parents[3] / "docs" / "tools.md").read_text(encoding="utf-8")

    named = [*(f"`{rule.code}`" for rule in RULES.values()), *(f"`{fact}`" for fact in FACTS)]
    assert [each for each in [*named, *(f"| {step} |" for step in STEPS)] if each not in page] == []


def test_mistakes_of_one_place_come_in_the_order_of_the_steps() -> None:
    mistakes = [
        {"path": "a", "code": code, "message": ""} for code in ("invalid_format", "enum_mismatch", "type_mismatch")
    ]

    assert [each["code"] for each in in_order([*mistakes, mistakes[0]])] == [
        "type_mismatch",
        "enum_mismatch",
        "invalid_format",
    ]


@pytest.mark.parametrize(
    ("schema", "value", "code"),
    [
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "dependent_field_missing"),
        ({"properties": {"b": False}}, {"b": 1}, "not_allowed"),
        ({"properties": {"b": {"contains": {"const": 1}, "minContains": 2}}}, {"b": [1]}, "min_contains_violation"),
        ({"properties": {"b": {"contains": {"const": 1}, "maxContains": 1}}}, {"b": [1, 1]}, "max_contains_violation"),
        ({"properties": {"b": {"prefixItems": [True], "unevaluatedItems": False}}}, {"b": [1, 2]}, "unexpected_items"),
        ({"unevaluatedProperties": False}, {"b": 1}, "unknown_field"),
    ],
)
def test_the_rarer_keywords_have_codes_of_their_own(schema: dict[str, Any], value: Any, code: str) -> None:
    (problem,) = check_params(schema, value)

    assert (problem["path"], problem["code"]) == ("b", code)


def test_values_are_not_shown_where_a_name_says_that_they_are_secret() -> None:
    schema = {"properties": {"password": {"type": "integer"}, "name": {"type": "integer"}}}

    hidden, plain = (check_params(schema, {name: "hunter2"})[0]["message"] for name in ("password", "name"))

    assert hidden == "`password` must be integer, got a value that is not shown"
    assert plain == '`name` must be integer, got "hunter2"'


RENAMED = {"minContains": "contains"}
# The reference reports these at another place, or under the name of the keyword inside.
APART = {"falseSchema", "items", "propertyNames", None}


def ours(schema: dict[str, Any], params: dict[str, Any]) -> set[tuple[tuple[Any, ...], Any]]:
    found = errors_of(validator_of(schema), params, limit=1_000)
    return {(tuple(error.instance_path), keyword_of(error)) for error in found}


def the_references(schema: dict[str, Any], params: dict[str, Any]) -> set[tuple[tuple[Any, ...], Any]]:
    found = jsonschema.Draft202012Validator(schema).iter_errors(params)
    return {(tuple(deque(error.absolute_path)), error.validator) for error in found}


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ROOTS, PARAMS)
def test_places_and_keywords_are_those_of_the_reference(schema: dict[str, Any], params: dict[str, Any]) -> None:
    own, reference = ours(schema, params), the_references(schema, params)

    assert {each for each in own if each[1] not in APART} == {each for each in reference if each[1] not in APART}
