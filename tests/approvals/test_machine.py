"""Any order of asking, answering, waiting, running and dying: the rules of an approval's life hold."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from apps.accounts.models import User
from apps.approvals.drafts import ApprovalDraft
from apps.approvals.errors import (
    ApprovalAlreadyDecidedError,
    ApprovalCancelledError,
    ApprovalClaimedError,
    ApprovalError,
    ApprovalExpiredError,
    ApprovalNotAllowedError,
)
from apps.approvals.models import Approval, Grant
from apps.approvals.services import (
    CLAIM_WINDOW,
    approval_cancel,
    approval_claim,
    approval_finish,
    approval_request,
    approval_resolve,
    approvals_expire,
)
from apps.approvals.states import ALLOWED, STATE_OF, TRANSITIONS, Decision, State
from apps.audit.models import Entry
from apps.firewall.identifiers import new_id
from apps.registry.models import Environment

START = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
REFUSALS = (ApprovalAlreadyDecidedError, ApprovalExpiredError, ApprovalCancelledError)
pytestmark = pytest.mark.django_db


class LifeOfApprovals(RuleBasedStateMachine):
    """Several requests, three operators, two runners, one clock; a model beside the rows."""

    approvals = Bundle("approvals")

    def __init__(self) -> None:
        super().__init__()
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.now = START
        self.state: dict[UUID, State] = {}
        self.decided_at: dict[UUID, datetime] = {}
        self.runs: dict[UUID, int] = {}
        self.finished: set[UUID] = set()

    @initialize()
    def people(self) -> None:
        self.environment = Environment.objects.create(slug=f"e{new_id().hex[-12:]}", name="E")
        self.operators = [User.objects.create(username=f"o{new_id().hex[-12:]}", role="operator") for _ in range(3)]

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.atomic.__exit__(None, None, None)

    @rule(target=approvals, timeout_s=st.integers(1, 300))
    def ask(self, timeout_s: int) -> Any:
        argv = ["/bin/ls", new_id().hex]
        approval = approval_request(
            ApprovalDraft(
                environment=self.environment,
                call_id=new_id(),
                kind="exec",
                tool="exec",
                action={"argv": argv},
                argv=argv,
                resolved_path="/bin/ls",
            ),
            at=self.now,
            timeout_s=timeout_s,
        )
        self.state[approval.pk] = State.REQUESTED
        return approval

    @rule(seconds=st.integers(0, 400))
    def wait(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(approval=approvals, who=st.integers(0, 2), decision=st.sampled_from(list(Decision)))
    def answer(self, approval: Approval, who: int, decision: Decision) -> None:
        before, wanted = self.state[approval.pk], STATE_OF[decision]
        is_open = before is State.REQUESTED and self.now < approval.expires_at
        try:
            answered = approval_resolve(approval, decision=decision, by=self.operators[who], at=self.now)
        except REFUSALS:
            assert not is_open and before is not wanted
            return
        assert is_open or before is wanted
        assert answered.state == wanted
        if before is State.REQUESTED:
            self._move(approval.pk, wanted)

    @rule()
    def sweep(self) -> None:
        due = {pk for pk, state in self.state.items() if state is State.REQUESTED and self._deadline(pk) <= self.now}
        expired = approvals_expire(self.now)
        assert expired == len(due)
        for pk in due:
            self._move(pk, State.EXPIRED)

    @rule(approval=approvals)
    def cancel(self, approval: Approval) -> None:
        approval_cancel(approval, at=self.now)
        if self.state[approval.pk] is State.REQUESTED:
            self._move(approval.pk, State.CANCELLED)

    @rule(approval=approvals, runner=st.uuids(version=4))
    def run(self, approval: Approval, runner: UUID) -> None:
        pk = approval.pk
        is_allowed = self.state[pk] in ALLOWED and self.now < self.decided_at[pk] + CLAIM_WINDOW
        try:
            claim = approval_claim(pk, boot=runner, at=self.now)
        except (ApprovalNotAllowedError, ApprovalClaimedError):
            assert not is_allowed or pk in self.runs or pk in self.finished
            return
        assert is_allowed and pk not in self.runs and pk not in self.finished
        assert claim.action["argv"] == approval.argv
        self.runs[pk] = 1

    @rule(approval=approvals)
    def finish(self, approval: Approval) -> None:
        approval_finish(approval.pk, at=self.now)
        if self.state[approval.pk] is not State.REQUESTED:
            self.finished.add(approval.pk)

    @invariant()
    def rows_are_as_the_model_says(self) -> None:
        for approval in Approval.objects.filter(pk__in=self.state):
            assert approval.state == self.state[approval.pk]
            assert (approval.decided_at is None) == (approval.state == State.REQUESTED)
            assert (approval.claimed_at is not None) == (approval.pk in self.runs)
            if approval.state not in ALLOWED and not approval.is_pending:
                assert approval.sealed_action is None

    @invariant()
    def each_end_is_told_once_and_each_always_is_granted_once(self) -> None:
        ended = [pk for pk, state in self.state.items() if state is not State.REQUESTED]
        kinds = ["approval_answered", "approval_expired", "approval_cancelled"]
        assert Entry.objects.filter(approval_id__in=self.state, kind__in=kinds).count() == len(ended)
        always = [pk for pk, state in self.state.items() if state is State.ALLOWED_ALWAYS]
        assert Grant.objects.filter(approval_id__in=self.state).count() == len(always)

    def _move(self, pk: UUID, state: State) -> None:
        assert state in TRANSITIONS[self.state[pk]]
        self.state[pk] = state
        self.decided_at[pk] = self.now

    def _deadline(self, pk: UUID) -> datetime:
        return Approval.objects.get(pk=pk).expires_at


def test_no_order_of_events_breaks_the_life_of_an_approval(db: None) -> None:
    run_state_machine_as_test(
        LifeOfApprovals,
        settings=settings(
            max_examples=25,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_no_state_but_the_first_leads_anywhere() -> None:
    assert {state for state, following in TRANSITIONS.items() if following} == {State.REQUESTED}
    assert set(TRANSITIONS) == set(State)


def test_every_refusal_has_a_code_of_its_own() -> None:
    codes = [error.code for error in ApprovalError.__subclasses__()]
    assert len(codes) == len(set(codes)) and "approval_error" not in codes
