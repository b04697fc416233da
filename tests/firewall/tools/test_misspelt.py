"""Misspelt params are answered with the name that was probably meant, wherever they stand."""

from typing import Any

import pytest

from apps.firewall.tools.definition import Definition, ExtraParams
from apps.firewall.tools.misspelt import names_at
from apps.firewall.tools.parameters import check_params, prepare_params

TEXT = {"type": "string"}
STEP = {"type": "object", "properties": {"action": TEXT, "seconds": {"type": "integer"}}, "additionalProperties": False}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "recipient": TEXT,
        "subject": TEXT,
        "options": {"$ref": "#/$defs/options"},
        "steps": {"type": "array", "items": STEP},
        "target": {"anyOf": [STEP, TEXT]},
    },
    "required": ["recipient"],
    "additionalProperties": False,
    "$defs": {
        "options": {"type": "object", "properties": {"priority": TEXT}, "additionalProperties": False},
    },
}


def told(params: dict[str, Any], *, extra: ExtraParams | None = "refuse", **members: Any) -> dict[str, str]:
    prepared = prepare_params(Definition(name="mail_send", parameters=SCHEMA, extra_params=extra, **members), params)
    return {each["path"]: each["message"] for each in (*prepared.problems, *prepared.warnings)}


@pytest.mark.parametrize("extra", ["refuse", "drop", None])
@pytest.mark.parametrize(
    ("params", "path", "meant"),
    [
        ({"subjet": "x"}, "subjet", "subject"),
        ({"Subject": "x"}, "Subject", "subject"),
        ({"options": {"prioritty": "x"}}, "options.prioritty", "priority"),
        ({"steps": [{"action": "a"}, {"second": 1}]}, "steps[1].second", "seconds"),
    ],
)
def test_an_unknown_name_comes_with_the_known_one(
    params: dict[str, Any], path: str, meant: str, extra: ExtraParams | None
) -> None:
    message = told({"recipient": "a", **params}, extra=extra)[path]

    assert message.endswith(f"; did you mean `{meant}`?")


def test_a_name_that_resembles_none_comes_without() -> None:
    assert told({"recipient": "a", "zzz": 1})["zzz"] == "`zzz` is not a parameter of this tool"


def test_what_came_under_its_own_name_is_not_meant_by_another() -> None:
    assert "mean" not in told({"recipient": "a", "subject": "x", "subjet": "y"})["subjet"]


def test_a_missing_name_is_told_by_what_was_sent_where_the_schema_takes_any() -> None:
    assert told({"recepient": "a"}, extra="keep") == {
        "recipient": "`recipient` is required; did you mean it by `recepient`?"
    }
    assert told({"recepient": "a"}) == {
        "recepient": "`recepient` is not a parameter of this tool; did you mean `recipient`?",
        "recipient": "`recipient` is required",
    }


def test_a_param_that_models_are_not_shown_is_not_suggested() -> None:
    found = told({"recipient": "a", "subjct": "x"}, context_mappings={"subject": "sender.id"})

    assert found["subjct"] == "`subjct` is not a parameter of this tool"


def test_params_that_are_only_compared_are_answered_alike() -> None:
    (problem,) = check_params(SCHEMA, {"recipient": "a", "subjet": "x"})

    assert problem["message"] == "`subjet` is not a parameter of this tool; did you mean `subject`?"


def test_only_so_many_names_are_compared() -> None:
    found = told({"recipient": "a", **{f"subject{number}": 1 for number in range(80)}})

    assert sum("did you mean" in message for message in found.values()) == 20


def test_a_schema_that_leads_into_itself_comes_to_an_end() -> None:
    node: dict[str, Any] = {
        "type": "object",
        "properties": {"value": TEXT, "next": {"$ref": "#/$defs/node"}},
        "additionalProperties": False,
    }
    schema = {"type": "object", "properties": {"head": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}

    (problem,) = check_params(schema, {"head": {"next": {"next": {"valeu": "x"}}}})

    assert problem["path"] == "head.next.next.valeu"
    assert problem["message"].endswith("did you mean `value`?")


def test_forms_that_lead_into_each_other_come_to_an_end() -> None:
    twins = {"a": {"anyOf": [{"$ref": "#/$defs/b"}] * 3}, "b": {"anyOf": [{"$ref": "#/$defs/a"}] * 3}}

    assert names_at({"$ref": "#/$defs/a", "properties": {"city": TEXT}, "$defs": twins}, ()) == ["city"]
