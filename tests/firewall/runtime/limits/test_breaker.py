"""A breaker opens after failures in a row, lets one call try after its pause, and closes on the first success."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.runtime.limits.breaker import Breaker, BreakerRule, may_pass
from apps.firewall.tools.running import ToolOutcome, failed

AT = datetime(2026, 11, 23, tzinfo=UTC)
RULE = BreakerRule(failures=3, pause_s=30)


def after(breaker: Breaker, *ends: bool, at: datetime = AT) -> Breaker:
    for is_failure in ends:
        breaker = breaker.after(is_failure=is_failure, rule=RULE, at=at)
    return breaker


def test_it_opens_at_the_last_of_the_failures_and_not_before() -> None:
    assert after(Breaker(), True, True).state(RULE, AT) == "closed"
    assert after(Breaker(), True, True, True).state(RULE, AT) == "open"


def test_a_success_forgets_the_failures() -> None:
    assert after(Breaker(), True, True, False) == Breaker()


def test_after_its_pause_one_call_tries_and_the_others_wait_for_another_pause() -> None:
    opened = after(Breaker(), True, True, True)
    later = AT + RULE.pause
    assert opened.state(RULE, later - timedelta(milliseconds=1)) == "open"
    assert opened.state(RULE, later) == "trying"
    tried = opened.tried(later)
    assert tried.state(RULE, later) == "open"
    assert tried.state(RULE, later + RULE.pause) == "trying"


def test_a_trial_that_fails_opens_it_anew_and_one_that_succeeds_closes_it() -> None:
    later = AT + RULE.pause
    tried = after(Breaker(), True, True, True).tried(later)
    assert after(tried, True, at=later).next_try(RULE) == later + RULE.pause
    assert after(tried, False, at=later).state(RULE, later) == "closed"


def test_a_closed_one_has_no_next_try() -> None:
    with pytest.raises(ValueError, match="closed"):
        Breaker().next_try(RULE)


@given(st.lists(st.booleans(), max_size=30))
def test_it_is_open_exactly_while_the_last_calls_failed(ends: list[bool]) -> None:
    in_a_row = next((place for place, is_failure in enumerate(reversed(ends)) if not is_failure), len(ends))
    assert (after(Breaker(), *ends).state(RULE, AT) == "open") == (in_a_row >= RULE.failures)


@pytest.mark.parametrize(
    ("outcome", "passes"),
    [
        (ToolOutcome(result={}), False),
        (failed("tool_failed", "no such city"), False),
        (failed("parameter_validation_failed", "wrong"), False),
        (failed("connection_failed", "refused"), True),
        (failed("tool_server_busy", "429"), True),
        (ToolOutcome(ended="unknown", error={"code": "anything", "message": "lost"}), True),
        (ToolOutcome(ended="cancelled", error={"code": "cancelled", "message": "by anna"}), False),
    ],
)
def test_what_lies_in_the_params_is_no_failure_of_the_tool(outcome: ToolOutcome, passes: bool) -> None:
    assert may_pass(outcome) is passes
