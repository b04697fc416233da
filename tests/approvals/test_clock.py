"""The clock of the day is set back and forth: nothing is ended, allowed or purged by it, and it is on record once."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.approvals.answering import answer_rule_add
from apps.approvals.escalating import approvals_escalate, waited
from apps.approvals.models import Approval
from apps.approvals.services import approval_request, approval_resolve, approvals_expire
from apps.audit.integrity import integrity_alarms
from apps.audit.models import Entry
from apps.audit.tasks import purge_run_task, purges_run_task, sweep_orphans_task
from apps.events import clock as clock_module
from apps.events.clock import MachineClock, clock_check, clock_rests
from apps.events.models import ClockStep
from apps.limits.tasks import limits_forget_task
from apps.policies.models import PublishRequest
from apps.runs.tasks import runs_sweep_task
from apps.sessions.models import Session
from apps.sessions.tasks import sessions_sweep_task

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


class HandClock(MachineClock):
    """Clocks that a test sets. The real time of the day plus what it was set by."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def wall(self) -> float:
        return super().wall() + self.ahead_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> HandClock:
    made = HandClock()
    monkeypatch.setattr(clock_module, "clock", made)
    monkeypatch.setattr(clock_module, "_known", clock_module._Known())
    clock_check()
    return made


@pytest.fixture
def pending(draft_for: Any) -> Any:
    """Have a request wait for half an hour from now."""

    def make(**fields: Any) -> Approval:
        return approval_request(draft_for(**fields), at=timezone.now(), timeout_s=1800)

    return make


def another_process(monkeypatch: pytest.MonkeyPatch, known: Any) -> None:
    """Look at the clock as another process does, which knows it as it was before."""
    monkeypatch.setattr(clock_module, "_known", known)
    clock_check()


def now(clock: HandClock) -> datetime:
    return timezone.now() + timedelta(seconds=clock.ahead_s)


def steps() -> list[int]:
    return [round(each) for each in ClockStep.objects.exclude(step_s=0).order_by("id").values_list("step_s", flat=True)]


@pytest.mark.parametrize("step", [HOUR, -HOUR], ids=["forth", "back"])
def test_a_pending_request_keeps_the_time_that_it_has_left(step: timedelta, clock: HandClock, pending: Any) -> None:
    approval = pending()
    left = approval.expires_at - now(clock)

    clock.ahead_s += step.total_seconds()

    assert approvals_expire(now(clock)) == 0
    approval.refresh_from_db()
    assert approval.is_pending
    assert approval.expires_at - now(clock) == pytest.approx(left, abs=timedelta(seconds=30))
    assert approvals_expire(now(clock) + left) == 1


@pytest.mark.parametrize("step", [HOUR, -HOUR], ids=["forth", "back"])
def test_a_request_escalates_after_its_time_and_not_by_a_step(
    step: timedelta, clock: HandClock, pending: Any, environment: Any
) -> None:
    answer_rule_add(environment, name="night", escalate_after_s=600, escalate_roles=["admin"], roles=["operator"])
    approval = pending()

    clock.ahead_s += step.total_seconds()

    assert approvals_escalate(now(clock)) == 0
    assert approvals_escalate(now(clock) + timedelta(seconds=590)) == 0
    assert approvals_escalate(now(clock) + timedelta(seconds=610)) == 1
    approval.refresh_from_db()
    assert approval.is_pending and waited(approval, now(clock)) < timedelta(minutes=1)


@pytest.mark.parametrize("step", [HOUR, -HOUR], ids=["forth", "back"])
def test_an_answer_right_after_a_step_is_in_time(
    step: timedelta, clock: HandClock, pending: Any, operator: Any
) -> None:
    approval = pending()

    clock.ahead_s += step.total_seconds()

    assert approval_resolve(approval, decision="allow-once", by=operator, at=now(clock)).is_allowed


@pytest.mark.parametrize("step", [HOUR, -HOUR], ids=["forth", "back"])
def test_a_request_to_publish_keeps_the_time_that_it_has_left(
    step: timedelta, clock: HandClock, environment: Any
) -> None:
    made = PublishRequest.objects.create(
        environment=environment, state="waiting", digest="0" * 64, message="x", asked_at=now(clock),
        expires_at=now(clock) + timedelta(minutes=30), actor="system",
    )  # fmt: skip
    before = made.expires_at

    clock.ahead_s += step.total_seconds()
    clock_check()

    made.refresh_from_db()
    assert made.expires_at - before == pytest.approx(step, abs=timedelta(seconds=5))


