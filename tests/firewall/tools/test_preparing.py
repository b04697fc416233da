"""Params made ready for their tool: what is coerced, filled, dropped and refused, and what is never touched."""

import json
from copy import deepcopy
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from apps.firewall.tools.definition import Definition
from apps.firewall.tools.injection import offered_schema
from apps.firewall.tools.parameters import (
    Prepared,
    SchemaError,
    model_error,
    needs_folders,
    prepare_params,
    sensitive_of,
)
from tests.firewall.tools.random_schemas import FILLED, PARAMS, ROOTS

FEW = settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
MANY = settings(FEW, max_examples=1_500)


def tool(
    properties: dict[str, Any], *, name: str = "tool_try", schema: dict[str, Any] | None = None, **more: Any
) -> Definition:
    return Definition(name=name, parameters={"type": "object", "properties": properties, **(schema or {})}, **more)


def prepared(definition: Definition, **params: Any) -> Prepared:
    return prepare_params(definition, params)


def places(found: list[dict[str, str]]) -> list[tuple[str, str]]:
    return [(each["path"], each["code"]) for each in found]


TABLE: list[tuple[Any, dict[str, Any], Any]] = [
    ("123", {"type": "integer"}, 123),
    ("3.14", {"type": "number"}, 3.14),
    (123, {"type": "string"}, "123"),
    ("true", {"type": "boolean"}, True),
    ("false", {"type": "boolean"}, False),
    ("yes", {"type": "boolean"}, True),
    ("no", {"type": "boolean"}, False),
    ("1", {"type": "boolean"}, True),
    ("0", {"type": "boolean"}, False),
    (1, {"type": "boolean"}, True),
    (0, {"type": "boolean"}, False),
    ("a,b,c", {"type": "array"}, ["a", "b", "c"]),
    ("item1;item2", {"type": "array"}, ["item1", "item2"]),
    ('["a", 1]', {"type": "array"}, ["a", 1]),
    ('{"a": {"b": 1}}', {"type": "object"}, {"a": {"b": 1}}),
]


@pytest.mark.parametrize(
    ("sent", "schema", "expected"), TABLE, ids=[f"{row[0]!r} to {row[1]['type']}" for row in TABLE]
)
def test_the_table_of_conversions_holds(sent: Any, schema: dict[str, Any], expected: Any) -> None:
    answer = prepared(tool({"it": schema}), it=sent)

    assert (answer.params, answer.warnings, answer.problems) == ({"it": expected}, [], [])
    assert type(answer.params["it"]) is type(expected)


def test_both_mistakes_of_one_call_are_told_to_the_model() -> None:
    definition = tool({"email": {"type": "string", "format": "email"}, "age": {"type": "integer", "maximum": 150}})

    answer = model_error(prepared(definition, email="test@", age=200).problems)

    assert answer["error"] == "parameter_validation_failed"
    assert [(each["path"], each["code"]) for each in answer["details"]] == [
        ("/age", "maximum_violation"),
        ("/email", "invalid_format"),
    ]
    assert all(word in answer["details"][0]["message"] for word in ("200", "150"))
    assert "test@" in answer["details"][1]["message"]


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        ("3.7", "integer"),
        (3.7, "integer"),
        ("0x10", "integer"),
        ("1_000", "integer"),
        ("９", "integer"),
        ("", "integer"),
        (True, "integer"),
        ("1e999999999", "integer"),
        ("9" * 5000, "integer"),
        ("NaN", "number"),
        ("Infinity", "number"),
        ("1e400", "number"),
        ("0.1000000000000000055511151231257827", "number"),
        ("maybe", "boolean"),
        (2, "boolean"),
        (True, "string"),
        (["a"], "string"),
        ("one", "array"),
        ("", "array"),
        ("[1, 2", "array"),
        ('{"a": 1, "a": 2}', "object"),
        ('{"a": NaN}', "object"),
        ('{"a": 0.10000000000000000001}', "object"),
        ('{"a": "\\ud800"}', "object"),
        ("[1]", "object"),
        ("[" * 5000 + "]" * 5000, "array"),
        ("null", "null"),
    ],
)
def test_what_would_lose_something_is_refused(sent: Any, kind: str) -> None:
    answer = prepared(tool({"it": {"type": kind}}), it=sent)

    assert places(answer.problems) == [("it", "type_mismatch")]
    assert answer.params == {"it": sent}


