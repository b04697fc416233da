"""Whatever a tool answers can be sent and recorded, or the call has failed and says why."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.runtime.executors.sendable import DEPTH_LIMIT, sendable
from apps.firewall.tools.running import ToolOutcome, failed

pytestmark = pytest.mark.unhurried

ANY_TEXT = st.text(st.characters(exclude_categories=()))
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
    max_leaves=20,
)


def test_what_can_be_sent_is_the_same_object() -> None:
    outcome = ToolOutcome(result={"text": "西安 🙂", "n": [1, 2.5, None, True]})

    assert sendable(outcome) is outcome


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\ud83d\ude42", "🙂"),
        ({"k\udfff": [("x",)]}, {"k\ufffd": [["x"]]}),
        (2**64, "0x10000000000000000"),
        (-(10**400), hex(-(10**400))),
    ],
)
def test_what_cannot_is_replaced(value: Any, sent: Any) -> None:
    outcome = sendable(ToolOutcome(result={"value": value, "bad": "\ud800"}))

    assert outcome.result == {"value": sent, "bad": "\ufffd"}


@pytest.mark.parametrize(("value", "sent"), [(float("inf"), "inf"), ([None, float("-inf")], [None, "-inf"])])
def test_a_number_without_an_end_becomes_its_text_and_not_nothing(value: Any, sent: Any) -> None:
    assert sendable(ToolOutcome(result={"value": value})).result == {"value": sent}


def test_a_result_that_is_too_deep_or_no_json_fails_the_call() -> None:
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]

    for value, words in ((deep, f"nested deeper than {DEPTH_LIMIT}"), (object(), "holds a `object`")):
        outcome = sendable(ToolOutcome(result={"value": value}))
        assert outcome.error is not None
        assert (outcome.ended, outcome.result, outcome.error["code"]) == ("failed", None, "result_not_json")
        assert words in outcome.error["message"]


def test_the_words_of_an_error_are_mended_too() -> None:
    assert sendable(failed("odd", "a\ud800")).error == {"code": "odd", "message": "a\ufffd"}


@given(ANY_JSON)
@pytest.mark.slow
def test_any_result_can_be_sent_afterwards(value: Any) -> None:
    outcome = sendable(ToolOutcome(result={"value": value}))

    assert orjson.loads(orjson.dumps([outcome.result, outcome.error])) == [outcome.result, outcome.error]
