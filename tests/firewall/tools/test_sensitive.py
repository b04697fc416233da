"""Which params may be shown nowhere."""

from typing import Any

import pytest

from apps.firewall.redaction import mask_value
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.injection import offered_schema
from apps.firewall.tools.parameters import prepare_params, sensitive_of
from apps.firewall.tools.sensitive import sent_places

SECRET = {"type": "string", "sensitive": True}


def tool(properties: dict[str, Any], *, sensitive: tuple[str, ...] = (), **schema: Any) -> Definition:
    return Definition(
        name="try", parameters={"type": "object", "properties": properties, **schema}, sensitive=sensitive
    )


@pytest.mark.parametrize(
    ("properties", "schema", "places"),
    [
        ({"code": SECRET}, {}, ("code",)),
        ({"code": {"type": "string"}}, {}, ()),
        ({"auth": {"properties": {"code": SECRET, "user": {}}}}, {}, ("auth.code",)),
        ({"codes": {"type": "array", "items": SECRET}}, {}, ("codes",)),
        ({"rows": {"items": {"properties": {"code": SECRET}}}}, {}, ("rows.code",)),
        ({"code": {"$ref": "#/$defs/code"}}, {"$defs": {"code": SECRET}}, ("code",)),
        ({"code": {"anyOf": [SECRET, {"type": "null"}]}}, {}, ("code",)),
        ({"codes": {"additionalProperties": SECRET}}, {}, ("codes",)),
        ({}, {"allOf": [{"properties": {"code": SECRET}}]}, ("code",)),
        ({}, {"if": {}, "then": {"properties": {"code": SECRET}}}, ("code",)),
        ({"tree": {"$ref": "#/$defs/t"}}, {"$defs": {"t": {"properties": {"of": {"$ref": "#/$defs/t"}}}}}, ()),
    ],
)
def test_what_a_schema_marks_is_found(properties: Any, schema: Any, places: tuple[str, ...]) -> None:
    assert sensitive_of(tool(properties, **schema)) == places


def test_a_schema_that_refers_to_itself_is_walked_to_an_end() -> None:
    node = {"properties": {"code": SECRET, "left": {"$ref": "#/$defs/n"}, "right": {"$ref": "#/$defs/n"}}}

    schema: dict[str, Any] = {"$defs": {"n": node}}

    places = sensitive_of(tool({"root": {"$ref": "#/$defs/n"}}, **schema))

    assert {"root.code", "root.left.code", "root.right.left.code"} <= set(places)


def test_names_that_the_definition_lists_are_in_it_too() -> None:
    assert sensitive_of(tool({"code": SECRET}, sensitive=("note", "code"))) == ("note", "code")


def test_the_masker_takes_exactly_the_marked_values() -> None:
    definition = tool({"rows": {"items": {"properties": {"code": SECRET}}}, "code": {"type": "string"}})
    params = {"rows": [{"code": "1234", "user": "ann"}], "code": "free"}

    masked = mask_value(params, key=b"k", sensitive_fields=sensitive_of(definition)).value

    assert masked["code"] == "free"
    assert masked["rows"][0]["user"] == "ann"
    assert "1234" not in str(masked)


def test_a_text_that_stands_for_an_object_is_masked_as_a_whole() -> None:
    sent = {"auth": '{"code": "1234", "user": 5', "other": "x"}

    assert sent_places(("auth.code",), sent) == ("auth.code", "auth")
    assert sent_places(("auth.code",), {"auth": {"code": "1"}}) == ("auth.code",)


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        (SECRET | {"maxLength": 3}, "1234567"),
        (SECRET | {"enum": ["a"]}, "1234567"),
        ({"type": "object", "properties": {"code": SECRET}}, '{"code": "1234567'),
        ({"type": "object", "properties": {"code": {"type": "integer", "sensitive": True}}}, {"code": "1234567x"}),
        ({"type": "array", "items": SECRET | {"pattern": "^a"}}, ["1234567"]),
    ],
)
def test_no_mistake_shows_a_sensitive_value(schema: dict[str, Any], sent: Any) -> None:
    problems = prepare_params(tool({"it": schema}), {"it": sent}).problems

    assert problems != []
    assert "1234567" not in str(problems)


def test_a_model_is_not_shown_what_the_callers_facts_fill() -> None:
    parameters = {"type": "object", "properties": {"who": {}, "text": {}}, "required": ["who", "text"]}
    definition = Definition(name="try", parameters=parameters, context_mappings={"who": "sender.id"})

    assert offered_schema(definition) == {"type": "object", "properties": {"text": {}}, "required": ["text"]}
    assert offered_schema(Definition(name="try", parameters=parameters)) == parameters
