"""How answering goes: waits, tempo and shares, by person, rule and time."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from apps.approvals.batch import batch_resolve
from apps.approvals.fatigue import Fatigue, fatigue
from apps.approvals.looking import approval_looked_at
from apps.approvals.models import Approval
from apps.approvals.selectors import approval_counts
from apps.approvals.services import approval_cancel, approval_resolve, approvals_expire
from apps.audit.drafts import EntryDecision
from tests.approvals.conftest import NOON

Ask = Callable[..., Approval]
SECOND = timedelta(seconds=1)


@pytest.fixture
def measured(environment: Any) -> Callable[[], Fatigue]:
    """Measure the two hours around NOON."""
    return lambda: fatigue(environment, since=NOON - timedelta(hours=1), until=NOON + timedelta(hours=1))


def answered(approval: Approval, by: Any, after_s: float, decision: str = "allow-once") -> None:
    approval_resolve(approval, decision=decision, by=by, at=NOON + after_s * SECOND)


def test_nothing_asked_is_nothing_measured(measured: Callable[[], Fatigue]) -> None:
    found = measured()
    assert (found.total.ended, found.total.wait_ms, found.total.allowed_percent) == (0, None, 0)
    assert (found.people, found.rules, [step.ended for step in found.steps]) == ([], [], [0, 0])


def test_shares_and_the_median_wait_leave_out_what_nobody_was_to_answer(
    ask: Ask, operator: Any, measured: Callable[[], Fatigue]
) -> None:
    requests = [ask() for _ in range(5)]
    answered(requests[0], operator, 10)
    answered(requests[1], operator, 20, "deny")
    approval_cancel(requests[2], at=NOON + 30 * SECOND)
    approvals_expire(NOON + 120 * SECOND)
    total = measured().total
    assert (total.ended, total.allowed, total.denied, total.expired) == (4, 1, 1, 2)
    assert (total.allowed_percent, total.expired_percent) == (25, 50)
    assert total.wait_ms == 70_000  # half-way between 20 and 120 s


def test_nobody_waits_past_the_deadline_when_its_end_is_written_down_late(
    ask: Ask, environment: Any, measured: Callable[[], Fatigue]
) -> None:
    ask()
    approvals_expire(NOON + timedelta(minutes=50))
    assert measured().total.wait_ms == 120_000
    counts = approval_counts(environment, since=NOON)
    assert (counts.average_wait_ms, counts.longest_wait_ms) == (120_000, 120_000)


def test_a_decision_takes_from_asking_or_from_ones_own_last_answer(
    ask: Ask, operator: Any, colleague: Any, measured: Callable[[], Fatigue]
) -> None:
    for after_s in (10, 11, 12.5, 13, 20):
        answered(ask(), operator, after_s)
    answered(ask(), colleague, 12)
    mine, other = measured().people
    assert (mine.who, mine.ended, mine.fast, mine.longest_row) == (str(operator), 5, 3, 3)
    assert (mine.decision_ms, mine.wait_ms) == (1500, 12_500)
    assert (other.who, other.decision_ms, other.longest_row) == (str(colleague), 12_000, 0)


def test_many_at_once_are_one_answer_to_the_tempo(ask: Ask, operator: Any, measured: Callable[[], Fatigue]) -> None:
    ids = [ask().pk for _ in range(6)]
    batch_resolve(ids, decision="deny", by=operator, at=NOON + 30 * SECOND)
    [person] = measured().people
    assert (person.ended, person.denied, person.fast, person.longest_row) == (6, 6, 0, 0)


def test_rules_stand_by_how_much_they_ask(ask: Ask, operator: Any, measured: Callable[[], Fatigue]) -> None:
    answered(ask(asked=EntryDecision(verdict="ask", layer="hooks", rule="guard", reason="r")), operator, 5, "deny")
    for after_s in (10, 20):
        answered(ask(), operator, after_s)
    first, second = measured().rules
    assert (first.layer, first.rule, first.ended, first.allowed) == ("exec_policy", "ask=on-miss", 2, 2)
    assert (second.layer, second.rule, second.denied) == ("hooks", "guard", 1)


def test_a_time_has_every_hour_and_counts_each_request_where_it_ended(
    ask: Ask, operator: Any, environment: Any, measured: Callable[[], Fatigue]
) -> None:
    answered(ask(), operator, 10)
    assert [(step.at - NOON, step.allowed) for step in measured().steps] == [
        (timedelta(hours=-1), 0),
        (timedelta(0), 1),
    ]
    month = fatigue(environment, since=NOON - timedelta(days=30), until=NOON + timedelta(hours=1))
    assert (len(month.steps), month.steps[-1].allowed) == (31, 1)


def test_another_environment_counts_nowhere(ask: Ask, operator: Any, measured: Callable[[], Fatigue]) -> None:
    from apps.registry.models import Environment

    answered(ask(environment=Environment.objects.create(slug="staging", name="Staging", position=9)), operator, 10)
    assert measured().total.ended == 0


def test_its_queries_do_not_grow(
    ask: Ask, operator: Any, measured: Callable[[], Fatigue], django_assert_num_queries: Any
) -> None:
    for after_s in range(5, 12):
        answered(ask(), operator, after_s)
    with django_assert_num_queries(4):
        assert measured().total.ended == 7


def test_a_decision_also_takes_from_the_persons_own_first_look(
    ask: Ask, operator: Any, colleague: Any, measured: Callable[[], Fatigue]
) -> None:
    looked, other = ask(), ask()
    for after_s, who in ((4, colleague), (6, operator), (9, operator)):
        approval_looked_at(looked, by=who, at=NOON + after_s * SECOND)
    answered(looked, operator, 10)
    answered(other, colleague, 12)
    found = {person.who: person.look_ms for person in measured().people}
    assert found == {str(operator): 4_000, str(colleague): None}
