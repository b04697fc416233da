"""The clock of the day is set an hour back and forth while calls are counted: rates hold, and refuse nobody for it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.cache import caches
from django.db import connection
from django.test import Client

from apps.api.throttles import PrincipalThrottle
from apps.events import clock as clock_module
from apps.events.clock import MachineClock, clock_check
from apps.firewall.runtime.limits.breaker import BreakerRule
from apps.firewall.runtime.limits.rates import Share
from apps.limits.breaking import breaker_of, breaker_settle
from apps.limits.counting import shares_take
from apps.limits.keeping import result_keep, result_recall
from apps.limits.models import RateCounter, ToolBreaker
from apps.registry.models import Environment

SHARE = Share("r1", "calm", "main", 40)
STEPS = pytest.mark.parametrize("step_s", [3600.0, -3600.0], ids=["forth", "back"])


class HandClock(MachineClock):
    """Clocks that a test sets; both stand still otherwise, so that no minute ends meanwhile."""

    def __init__(self) -> None:
        self.began_s = super().wall() // 60 * 60 + 10
        self.ahead_s = 0.0

    def wall(self) -> float:
        return self.began_s + self.ahead_s

    def steady(self) -> float:
        return self.began_s

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.wall(), UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, transactional_db: None) -> HandClock:
    made = HandClock()
    monkeypatch.setattr(clock_module, "clock", made)
    monkeypatch.setattr(clock_module, "_known", clock_module._Known())
    clock_check()
    return made


def take(environment: Environment, clock: HandClock) -> bool:
    try:
        return shares_take(environment, (SHARE,), at=clock.now()) is None
    finally:
        connection.close()


@STEPS
def test_calls_at_once_pass_the_rate_once_whatever_the_clock_does(
    step_s: float, clock: HandClock, environment: Environment
) -> None:
    with ThreadPoolExecutor(8) as pool:
        before = [pool.submit(take, environment, clock) for _ in range(20)]
        passed = sum(each.result() for each in before)
        clock.ahead_s += step_s
        after = [pool.submit(take, environment, clock) for _ in range(60)]
        passed += sum(each.result() for each in after)
    assert passed == SHARE.per_minute
    assert RateCounter.objects.count() == 1


@STEPS
def test_two_minutes_after_a_step_calls_run_again(step_s: float, clock: HandClock, environment: Environment) -> None:
    assert [take(environment, clock) for _ in range(41)][-2:] == [True, False]
    clock.ahead_s += step_s
    assert not take(environment, clock)
    clock.began_s += 125  # both clocks go on
    assert take(environment, clock)


@STEPS
def test_a_tool_that_fails_is_left_alone_for_its_pause(
    step_s: float, clock: HandClock, environment: Environment
) -> None:
    rule = BreakerRule(1, 30)
    breaker_settle(environment, "tides__high", rule, is_failure=True, at=clock.now())
    clock.ahead_s += step_s
    clock_check()
    breaker = breaker_of(ToolBreaker.objects.get())
    assert breaker.state(rule, clock.now() + timedelta(seconds=29)) == "open"
    assert breaker.state(rule, clock.now() + timedelta(seconds=31)) == "trying"


@STEPS
def test_a_kept_result_lasts_as_long_as_it_would_have(
    step_s: float, clock: HandClock, environment: Environment
) -> None:
    result_keep(environment, "k", tool="t", result={"a": 1}, call_id=environment.pk, ttl_ms=60_000, at=clock.now())
    clock.ahead_s += step_s
    clock_check()
    assert result_recall("k", at=clock.now() + timedelta(seconds=55)) is not None
    assert result_recall("k", at=clock.now() + timedelta(seconds=65)) is None


def test_a_program_is_refused_for_a_minute_at_most_after_the_clock_was_set_back(
    environment: Environment, token: Any, monkeypatch: pytest.MonkeyPatch, transactional_db: None
) -> None:
    _row, secret = token("policy_read", rate_per_minute=3)
    now = [10_000.0]
    monkeypatch.setattr(PrincipalThrottle, "timer", lambda _self: now[0])
    caches["default"].clear()

    def asked() -> int:
        return Client().get("/api/v1/agents", headers={"Authorization": f"Bearer {secret}"}).status_code

    assert [asked() for _ in range(4)] == [200, 200, 200, 429]
    now[0] -= 3600
    assert asked() == 429
    now[0] += 61
    assert asked() == 200