def test_every_level_is_coerced() -> None:
    item = {"type": "object", "properties": {"n": {"type": "integer"}, "on": {"type": "boolean"}}}
    definition = tool(
        {
            "ids": {"type": "array", "items": {"type": "integer"}},
            "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "boolean"}]},
            "rows": {"type": "array", "items": item},
            "more": {"type": "object", "additionalProperties": {"type": "number"}},
            "filter": {"$ref": "#/$defs/filter"},
        },
        schema={"$defs": {"filter": {"type": "object", "properties": {"since": {"type": "integer"}, "in": item}}}},
    )

    answer = prepared(
        definition,
        ids="1, 2",
        pair=["7", "no"],
        rows='[{"n": "1", "on": "yes"}, {"n": 2}]',
        more={"x": "0.5"},
        filter='{"since": "3", "in": {"n": "4"}}',
    )

    assert answer.problems == []
    assert answer.params == {
        "ids": [1, 2],
        "pair": [7, False],
        "rows": [{"n": 1, "on": True}, {"n": 2}],
        "more": {"x": 0.5},
        "filter": {"since": 3, "in": {"n": 4}},
    }


@pytest.mark.parametrize(
    ("schema", "sent", "expected"),
    [
        ({"type": ["integer", "null"]}, "5", 5),
        ({"type": ["string", "integer"]}, "5", "5"),
        ({"type": ["integer", "boolean"]}, "1", 1),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "5", 5),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "5", "5"),
        ({"oneOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "integer"}}]}, "1,2", [1, 2]),
        ({"enum": [1, 2]}, "2", 2),
        ({"enum": ["1", "2"]}, 2, "2"),
        ({"const": True}, "yes", True),
        ({"allOf": [{"type": "integer"}, {"minimum": 3}]}, "5", 5),
        (
            {"anyOf": [{"properties": {"k": {"const": "a"}, "n": {"type": "integer"}}}]},
            {"k": "a", "n": "1"},
            {"k": "a", "n": 1},
        ),
    ],
)
def test_unions_take_the_form_that_fits(schema: dict[str, Any], sent: Any, expected: Any) -> None:
    answer = prepared(tool({"it": schema}), it=sent)

    assert answer.problems == []
    assert json.dumps(answer.params) == json.dumps({"it": expected})


def test_the_form_of_a_union_that_knows_all_fields_comes_before_one_that_drops_some() -> None:
    forms = [
        {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False},
        {"type": "object", "properties": {"b": {"type": "integer"}}, "additionalProperties": False},
    ]

    assert prepared(tool({"it": {"anyOf": forms}}), it={"b": "1"}) == ({"it": {"b": 1}}, [], [])
    dropped = prepared(tool({"it": {"anyOf": forms}}), it={"b": "1", "c": 1})
    assert dropped.params == {"it": {"b": 1}}
    assert places(dropped.warnings) == [("it.c", "unknown_field")]


def test_a_conversion_that_does_not_help_is_taken_back() -> None:
    answer = prepared(tool({"ids": {"type": "array", "items": {"type": "integer"}}}), ids="1,x")

    assert [problem["message"] for problem in answer.problems] == ['`ids` must be array, got "1,x"']


def test_a_converted_value_outside_its_limits_is_told_as_such() -> None:
    (problem,) = prepared(tool({"n": {"type": "integer", "maximum": 3}}), n="7").problems

    assert problem == {"path": "n", "code": "maximum_violation", "message": "`n` must be at most 3, got 7"}


@pytest.mark.parametrize(
    ("extra", "closed", "params", "warned", "refused"),
    [
        (None, False, {"q": "x", "z": 1}, [], []),
        (None, True, {"q": "x"}, [("z", "unknown_field")], []),
        ("keep", True, {"q": "x", "z": 1}, [], []),
        ("keep", False, {"q": "x", "z": 1}, [], []),
        ("drop", False, {"q": "x"}, [("z", "unknown_field")], []),
        ("drop", True, {"q": "x"}, [("z", "unknown_field")], []),
        ("refuse", False, {"q": "x", "z": 1}, [], [("z", "unknown_field")]),
        ("refuse", True, {"q": "x", "z": 1}, [], [("z", "unknown_field")]),
    ],
)
def test_params_that_a_tool_does_not_name_go_by_its_definition(
    extra: Any, closed: bool, params: dict[str, Any], warned: list[Any], refused: list[Any]
) -> None:
    schema = {"additionalProperties": False} if closed else {"additionalProperties": True}
    answer = prepared(tool({"q": {"type": "string"}}, schema=schema, extra_params=extra), q="x", z=1)

    assert (answer.params, places(answer.warnings), places(answer.problems)) == (params, warned, refused)