@pytest.mark.parametrize("step", [HOUR, -HOUR], ids=["forth", "back"])
def test_a_session_may_last_as_long_as_it_might_have(step: timedelta, clock: HandClock, environment: Any) -> None:
    began = now(clock)
    session = Session.objects.create(
        environment=environment, agent="main", key="agent:main:x", started_at=began, last_call_at=began
    )

    clock.ahead_s += step.total_seconds()
    clock_check()

    session.refresh_from_db()
    assert session.started_at - began == pytest.approx(step, abs=timedelta(seconds=5))


def test_silence_allows_nothing_because_the_clock_was_set_forward(clock: HandClock, pending: Any) -> None:
    approval = pending(fallback_rule="exec.ask.fallback")

    clock.ahead_s += 3600
    approvals_expire(now(clock))

    approval.refresh_from_db()
    assert approval.state == "requested"


def test_a_frozen_request_is_left_to_its_lifting(clock: HandClock, pending: Any) -> None:
    approval = pending()
    Approval.objects.filter(pk=approval.pk).update(frozen_at=now(clock))
    before = Approval.objects.get(pk=approval.pk).expires_at

    clock.ahead_s += 3600
    clock_check()

    assert Approval.objects.get(pk=approval.pk).expires_at == before


def test_a_step_is_noticed_once_by_all_processes_and_is_on_record(
    clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = clock_module._Known(clock_module._known.offset_s)
    known = set(Entry.objects.filter(kind="clock_step").values_list("id", flat=True))

    clock.ahead_s += 3600
    clock_check()
    another_process(monkeypatch, before)
    another_process(monkeypatch, clock_module._Known())

    assert steps() == [3600]
    (entry,) = Entry.objects.filter(kind="clock_step").exclude(id__in=known)
    assert entry.changes == {"step_s": pytest.approx(3600, abs=1)}
    assert "clock" in {alarm.code for alarm in integrity_alarms(now(clock))}


def test_back_and_forth_is_two_steps_and_leaves_deadlines_where_they_were(clock: HandClock, pending: Any) -> None:
    approval = pending()
    before = approval.expires_at

    for ahead_s in (-3600.0, 0.0, 3600.0, 0.0):
        clock.ahead_s = ahead_s
        clock_check()

    approval.refresh_from_db()
    assert steps() == [-3600, 3600, 3600, -3600]
    assert approval.expires_at == pytest.approx(before, abs=timedelta(seconds=1))


def test_what_a_clock_is_corrected_by_is_no_step(clock: HandClock) -> None:
    for _ in range(20):
        clock.ahead_s += 1.0
        clock_check()

    assert steps() == []


def test_nothing_is_purged_for_as_long_as_the_clock_was_set_forward(
    clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.ahead_s += 3600

    assert clock_rests(now(clock))
    assert not clock_rests(now(clock) + HOUR)
    assert not clock_rests(now(clock) + timedelta(minutes=2), limit=timedelta(minutes=1))


def test_a_clock_that_was_set_back_makes_nothing_rest(clock: HandClock) -> None:
    clock.ahead_s -= 3600

    assert not clock_rests(now(clock))


def test_tasks_rest_after_a_step_forward(clock: HandClock, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []

    def purges_run(**_: Any) -> tuple[Any, ...]:
        called.append("purge")
        return ()

    def sweep_orphans(_at: datetime) -> int:
        called.append("sweep")
        return 0

    monkeypatch.setattr("apps.audit.tasks.purges_run", purges_run)
    monkeypatch.setattr("apps.audit.tasks.sweep_orphans", sweep_orphans)
    monkeypatch.setattr("apps.audit.tasks.purge_go_on", purges_run)
    for place in ("sessions.tasks.sessions_sweep", "runs.tasks.runs_sweep", "limits.tasks.results_forget"):
        monkeypatch.setattr(f"apps.{place}", sweep_orphans)
    ClockStep.objects.create(machine="another", offset_s=0.0, step_s=3600.0, at=timezone.now())

    purges_run_task()
    purge_run_task("0" * 32)
    sweep_orphans_task()
    assert [sessions_sweep_task(), runs_sweep_task(), limits_forget_task()] == [0, 0, 0]

    assert called == []
