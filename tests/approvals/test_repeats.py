"""Repeats join, what changed supersedes, and what came too late or from the requester is refused on record."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from apps.accounts.models import ApiToken
from apps.approvals.drafts import ApprovalDraft
from apps.approvals.errors import (
    ApprovalAlreadyDecidedError,
    ApprovalError,
    ApprovalExpiredError,
    ApprovalSupersededError,
    OwnRequestError,
)
from apps.approvals.models import Approval
from apps.approvals.services import approval_request, approval_resolve, approval_supersede, approvals_expire
from apps.approvals.states import TRANSITIONS, State
from apps.audit.models import Entry
from tests.approvals.conftest import ARGV, NOON
from tests.approvals.test_life import told

Draft = Callable[..., ApprovalDraft]
Ask = Callable[..., Approval]
SOON = NOON + timedelta(seconds=9)
QUESTION = {"agent": "ops-runner", "session": "agent:ops-runner:main", "params": {"command": " ".join(ARGV)}}
ACTION = {"tool": "exec", "argv": list(ARGV), "files": {"/usr/bin/curl": "sha256:1"}, "actor": "token:tok_1"}


def repeated(draft_for: Draft, *, files: str = "sha256:1", **more: Any) -> ApprovalDraft:
    return draft_for(question=QUESTION, action={**ACTION, "files": {"/usr/bin/curl": files}}, **more)


def test_a_repeat_joins_the_request_that_waits(draft_for: Draft) -> None:
    first = approval_request(repeated(draft_for), at=NOON, timeout_s=120)
    again = approval_request(repeated(draft_for), at=SOON, timeout_s=120)
    assert again.pk == first.pk and again.call_id == first.call_id and again.expires_at == first.expires_at
    assert Approval.objects.count() == 1 and len(told(first)) == 1


def test_a_repeat_of_which_something_changed_supersedes_the_request_that_waits(draft_for: Draft) -> None:
    first = approval_request(repeated(draft_for), at=NOON, timeout_s=120)
    second = approval_request(repeated(draft_for, files="sha256:2"), at=SOON, timeout_s=120)
    first.refresh_from_db()
    assert second.pk != first.pk and second.is_pending
    assert (first.state, first.superseded_by, first.sealed_action) == (State.SUPERSEDED, second, None)
    assert "files" in first.decision_reason
    assert told(first)[1] == ("approval_superseded", "superseded", "system")


@pytest.mark.parametrize("other", [{"question": None}, {"question": {**QUESTION, "session": "another"}}])
def test_what_is_no_repeat_asks_for_itself(draft_for: Draft, other: dict[str, Any]) -> None:
    approval_request(repeated(draft_for), at=NOON, timeout_s=120)
    approval_request(draft_for(**({"action": ACTION} | other)), at=NOON, timeout_s=120)
    assert Approval.objects.filter(state=State.REQUESTED).count() == 2


@pytest.mark.parametrize("end", ["deny", "expire", "late"])
def test_a_repeat_after_the_end_asks_anew(draft_for: Draft, operator: Any, end: str) -> None:
    first = approval_request(repeated(draft_for), at=NOON, timeout_s=120)
    if end == "deny":
        approval_resolve(first, decision="deny", by=operator, at=SOON)
    if end == "expire":
        approvals_expire(first.expires_at)
    second = approval_request(repeated(draft_for), at=first.expires_at, timeout_s=120)
    assert second.pk != first.pk and second.is_pending
    first.refresh_from_db()
    assert first.state == (State.DENIED if end == "deny" else State.EXPIRED)


def test_a_superseded_request_cannot_be_answered(ask: Ask, operator: Any) -> None:
    approval = ask()
    assert approval_supersede(approval, reason="the policy changed", at=SOON)
    assert not approval_supersede(approval, reason="again", at=SOON)
    with pytest.raises(ApprovalSupersededError, match="the policy changed"):
        approval_resolve(approval, decision="allow-once", by=operator, at=SOON)


def test_an_answer_after_the_answer_is_refused_and_on_record(ask: Ask, operator: Any, colleague: Any) -> None:
    approval = approval_resolve(ask(), decision="deny", by=colleague, at=SOON)
    with pytest.raises(ApprovalAlreadyDecidedError):
        approval_resolve(approval, decision="allow-once", by=operator, at=SOON)
    entry = Entry.objects.get(approval_id=approval.pk, kind="approval_refused")
    assert (entry.status, entry.actor) == ("approval_already_decided", "user:operator")
    assert entry.changes == {"decision": "allow-once", "state": "denied"}


def test_an_answer_after_the_deadline_is_refused_and_on_record(ask: Ask, operator: Any) -> None:
    approval = ask()
    with pytest.raises(ApprovalExpiredError):
        approval_resolve(approval, decision="allow-once", by=operator, at=approval.expires_at)
    assert told(approval)[1] == ("approval_refused", "approval_expired", "user:operator")
    assert Approval.objects.get(pk=approval.pk).is_pending


def token_of(person: Any) -> ApiToken:
    return ApiToken.objects.create(
        name="t", secret_hash=f"{person}{ApiToken.objects.count()}", created_by=person, scopes=["calls_make"]
    )


@pytest.mark.parametrize("decision", ["allow-once", "allow-always"])
@pytest.mark.parametrize("who", ["token", "person", "other token"])
def test_nobody_allows_their_own_call(ask: Ask, operator: Any, decision: str, who: str) -> None:
    token = token_of(operator)
    approval = ask(actor=token.actor, requester=operator.actor)
    by = {"token": token, "person": operator, "other token": token_of(operator)}[who]
    with pytest.raises(OwnRequestError):
        approval_resolve(approval, decision=decision, by=by, at=SOON)
    assert told(approval)[1][:2] == ("approval_refused", "own_request")
    assert Approval.objects.get(pk=approval.pk).is_pending


def test_whoever_asked_may_still_deny(ask: Ask, operator: Any) -> None:
    approval = ask(actor="token:tok_1", requester=operator.actor)
    assert approval_resolve(approval, decision="deny", by=operator, at=SOON).state == State.DENIED


def test_a_colleague_allows_it(ask: Ask, operator: Any, colleague: Any) -> None:
    approval = ask(actor="token:tok_1", requester=operator.actor)
    assert approval_resolve(approval, decision="allow-once", by=colleague, at=SOON).is_allowed


@pytest.mark.parametrize("state", [state for state, following in TRANSITIONS.items() if not following])
@pytest.mark.parametrize("wanted", list(State))
def test_the_database_itself_lets_no_end_be_changed(ask: Ask, state: State, wanted: State) -> None:
    approval = ask()
    rows = Approval.objects.filter(pk=approval.pk)
    rows.update(state=state, decided_at=SOON)
    if wanted == state:
        return
    with pytest.raises(DatabaseError), transaction.atomic():
        rows.update(state=wanted, decided_at=None if wanted == State.REQUESTED else SOON)
    assert Approval.objects.get(pk=approval.pk).state == state


def test_the_database_knows_no_other_state(ask: Ask) -> None:
    approval = ask()
    with pytest.raises((IntegrityError, DatabaseError)), transaction.atomic():
        Approval.objects.filter(pk=approval.pk).update(state="maybe", decided_at=SOON)


def test_every_refusal_says_what_it_is() -> None:
    assert issubclass(ApprovalSupersededError, ApprovalError) and ApprovalSupersededError.code == "approval_superseded"