def test_a_wrong_type_does_not_make_a_field_unknown() -> None:
    schema = {"allOf": [{"properties": {"n": {"type": "integer"}}}], "unevaluatedProperties": False}

    answer = prepared(tool({}, schema=schema), n="5", z=1)

    assert answer.params == {"n": 5}
    assert places(answer.warnings) == [("z", "unknown_field")]


def test_defaults_are_filled_in_at_every_level_and_never_shared() -> None:
    inner = {"type": "object", "properties": {"size": {"type": "integer", "default": 3}}}
    definition = tool(
        {
            "limit": {"type": "integer", "default": 10},
            "tags": {"type": "array", "default": []},
            "one": inner,
            "many": {"type": "array", "items": inner},
            "ref": {"$ref": "#/$defs/size"},
        },
        schema={"$defs": {"size": {"type": "integer", "default": 7}}},
    )

    first = prepared(definition, one={}, many=[{}, {"size": 1}])
    first.params["tags"].append("x")
    second = prepared(definition, one='{"other": 1}')

    assert first.params == {
        "one": {"size": 3},
        "many": [{"size": 3}, {"size": 1}],
        "limit": 10,
        "tags": ["x"],
        "ref": 7,
    }
    assert second.params == {"one": {"other": 1, "size": 3}, "limit": 10, "tags": [], "ref": 7}


def test_defaults_that_would_make_a_call_invalid_stay_out() -> None:
    definition = tool({"a": {"type": "integer", "default": "wrong"}}, schema={"maxProperties": 1})

    assert prepared(definition, b=1) == ({"b": 1}, [], [])


def test_a_default_that_describes_itself_without_end_ends() -> None:
    node = {"type": "object", "default": {}, "properties": {"next": {"$ref": "#/$defs/node"}}}

    answer = prepared(tool({"first": {"$ref": "#/$defs/node"}}, schema={"$defs": {"node": node}}))

    assert answer.problems == []


def test_facts_of_the_caller_fill_their_params_whatever_was_sent() -> None:
    definition = tool(
        {"who": {"type": "string"}, "text": {"type": "string"}},
        schema={"required": ["who", "text"]},
        context_mappings={"who": "sender.id"},
    )

    answer = prepare_params(definition, {"who": "the owner", "text": "hi"}, facts={"sender.id": "1001"})
    unknown = prepare_params(definition, {"who": "the owner", "text": "hi"}, facts={})

    assert answer.params == {"who": "1001", "text": "hi"}
    assert places(answer.warnings) == [("who", "context_field_replaced")]
    assert places(unknown.problems) == [("who", "required_field_missing")]
    assert "`sender.id`" in unknown.problems[0]["message"]


def edit_tool(release: str) -> Definition:
    text = {"type": "string"}
    older = {"path": text, "oldText": text, "newText": text}
    edits = {"type": "array", "items": {"type": "object", "properties": {"oldText": text, "newText": text}}}
    return tool(older if release == "2026.2" else {"path": text, "edits": edits}, name="edit")


def test_the_older_release_takes_the_names_of_another_agent() -> None:
    sent = {"file_path": "a", "old_string": "x", "new_string": ""}

    answer = prepare_params(edit_tool("2026.2"), sent, release="2026.2")

    assert answer == ({"path": "a", "oldText": "x", "newText": ""}, [], [])


def test_the_older_release_shows_both_names_and_wants_neither() -> None:
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    read = Definition(name="read", parameters=parameters)

    older = offered_schema(read, release="2026.2")

    assert (list(older["properties"]), older["required"]) == (["path", "file_path"], [])
    assert offered_schema(read, release="2026.9") == parameters
    assert offered_schema(replace(read, name="read_page"), release="2026.2") == parameters


def test_the_newer_release_wants_edits_that_say_something() -> None:
    right = {"path": "a</arg_value>>", "edits": [{"oldText": "x", "newText": ""}]}
    wrong = {"path": "a", "edits": [{"oldText": " ", "newText": "y"}]}

    assert prepare_params(edit_tool("2026.9"), right).params == {**right, "path": "a"}
    assert places(prepare_params(edit_tool("2026.9"), wrong).problems) == [("edits", "required_field_missing")]


def test_another_tool_that_is_called_edit_keeps_its_own_names() -> None:
    definition = tool({"path": {"type": "string"}, "file_path": {"type": "string"}}, name="edit")

    assert prepare_params(definition, {"file_path": "a"}, release="2026.2").params == {"file_path": "a"}


def test_a_broken_schema_refuses_every_call() -> None:
    with pytest.raises(SchemaError):
        prepare_params(tool({"a": {"type": "nope"}}), {})


def test_a_schema_nested_beyond_reason_refuses_every_call() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"not": deep}

    for ask in (lambda each: prepare_params(each, {}), sensitive_of, needs_folders):
        with pytest.raises(SchemaError):
            ask(Definition(name="x", parameters=deep))


