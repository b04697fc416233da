"""Any order of asking, answering, waiting, changing, running and dying: the rules of an approval's life hold.

Each rule is needed: without it the same machine finds a life that goes wrong.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from random import Random
from typing import Any

import pgtrigger
import pytest
from django.db.models import F, Q
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from apps.approvals import rules
from apps.approvals.errors import ApprovalError
from apps.approvals.models import Approval
from apps.approvals.states import TRANSITIONS, State
from apps.firewall.runtime.stages import binding
from tests.approvals import life

pytestmark = pytest.mark.django_db
ALWAYS: dict[str, Any] = {
    "deadline": None,
    "derandomize": True,
    "suppress_health_check": list(HealthCheck),
    "database": None,
}
STEPS = 15
LIVES = 1000  # at most


def test_no_order_of_events_breaks_the_life_of_an_approval() -> None:
    run_state_machine_as_test(
        life.LifeOfApprovals, settings=settings(max_examples=25, stateful_step_count=30, **ALWAYS)
    )


def overwrite(approval: Approval, **values: Any) -> bool:
    return bool(Approval.objects.filter(pk=approval.pk).update(**values, version=F("version") + 1))


@contextmanager
def no_compare_and_set(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Neither the service nor the database looks whether somebody was faster."""
    patch.setattr(rules, "is_open", lambda approval: True)
    patch.setattr(rules, "compare_and_set", overwrite)
    with pgtrigger.ignore("approvals.Approval:life"):
        yield


@contextmanager
def no_binding(patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setattr(binding, "changed_parts", lambda approved, now: [])
    yield


@contextmanager
def no_expiry_check(patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setattr(rules, "is_in_time", lambda approval, at: True)
    yield


@contextmanager
def no_grant_expiry(patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setattr(rules, "standing_at", lambda at: Q())
    yield


@contextmanager
def no_kill_switch(patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setattr(rules, "may_be_allowed", lambda approval: True)
    yield


@contextmanager
def self_approval(patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setattr(rules, "is_own", lambda approval, by: False)
    yield


@pytest.mark.parametrize(
    ("missing", "events", "complaint"),
    [
        (no_compare_and_set, ("ask", "answer"), life.TWICE),
        (no_binding, ("ask", "answer", "run"), life.CHANGED),
        (no_expiry_check, ("ask", "answer", "wait"), life.LATE),
        (no_grant_expiry, ("ask", "answer", "days_pass"), life.ENDED_GRANT),
        (self_approval, ("ask", "answer"), life.OWN),
        (no_kill_switch, ("ask", "answer", "stop"), life.STOPPED),
    ],
    ids=["no compare-and-set", "no binding", "no expiry check", "no grant expiry", "self-approval", "no kill switch"],
)
def test_the_machine_finds_that_a_rule_is_missing(
    missing: Any, events: tuple[str, ...], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In lives of the events that the rule is about, one in three or so goes wrong."""
    with ExitStack() as stack:
        stack.enter_context(missing(monkeypatch))
        with pytest.raises(AssertionError, match=f"{complaint}|{life.ASTRAY}"):
            for number in range(LIVES):
                life.live(Random(number), steps=STEPS, events=events)


def test_such_lives_go_well_where_no_rule_is_missing() -> None:
    for number in range(5):
        life.live(Random(number), steps=STEPS)


def test_no_state_but_the_first_leads_anywhere() -> None:
    assert {state for state, following in TRANSITIONS.items() if following} == {State.REQUESTED}
    assert set(TRANSITIONS) == set(State)


def test_every_refusal_has_a_code_of_its_own() -> None:
    codes = [error.code for error in ApprovalError.__subclasses__()]
    assert len(codes) == len(set(codes)) and "approval_error" not in codes
