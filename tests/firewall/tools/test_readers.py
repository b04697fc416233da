"""What authors read their params with, beyond what the releases recorded."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.runtime.call import tool_error
from apps.firewall.tools.readers import (
    ToolAuthorizationError,
    ToolInputError,
    number_text,
    read_number_param,
    read_string_array_param,
    read_string_or_number_param,
    read_string_param,
)

READERS = [read_string_param, read_number_param, read_string_array_param, read_string_or_number_param]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("value", [None, {}, True, "  ", "\u3000\ufeff", []])
def test_what_says_nothing_is_absent_or_missing_by_its_label(read: Any, value: Any) -> None:
    assert read({"x": value}, "x") is None
    with pytest.raises(ToolInputError, match=r"^The amount required$"):
        read({"x": value}, "x", required=True, label="The amount")


@pytest.mark.parametrize("read", READERS)
@given(value=st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), st.lists))
def test_no_value_breaks_a_reader(read: Any, value: Any) -> None:
    found = read({"x": value}, "x")
    assert isinstance(found, str | int | float | list | None)


@pytest.mark.parametrize(("trim", "value"), [(True, ""), (False, "  ")])
def test_an_empty_text_counts_where_the_author_says_so(trim: bool, value: str) -> None:
    assert read_string_param({"x": "  "}, "x", trim=trim, allow_empty=True) == value
    assert read_string_param({"x": "  "}, "x", trim=trim, allow_empty=True, required=True) == value
    assert read_string_param({"x": None}, "x", allow_empty=True) is None


@pytest.mark.parametrize("text", ["12.5abc", "1,5", "5 6", "0x10", "1_000", "", "Infinity", "1e999"])
def test_strictly_a_text_is_a_number_as_a_whole_or_none(text: str) -> None:
    assert read_number_param({"x": text}, "x", strict=True) is None
    with pytest.raises(ToolInputError):
        read_number_param({"x": text}, "x", strict=True, required=True)


@pytest.mark.parametrize(("text", "number"), [(" 7 ", 7), ("+5", 5), (".5", 0.5), ("5.", 5), ("1e3", 1000)])
def test_a_whole_number_is_read_strictly_as_otherwise(text: str, number: float) -> None:
    assert read_number_param({"x": text}, "x", strict=True) == read_number_param({"x": text}, "x") == number


@pytest.mark.parametrize("key", ["userId", "HTTPPort", "item2Name"])
def test_a_name_is_also_found_with_underscores(key: str) -> None:
    parted = {"userId": "user_id", "HTTPPort": "http_port", "item2Name": "item2_name"}[key]

    assert read_string_param({parted: "a"}, key) == "a"
    assert read_string_param({key: "b", parted: "a"}, key) == "b"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (5, "5"),
        (5.0, "5"),
        (3.9, "3.9"),
        (1e16, "10000000000000000"),
        (1.5e-5, "0.000015"),
        (1e-7, "1e-7"),
        (1e21, "1e+21"),
        (-2.5e-10, "-2.5e-10"),
        (12345678901234567890123, "12345678901234567890123"),
    ],
)
def test_a_number_is_written_as_the_models_side_writes_it(number: float, text: str) -> None:
    assert number_text(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_written_number_is_the_same_number(number: float) -> None:
    assert math.isclose(float(number_text(number)), number, rel_tol=0, abs_tol=0)


def test_errors_of_tools_say_whose_mistake_it_was() -> None:
    assert issubclass(ToolAuthorizationError, ToolInputError)
    told = [tool_error({"code": error.code, "message": "no"}) for error in (ToolInputError, ToolAuthorizationError)]
    assert [each["status"] for each in told] == [400, 403]
    assert tool_error({"code": "tool_failed", "message": "no"}) == {
        "code": "tool_failed",
        "message": "no",
        "details": [],
    }
