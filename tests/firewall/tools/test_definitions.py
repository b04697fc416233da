"""Definitions are read whole or refused with every mistake, however hostile, and in time."""

import time
from typing import Any

import pytest

from apps.firewall.tools.definition_json import DefinitionInvalidError, definition_json, read_definition


def document(**prop: Any) -> dict[str, Any]:
    return {"name": "get_x", "parameters": {"type": "object", "properties": {"a": {"type": "string", **prop}}}}


def problems(given: Any) -> list[tuple[str, str]]:
    with pytest.raises(DefinitionInvalidError) as caught:
        read_definition(given)
    return [(each["path"], each["code"]) for each in caught.value.details]


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "^(.*,)*x$", "([a-z]+)*", "(x+x+)+y", "([а-я]+)+$"])
def test_an_expression_that_can_take_years_is_refused_with_its_place(pattern: str) -> None:
    assert problems(document(pattern=pattern)) == [("parameters.properties.a.pattern", "pattern_refused")]
    nested = {"type": "array", "items": {"type": "object", "patternProperties": {pattern: {}}}}
    assert problems({"name": "get_x", "parameters": {"type": "object", "properties": {"a": nested}}}) == [
        ("parameters.properties.a.items.pattern", "pattern_refused")
    ]


@pytest.mark.parametrize(
    "pattern", [r"^[a-z0-9]+(?:-[a-z0-9]+)*$", r"^\p{L}+$", r"^(\d{1,3}\.){3}\d{1,3}$", r"^[^@\s]+@[^@\s]+$", "^$"]
)
def test_usual_expressions_are_taken(pattern: str) -> None:
    definition = read_definition(document(pattern=pattern))

    assert read_definition(definition_json(definition)) == definition


@pytest.mark.parametrize("pattern", ["[", "(?=a)b", r"(a)\1"])
def test_an_expression_that_cannot_be_searched_is_refused(pattern: str) -> None:
    ((path, code),) = problems(document(pattern=pattern))

    assert path.startswith("parameters")
    assert code in {"bad_schema", "pattern_refused"}


def test_a_property_may_have_any_name_and_hides_nothing() -> None:
    inner = {"type": "object", "properties": {"default": {"type": "string", "pattern": "(a+)+$"}, "pattern": {}}}

    assert problems({"name": "get_x", "parameters": inner}) == [
        ("parameters.properties.default.pattern", "pattern_refused")
    ]


def test_what_looks_like_a_pattern_in_a_value_is_none() -> None:
    assert read_definition(document(enum=["x"], default="x", examples=[{"pattern": "(a+)+$"}]))


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"properties": {"a": {"type": "strin"}}}, "`properties.a.type` names no type of JSON Schema"),
        ({"properties": {"a": {"minLength": -1}}}, "`properties.a.minLength`: -1 is less than"),
        ({"properties": {"type": 3}}, '`properties.type`: 3 is not of types "boolean", "object"'),
    ],
)
def test_a_mistake_in_a_schema_is_told_with_its_place(schema: dict[str, Any], said: str) -> None:
    with pytest.raises(DefinitionInvalidError) as caught:
        read_definition({"name": "lamp_set", "parameters": {"type": "object", **schema}})
    (detail,) = caught.value.details
    assert detail["path"] == "parameters"
    assert said in detail["message"]


@pytest.mark.parametrize(
    "hostile",
    [
        {"type": "object", "properties": {f"p{number}": {"pattern": "(a+)+$"} for number in range(60_000)}},
        {"type": "object", "description": "x" * 5_000_000},
        {"type": "object", "properties": {"a": {"pattern": "(" * 5_000 + ")" * 5_000}}},
        {"type": "object", "required": ["a"] * 2},
    ],
    ids=["many patterns", "five megabytes", "deep expression", "against the rules"],
)
def test_a_hostile_schema_is_refused_in_time(hostile: dict[str, Any]) -> None:
    started = time.monotonic()

    assert problems({"name": "get_x", "parameters": hostile})

    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    "members", [{"catalog_mode": "direct_only"}, {"catalogMode": "direct_only"}, {"catalogMode": "direct-only"}]
)
def test_a_tool_that_stays_visible_says_so(members: dict[str, str]) -> None:
    definition = read_definition({**document(), **members})

    assert definition_json(definition)["catalog_mode"] == "direct_only"
    assert read_definition(definition_json(definition)) == definition


def test_what_tool_search_may_hide_is_the_definition_that_it_was() -> None:
    plain, stated = read_definition(document()), read_definition({**document(), "catalog_mode": "searchable"})

    assert stated.digest == plain.digest
    assert "catalog_mode" not in definition_json(stated)


def test_a_way_to_be_listed_that_nobody_knows_is_refused() -> None:
    assert problems({**document(), "catalog_mode": "hidden"}) == [("catalog_mode", "bad_type")]