def test_half_a_character_is_refused_as_no_text() -> None:
    answer = prepared(tool({"a": {"type": "string", "pattern": "^x"}}), a="\ud800")

    assert places(answer.problems) == [("", "type_mismatch")]


def test_thousands_of_wrong_items_are_mended_or_told_in_time() -> None:
    definition = tool({"ids": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}})

    assert prepared(definition, ids=["1"] * 100).params == {"ids": [1] * 100}
    assert 1 <= len(prepared(definition, ids=["x"] * 3_000).problems) <= 100
    assert places(prepared(tool({"ids": {"type": "array"}}), ids="a," * 400_000).problems) == [("ids", "type_mismatch")]


def test_nested_unions_are_mended_to_the_ground_or_given_up_in_time() -> None:
    node = {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/n"}}]}
    definition = tool({"t": {"$ref": "#/$defs/n"}}, schema={"$defs": {"n": node}})
    sent: Any = "1"
    for _ in range(20):
        sent = [sent, "2"]

    assert prepared(definition, t=["1", ["2", ["3"]]]).params == {"t": [1, [2, [3]]]}
    assert places(prepared(definition, t=[sent, "x"]).problems) == [("t", "any_of_mismatch")]


def test_what_was_sent_is_not_changed() -> None:
    sent = {"a": {"b": "1", "z": [1]}, "c": "2"}
    kept = deepcopy(sent)
    inner = {"type": "object", "properties": {"b": {"type": "integer"}}, "additionalProperties": False}

    answer = prepare_params(tool({"a": inner, "c": {"type": "integer"}}), sent)

    assert answer.params == {"a": {"b": 1}, "c": 2}
    assert sent == kept


def is_valid(schema: dict[str, Any], value: Any) -> bool:
    return jsonschema.Draft202012Validator(schema).is_valid(value)


def check_output(schema: dict[str, Any], params: dict[str, Any]) -> None:
    """What comes out satisfies the schema, or is what was sent with its mistakes; what was sent stays as it is."""
    sent = deepcopy(params)

    answer = prepare_params(Definition(name="x", parameters=schema), params)

    assert params == sent
    assert answer.problems != [] or is_valid(schema, answer.params)
    assert answer.problems == [] or answer.params == sent


def check_valid_call(schema: dict[str, Any], params: dict[str, Any]) -> None:
    """A valid call is not changed."""
    answer = prepare_params(Definition(name="x", parameters=schema), params)

    if is_valid(schema, params):
        assert json.dumps(answer.params) == json.dumps(params)
        assert answer.problems == answer.warnings == []


def check_repetition(schema: dict[str, Any], params: dict[str, Any]) -> None:
    """Preparing what was prepared changes nothing."""
    definition = Definition(name="x", parameters=schema)
    once = prepare_params(definition, params)
    if not once.problems:
        again = prepare_params(definition, once.params)
        assert json.dumps(again.params) == json.dumps(once.params)
        assert again.warnings == again.problems == []


def check_valid_parts(schema: dict[str, Any], params: dict[str, Any]) -> None:
    """A valid param beside wrong ones is not changed."""
    schema = {name: part for name, part in schema.items() if name != "additionalProperties"}
    answer = prepare_params(Definition(name="x", parameters=schema), params)

    for name, value in answer.params.items():
        part = schema["properties"].get(name, True)
        if is_valid({"$defs": schema["$defs"], "allOf": [part]}, params[name]):
            assert json.dumps(value) == json.dumps(params[name])


CHECKS = [check_output, check_valid_call, check_repetition, check_valid_parts]


@pytest.mark.unhurried
@pytest.mark.parametrize("check", CHECKS, ids=[check.__name__ for check in CHECKS])
@FEW
@given(schema=ROOTS, params=PARAMS)
@pytest.mark.slow
def test_of_any_schema_and_any_params(check: Any, schema: dict[str, Any], params: dict[str, Any]) -> None:
    check(schema, params)


@pytest.mark.unhurried
@pytest.mark.parametrize("check", [check_output, check_repetition], ids=["output", "repetition"])
@FEW
@given(schema=FILLED, params=PARAMS)
def test_of_any_schema_with_defaults(check: Any, schema: dict[str, Any], params: dict[str, Any]) -> None:
    check(schema, params)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=[check.__name__ for check in CHECKS])
@MANY
@given(schema=ROOTS, params=PARAMS)
def test_of_thousands_of_schemas_and_params(check: Any, schema: dict[str, Any], params: dict[str, Any]) -> None:
    check(schema, params)
