"""Schemas out of signatures and docstrings, and arguments in the types that a signature names."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, NotRequired

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from apps.firewall.tools.authoring.docstrings import read_docstring
from apps.firewall.tools.authoring.errors import SignatureError, ToolError
from apps.firewall.tools.authoring.signature import Signature
from openclaw_admin.tools import ToolContext


class Unit(Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


class Place(BaseModel):
    city: str
    country: str = "CN"


class Window(TypedDict):
    start: date
    end: NotRequired[date]


@dataclass
class Point:
    x: float
    y: float = 0.0


def weather(
    place: Place,
    unit: Unit = Unit.METRIC,
    days: Annotated[int, Field(ge=1, le=14, description="How many.")] = 3,
    window: Window | None = None,
    at: Point | None = None,
    tags: list[str] = [],  # noqa: B006 - authors write this
    style: Literal["short", "long"] = "short",
    *,
    context: ToolContext,
) -> None:
    """Tell the weather.

    Args:
        place: where, by its name
            in English.
        unit (Unit): of temperatures
        days: is said by its annotation already

    Returns:
        place: nothing that belongs here
    """


def test_a_schema_says_what_the_signature_and_the_docstring_say() -> None:
    schema = Signature(weather).parameters

    jsonschema.Draft202012Validator.check_schema(schema)
    assert list(schema["properties"]) == ["place", "unit", "days", "window", "at", "tags", "style"]
    assert schema["required"] == ["place"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["place"]["description"] == "where, by its name in English."
    assert schema["properties"]["days"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 14,
        "default": 3,
        "description": "How many.",
    }
    assert schema["properties"]["style"] == {"type": "string", "enum": ["short", "long"], "default": "short"}
    assert schema["$defs"]["Place"]["required"] == ["city"]
    assert "anyOf" not in str(schema)
    assert "'title'" not in str(schema)


def test_marks_within_a_type_are_read_too() -> None:
    def rate(marks: list[Annotated[int, Field(ge=1)]], other: Annotated[str, Field(pattern="^a")] = "a") -> None: ...

    properties = Signature(rate).parameters["properties"]

    assert properties["marks"] == {"type": "array", "items": {"type": "integer", "minimum": 1}}
    assert properties["other"] == {"type": "string", "pattern": "^a", "default": "a"}


def test_a_parameter_named_title_keeps_its_place() -> None:
    def note(title: str, default: int | None = None) -> None: ...

    assert Signature(note).parameters["properties"] == {"title": {"type": "string"}, "default": {"type": "integer"}}


def test_arguments_come_in_the_types_of_the_signature() -> None:
    signature = Signature(weather)

    arguments = signature.arguments(
        {"place": {"city": "Xi'an"}, "window": {"start": "2026-09-01"}, "at": {"x": 1}, "unit": "imperial"}
    )

    assert arguments["place"] == Place(city="Xi'an")
    assert arguments["window"] == {"start": date(2026, 9, 1)}
    assert (arguments["at"], arguments["unit"], arguments["days"]) == (Point(1.0), Unit.IMPERIAL, 3)
    arguments["tags"].append("spoilt")
    assert signature.arguments({"place": {"city": "x"}})["tags"] == []


def test_arguments_that_do_not_fit_are_all_named() -> None:
    with pytest.raises(ToolError) as refusal:
        Signature(weather).arguments({"place": {}, "days": 99})

    assert refusal.value.code == "parameter_validation_failed"
    assert "place.city: Field required" in refusal.value.message
    assert "days: Input should be less than or equal to 14" in refusal.value.message
    with pytest.raises(ToolError, match="more: Extra inputs are not permitted"):
        Signature(weather).arguments({"place": {"city": "x"}, "more": 1})


def test_an_open_signature_takes_further_parameters() -> None:
    def anything(name: str, **rest: Any) -> None: ...

    signature = Signature(anything)

    assert signature.parameters["additionalProperties"] is True
    assert signature.arguments({"name": "x", "more": [1]}) == {"name": "x", "more": [1]}


@pytest.mark.parametrize("name", ["self", "json", "copy", "_private", "schema", "model_config", "params"])
def test_no_name_of_a_parameter_is_taken_by_us(name: str) -> None:
    function: dict[str, Any] = {}
    exec(f"def f({name}: int): ...", function)

    assert Signature(function["f"]).arguments({name: 1}) == {name: 1}


def _positional(a: int, /) -> None: ...
def _many(*values: int) -> None: ...
def _strange(handle: memoryview) -> None: ...
def _called(back: Callable[[int], int]) -> None: ...
def _unknown(x: "NotThere") -> None: ...  # type: ignore[name-defined] # noqa: F821


@pytest.mark.parametrize("function", [_positional, _many, _strange, _called, _unknown])
def test_what_no_json_can_fill_is_refused_by_name(function: Callable[..., Any]) -> None:
    with pytest.raises(SignatureError, match=function.__name__):
        Signature(function)


DOCSTRINGS = [
    ("Say it.", "Say it.", ""),
    (
        "Say it.\n\nMore.\n\nArgs:\n    a: one\n    b (int): two\n        lines",
        "Say it.\n\nMore.",
        "a: one, b: two lines",
    ),
    ("Do.\n\n:param a: one\n:param int b: two\n    lines\n:returns: no", "Do.", "a: one, b: two lines"),
    ("Do.\n\nArgs:\n    x, y: both\n\n    z: last\n\nRaises:\n    a: no", "Do.", "x: both, y: both, z: last"),
    ("Args:\n    **rest: more", "", "rest: more"),
    ("Do.\n\nArgs:\n    a: one\nAnd then text.", "Do.", "a: one"),
    ("", "", ""),
]


@pytest.mark.parametrize(("text", "description", "params"), DOCSTRINGS)
def test_docstrings_are_read_in_both_forms(text: str, description: str, params: str) -> None:
    said = read_docstring(text)

    assert said.description == description
    assert ", ".join(f"{name}: {words}" for name, words in said.params.items()) == params


@given(st.text(alphabet=st.sampled_from("ab:\n ()*,ArgsRetunsparm")))
def test_no_docstring_breaks_the_reader(text: str) -> None:
    said = read_docstring(text)

    assert all(words.strip() for words in said.params.values())
