"""Counters in PostgreSQL: a window that slides, shared by processes, and taken from wholly or not at all."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.runtime.limits.rates import Share
from apps.limits.counting import (
    KEPT,
    counter_key,
    counters_forget,
    shares_look,
    shares_take,
    used_of,
    wait_s_of,
)
from apps.limits.models import RateCounter
from apps.registry.models import Environment

AT = datetime(2026, 11, 23, 12, 0, 0, tzinfo=UTC)
SHARE = Share("r1", "calm", "main", 3)


def seconds(number: float) -> datetime:
    return AT + timedelta(seconds=number)


def take(environment: Environment, at: datetime, *shares: Share) -> bool:
    return shares_take(environment, shares or (SHARE,), at=at) is None


def test_a_minute_holds_so_many_calls_and_no_more(environment: Environment) -> None:
    assert [take(environment, seconds(n)) for n in range(5)] == [True, True, True, False, False]


def test_calls_of_the_minute_before_count_less_and_less(environment: Environment) -> None:
    for _ in range(3):
        take(environment, AT)
    assert not take(environment, seconds(60))
    assert take(environment, seconds(81))  # less than two thirds of three are left, so that one fits
    assert not take(environment, seconds(82))
    assert take(environment, seconds(102))


def test_what_is_older_than_two_minutes_counts_no_more(environment: Environment) -> None:
    for _ in range(3):
        take(environment, AT)
    assert [take(environment, seconds(125)) for _ in range(4)] == [True, True, True, False]


def test_subjects_and_rates_are_counted_apart(environment: Environment) -> None:
    one = Share("r1", "calm", "main", 1)
    assert take(environment, AT, one)
    assert take(environment, AT, Share("r1", "calm", "ops", 1))
    assert take(environment, AT, Share("r2", "calmer", "main", 1))
    assert not take(environment, AT, one)


def test_a_call_that_one_rate_refuses_takes_from_none(environment: Environment) -> None:
    tight, wide = Share("r1", "tight", "", 1), Share("r2", "wide", "", 10)
    assert take(environment, AT, tight, wide)
    for _ in range(4):
        refused = shares_take(environment, (tight, wide), at=AT)
        assert refused is not None and refused.share == tight
    counter = RateCounter.objects.get(key=counter_key(environment, wide))
    assert (counter.current, counter.refused) == (1, 0)
    counter = RateCounter.objects.get(key=counter_key(environment, tight))
    assert (counter.current, counter.refused, counter.refused_at) == (1, 4, AT)


def test_looking_tells_the_same_and_takes_nothing(environment: Environment) -> None:
    assert shares_look(environment, (SHARE,), at=AT) is None
    for _ in range(3):
        assert shares_look(environment, (SHARE,), at=AT) is None
        take(environment, AT)
    found, met = shares_look(environment, (SHARE,), at=AT), shares_take(environment, (SHARE,), at=AT)
    assert found == met is not None


def test_a_clock_that_went_back_lets_nobody_through_twice(environment: Environment) -> None:
    for _ in range(3):
        take(environment, seconds(61))
    assert not take(environment, AT)


@pytest.mark.parametrize("ahead_s", [3600, 86400])
def test_a_clock_that_is_set_back_far_neither_stops_a_rate_nor_lets_more_through(
    environment: Environment, ahead_s: int
) -> None:
    for _ in range(3):
        assert take(environment, seconds(ahead_s))

    assert not take(environment, AT), "the calls before the step count"
    assert shares_look(environment, (SHARE,), at=AT) is not None
    assert [take(environment, seconds(60 + n)) for n in range(61)].count(True) <= 3
    assert take(environment, seconds(200))
    held = RateCounter.objects.get(key=counter_key(environment, SHARE))
    assert held.minute == int(seconds(180).timestamp() // 60)


def test_a_rate_that_is_not_used_up_goes_on_after_the_clock_was_set_back(environment: Environment) -> None:
    assert take(environment, seconds(3600))

    assert [take(environment, seconds(n)) for n in range(4)] == [True, True, False, False]


@pytest.mark.django_db(transaction=True)
def test_processes_that_count_at_once_count_together(environment: Environment) -> None:
    def one(_: int) -> bool:
        try:
            return take(environment, AT, Share("r1", "calm", "main", 20))
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(one, range(60))) == 20


@given(
    current=st.integers(0, 50),
    previous=st.integers(0, 50),
    limit=st.integers(1, 50),
    into=st.integers(0, 59),
)
def test_after_the_wait_that_is_told_one_more_call_fits(current: int, previous: int, limit: int, into: int) -> None:
    at = seconds(into)
    counter = RateCounter(minute=int(at.timestamp() // 60), current=current, previous=previous)
    if used_of(counter, at) + 1 <= limit:
        return
    wait = wait_s_of(counter, limit, at)
    assert used_of(counter, at + timedelta(seconds=wait)) + 1 <= limit + 1e-9
    if wait > 1:
        assert used_of(counter, at + timedelta(seconds=wait - 1)) + 1 > limit - 1e-9


def test_counters_that_nobody_uses_are_forgotten(environment: Environment) -> None:
    take(environment, AT)
    assert counters_forget(AT + KEPT) == 0
    assert counters_forget(AT + KEPT + timedelta(minutes=2)) == 1


def test_a_long_subject_is_counted_by_all_of_it_and_shown_cut(environment: Environment) -> None:
    share, other = (Share("r1", "calm", "x" * 10_000 + end, 1) for end in "ab")
    assert take(environment, AT, share)
    assert take(environment, AT, other)
    assert len(RateCounter.objects.get(key=counter_key(environment, share)).subject) == 200
