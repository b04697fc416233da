"""Which counters a call takes from, what it costs, and which calls are equal."""

from dataclasses import replace
from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.runtime.call import Call
from apps.firewall.runtime.limits.rates import OWN_RULE, RateRule, estimated_tokens, shares_of
from apps.firewall.runtime.limits.remembering import KEPT_BYTES_LIMIT, may_be_kept, result_key
from apps.firewall.tools.definition import CachePolicy, Definition, RateLimit
from apps.firewall.tools.running import ToolOutcome, failed

NEW = DIALECTS["2026.9"]
CONTEXT = CallContext(session_key="agent:main:telegram:group:-1", channel="telegram", sender_id="7")
CALL = Call(environment="production", agent="main", tool="weather", params={"city": "Bern"}, context=CONTEXT)
WEATHER = Definition(name="weather", cache=CachePolicy(ttl_ms=1000))


def rule(**members: Any) -> RateRule:
    return RateRule(**{"id": "r", "name": "calm", "per_minute": 5, **members})


def subjects(call: Call, *rules: RateRule, definition: Definition = WEATHER) -> list[tuple[str, str]]:
    return [(share.name, share.subject) for share in shares_of(call, definition, rules, NEW)]


@pytest.mark.parametrize(
    ("per", "subject"),
    [
        ("everybody", ""),
        ("tool", "weather"),
        ("agent", "main"),
        ("sender", "telegram:7"),
        ("session", "agent:main:telegram:group:-1"),
    ],
)
def test_a_rate_counts_together_whose_calls_it_says(per: Any, subject: str) -> None:
    assert subjects(CALL, rule(per=per)) == [("calm", subject)]


@pytest.mark.parametrize(
    ("members", "holds"),
    [
        ({"tools": ("weather",)}, True),
        ({"tools": ("wea*",)}, True),
        ({"tools": ("group:runtime",)}, False),
        ({"agents": ("ops", "ma*")}, True),
        ({"agents": ("ops",)}, False),
        ({"tools": ()}, False),
    ],
)
def test_a_rate_holds_for_its_tools_and_agents_only(members: dict[str, Any], holds: bool) -> None:
    assert bool(subjects(CALL, rule(**members))) is holds


def test_a_group_of_tools_holds_for_its_members() -> None:
    exec_definition = Definition(name="exec")
    assert subjects(CALL, rule(tools=("group:runtime",)), definition=exec_definition) == [("calm", "")]


def test_the_rate_of_a_definition_counts_besides_the_rules() -> None:
    limited = replace(WEATHER, rate_limit=RateLimit(requests_per_minute=2))
    assert subjects(CALL, rule(), definition=limited) == [(OWN_RULE, "weather"), ("calm", "")]


def test_an_unnamed_sender_counts_as_one() -> None:
    nobody = replace(CALL, context=CallContext(channel="telegram"))
    assert subjects(nobody, rule(per="sender")) == [("calm", "telegram:")]


@pytest.mark.parametrize(("value", "tokens"), [("", 0), ("abcd", 1), ("abcde", 2), ({"a": "城市城市"}, 4)])
def test_tokens_are_a_quarter_of_the_code_points(value: Any, tokens: int) -> None:
    assert estimated_tokens(value) == tokens


def test_equal_calls_have_one_key_whatever_the_order_of_their_params() -> None:
    one = replace(CALL, params={"city": "Bern", "unit": "c"})
    other = replace(CALL, params={"unit": "c", "city": "Bern"})
    assert result_key(one, WEATHER) == result_key(other, WEATHER) is not None


@pytest.mark.parametrize(
    "other",
    [
        replace(CALL, params={"city": "Basel"}),
        replace(CALL, params={}),
        replace(CALL, agent="ops"),
        replace(CALL, environment="staging"),
    ],
)
def test_calls_that_differ_are_not_equal(other: Call) -> None:
    assert result_key(CALL, WEATHER) != result_key(other, WEATHER)


def test_another_definition_has_other_results() -> None:
    assert result_key(CALL, WEATHER) != result_key(CALL, replace(WEATHER, version="2"))


def test_only_the_named_params_make_calls_equal() -> None:
    by_city = replace(WEATHER, cache=CachePolicy(ttl_ms=1000, key=("city",)))
    other = replace(CALL, params={"city": "Bern", "unit": "c"})
    assert result_key(CALL, by_city) == result_key(other, by_city)


def test_a_tool_that_keeps_nothing_has_no_key() -> None:
    assert result_key(CALL, replace(WEATHER, cache=None)) is None


@pytest.mark.parametrize(
    ("outcome", "kept"),
    [
        (ToolOutcome(result={"n": 1}), True),
        (failed("tool_failed", "no"), False),
        (ToolOutcome(ended="unknown", result={"n": 1}), False),
        (ToolOutcome(result={"text": "x" * KEPT_BYTES_LIMIT}), False),
    ],
)
def test_only_successes_of_some_size_are_kept(outcome: ToolOutcome, kept: bool) -> None:
    assert may_be_kept(outcome) is kept
