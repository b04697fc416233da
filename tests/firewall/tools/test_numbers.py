"""Numbers in JSON are kept as they were sent, or refused with their place."""

import json
import time
from typing import Any

import pytest

from apps.firewall.tools.numbers import NumberInexactError, read_json

KEPT = [
    *("0", "-0.0", "1.0", "0.1", "1e5", "1E+22", "5e-324", "1.7976931348623157e308", "0e400", "3.141592653589793"),
    *("18446744073709551615", "-9223372036854775808", "9007199254740993", "0.30000000000000004"),
    "123456789.125000000000000000000",
]
CHANGED = [
    *("18446744073709551616", "18446744073709551617", "-9223372036854775809", "1" * 5_000, "-" + "9" * 30),
    *("0.12345678901234567890123", "3.1415926535897932384626", "12345678901234567.5", "1" * 40 + ".5"),
    *("1e400", "-1e999", "1e-400", "1e99999999999999999999"),
]


@pytest.mark.parametrize("text", KEPT)
def test_what_can_be_kept_is_kept(text: str) -> None:
    value = read_json(f'{{"a": [{text}]}}')["a"][0]

    assert value == json.loads(text) and json.loads(json.dumps(value)) == json.loads(text)


@pytest.mark.parametrize("text", CHANGED)
def test_what_would_be_changed_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(NumberInexactError) as caught:
        read_json(f'{{"params": {{"limit": 1, "list": [0, {text}]}}}}')

    (detail,) = caught.value.details
    assert (detail["path"], detail["code"]) == ("params.list[1]", "number_inexact")
    assert len(detail["message"]) < 200


def test_digits_in_texts_are_texts() -> None:
    text = {"id": str(2**70), "at": "2026-11-28T16:40:00.123456+00:00", "x": "1e400"}

    assert read_json(json.dumps(text)) == text


@pytest.mark.parametrize("text", ["", "{", '{"a": NaN}', '{"a": 01}', '{"a": 1e}', b"\xff"])
def test_what_is_no_json_stays_that(text: Any) -> None:
    with pytest.raises(ValueError):
        read_json(text)


def test_every_mistake_of_a_long_list_is_not_told_and_it_does_not_take_long() -> None:
    body = "[" + ",".join(["1" * 25] * 20_000) + "]"
    begun = time.process_time()

    with pytest.raises(NumberInexactError) as caught:
        read_json(body)

    assert len(caught.value.details) == 50
    assert time.process_time() - begun < 5
