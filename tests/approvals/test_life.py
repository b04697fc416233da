"""The life of a request: asked once, answered once, run once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from apps.approvals.drafts import ApprovalDraft
from apps.approvals.errors import (
    ActionChangedError,
    ApprovalAlreadyDecidedError,
    ApprovalCancelledError,
    ApprovalClaimedError,
    ApprovalExpiredError,
    ApprovalNotAllowedError,
    ApprovalNotFoundError,
    DecisionNotAllowedError,
)
from apps.approvals.models import Approval, Grant
from apps.approvals.running import CLAIM_WINDOW, approval_claim, approval_finish
from apps.approvals.selectors import approval_now, approvals_runnable
from apps.approvals.services import approval_cancel, approval_request, approval_resolve, approvals_expire
from apps.audit.errors import AuditUnavailableError
from apps.audit.models import Entry
from apps.firewall.identifiers import new_id
from tests.approvals.conftest import ARGV, NOON

pytestmark = pytest.mark.django_db

Ask = Callable[..., Approval]
SOON = NOON + timedelta(seconds=9)


def told(approval: Approval) -> list[tuple[str, str, str]]:
    entries = Entry.objects.filter(approval_id=approval.pk).order_by("at", "seq")
    return [(entry.kind, entry.status, entry.actor) for entry in entries]


def test_a_request_waits_with_its_deadline_and_the_ledger_knows(ask: Ask) -> None:
    approval = ask()
    assert approval.is_pending and approval.expires_at == NOON + timedelta(seconds=120)
    assert approval.reason_layer == "exec_policy" and approval.reason == "not on the list"
    assert told(approval) == [("approval_asked", "requested", "token:tok_1")]


@pytest.mark.parametrize(("dialect", "seconds"), [("2026.9", 1800), ("2026.2", 120)])
def test_the_dialect_says_how_long_a_person_has(
    draft_for: Callable[..., ApprovalDraft], dialect: str, seconds: int
) -> None:
    draft = draft_for()
    draft.environment.dialect = dialect
    assert approval_request(draft, at=NOON).expires_at == NOON + timedelta(seconds=seconds)


def test_asking_again_for_the_same_call_joins_the_request_that_stands(ask: Ask) -> None:
    first = ask()
    assert ask(call_id=first.call_id).pk == first.pk
    assert len(told(first)) == 1


def test_asking_again_for_another_action_is_refused(ask: Ask) -> None:
    first = ask()
    with pytest.raises(ActionChangedError):
        ask(call_id=first.call_id, action={"argv": ["rm", "-rf", "/"]})


def test_what_people_see_is_masked_and_what_runs_is_not(ask: Ask, operator: Any) -> None:
    secret = "sk-live-canary-0123456789abcdefXYZ"
    argv = ["curl", "-H", f"Authorization: Bearer {secret}"]
    fields: dict[str, Any] = {"argv": argv, "command": " ".join(argv), "params": {"command": " ".join(argv)}}
    approval = ask(action={"argv": argv}, **fields)
    shown = Approval.objects.values().get(pk=approval.pk)
    assert secret not in str({name: value for name, value in shown.items() if name != "sealed_action"})
    assert secret.encode() not in bytes(shown["sealed_action"] or b"")
    approval_resolve(approval, decision="allow-once", by=operator, at=SOON)
    assert approval_claim(approval.pk, boot=new_id(), at=SOON).action == {"argv": argv}


@pytest.mark.parametrize(
    ("decision", "state"), [("allow-once", "allowed_once"), ("allow-always", "allowed_always"), ("deny", "denied")]
)
def test_an_answer_decides_and_is_told(ask: Ask, operator: Any, decision: str, state: str) -> None:
    approval = approval_resolve(ask(), decision=decision, by=operator, at=SOON, reason="use the job")
    stored = Approval.objects.get(pk=approval.pk)
    assert (stored.state, stored.decided_by, stored.decided_by_label) == (state, operator, "Operator")
    assert (stored.decided_at, stored.decision_reason, stored.version) == (SOON, "use the job", 2)
    assert told(approval)[1] == ("approval_answered", state, "user:operator")


def test_the_ledger_says_how_long_the_person_took(ask: Ask, operator: Any) -> None:
    approval = approval_resolve(ask(), decision="deny", by=operator, at=SOON)
    assert Entry.objects.get(approval_id=approval.pk, kind="approval_answered").duration_ms == 9000


def test_it_refuses_a_second_different_answer_and_says_who_was_first(ask: Ask, operator: Any, colleague: Any) -> None:
    approval = approval_resolve(ask(), decision="deny", by=colleague, at=SOON)
    with pytest.raises(ApprovalAlreadyDecidedError, match="`Tomas`") as refused:
        approval_resolve(approval, decision="allow-once", by=operator, at=SOON + timedelta(seconds=1))
    assert (refused.value.state, refused.value.decided_at) == ("denied", SOON)
    assert Approval.objects.get(pk=approval.pk).state == "denied"


def test_the_same_answer_again_is_harmless(ask: Ask, operator: Any, colleague: Any) -> None:
    approval = approval_resolve(ask(), decision="deny", by=colleague, at=SOON)
    again = approval_resolve(approval, decision="deny", by=operator, at=SOON)
    assert again.decided_by == colleague and len(told(approval)) == 2


@pytest.mark.parametrize("decision", ["allow", "", "allow-always"])
def test_only_what_the_request_offers_may_be_answered(ask: Ask, operator: Any, decision: str) -> None:
    with pytest.raises(DecisionNotAllowedError):
        approval_resolve(ask(decisions=["allow-once", "deny"]), decision=decision, by=operator, at=SOON)


def test_an_answer_at_the_deadline_is_too_late_even_before_the_sweep(ask: Ask, operator: Any) -> None:
    approval = ask()
    with pytest.raises(ApprovalExpiredError):
        approval_resolve(approval, decision="allow-once", by=operator, at=approval.expires_at)
    assert Approval.objects.get(pk=approval.pk).is_pending


def test_time_running_out_means_no(ask: Ask, operator: Any) -> None:
    approval = ask()
    assert approvals_expire(approval.expires_at - timedelta(seconds=1)) == 0
    assert [approvals_expire(approval.expires_at), approvals_expire(approval.expires_at)] == [1, 0]
    assert told(approval)[1:] == [("approval_expired", "expired", "system")]
    with pytest.raises(ApprovalExpiredError):
        approval_resolve(approval, decision="allow-once", by=operator, at=SOON)
    with pytest.raises(ApprovalNotAllowedError):
        approval_claim(approval.pk, boot=new_id(), at=SOON)


def test_a_withdrawn_request_cannot_be_answered(ask: Ask, operator: Any) -> None:
    approval = approval_cancel(ask(), at=SOON, reason="the agent was stopped")
    assert told(approval)[1] == ("approval_cancelled", "cancelled", "system")
    with pytest.raises(ApprovalCancelledError):
        approval_resolve(approval, decision="allow-once", by=operator, at=SOON)


def test_withdrawing_after_the_answer_changes_nothing(ask: Ask, operator: Any) -> None:
    approval = approval_resolve(ask(), decision="allow-once", by=operator, at=SOON)
    assert approval_cancel(approval, at=SOON).state == "allowed_once"


def test_an_allowed_action_goes_to_exactly_one_runner(ask: Ask, operator: Any) -> None:
    approval = approval_resolve(ask(), decision="allow-once", by=operator, at=SOON)
    boot = new_id()
    claim = approval_claim(approval.pk, boot=boot, at=SOON)
    assert claim.action["argv"] == list(ARGV) and claim.approval.claimed_by == boot
    with pytest.raises(ApprovalClaimedError):
        approval_claim(approval.pk, boot=boot, at=SOON)


@pytest.mark.parametrize("decision", [None, "deny"])
def test_nothing_runs_that_nobody_allowed(ask: Ask, operator: Any, decision: str | None) -> None:
    approval = ask()
    if decision:
        approval_resolve(approval, decision=decision, by=operator, at=SOON)
    with pytest.raises(ApprovalNotAllowedError):
        approval_claim(approval.pk, boot=new_id(), at=SOON)


def test_a_yes_from_long_ago_does_not_run_any_more(ask: Ask, operator: Any) -> None:
    approval = approval_resolve(ask(), decision="allow-once", by=operator, at=SOON)
    assert approvals_runnable(SOON) == [approval] and approvals_runnable(SOON + CLAIM_WINDOW) == []
    with pytest.raises(ApprovalNotAllowedError, match="too long ago"):
        approval_claim(approval.pk, boot=new_id(), at=SOON + CLAIM_WINDOW)


def test_an_action_that_was_changed_in_its_row_does_not_run(ask: Ask, operator: Any) -> None:
    approval, other = ask(), ask(action={"argv": ["rm", "-rf", "/"]})
    approval_resolve(approval, decision="allow-once", by=operator, at=SOON)
    Approval.objects.filter(pk=approval.pk).update(sealed_action=bytes(other.sealed_action or b""))
    with pytest.raises(ActionChangedError):
        approval_claim(approval.pk, boot=new_id(), at=SOON)


def test_finishing_destroys_what_was_sealed(ask: Ask, operator: Any) -> None:
    approval = approval_resolve(ask(), decision="allow-once", by=operator, at=SOON)
    approval_claim(approval.pk, boot=new_id(), at=SOON)
    approval_finish(approval.pk, at=SOON)
    approval_finish(approval.pk, at=SOON + timedelta(seconds=5))
    stored = Approval.objects.get(pk=approval.pk)
    assert stored.sealed_action is None and stored.finished_at == SOON
    with pytest.raises(ApprovalClaimedError):
        approval_claim(approval.pk, boot=new_id(), at=SOON)


@pytest.mark.parametrize("end", ["deny", "expire", "cancel"])
def test_a_request_that_ended_with_no_keeps_nothing_sealed(ask: Ask, operator: Any, end: str) -> None:
    approval = ask()
    if end == "deny":
        approval_resolve(approval, decision="deny", by=operator, at=SOON)
    elif end == "expire":
        approvals_expire(approval.expires_at)
    else:
        approval_cancel(approval, at=SOON)
    assert Approval.objects.get(pk=approval.pk).sealed_action is None


def test_an_unknown_request_is_named_so() -> None:
    with pytest.raises(ApprovalNotFoundError):
        approval_claim(new_id(), boot=new_id(), at=SOON)
    assert approval_now(new_id()) is None


class TestWhenTheLedgerRefuses:
    """If audit refuses, nothing changes."""

    @pytest.fixture
    def closed_ledger(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
        def refuse(_draft: object) -> None:
            raise AuditUnavailableError("the audit ledger cannot store the entry: disk full")

        def close() -> None:
            monkeypatch.setattr("apps.approvals.services.entry_record", refuse)
            monkeypatch.setattr("apps.approvals.services.entries_record", refuse)

        return close

    def test_nothing_is_asked(self, ask: Ask, closed_ledger: Callable[[], None]) -> None:
        closed_ledger()
        with pytest.raises(AuditUnavailableError):
            ask()
        assert not Approval.objects.exists()

    @pytest.mark.parametrize("decision", ["allow-once", "allow-always", "deny"])
    def test_nothing_is_decided(
        self, ask: Ask, operator: Any, closed_ledger: Callable[[], None], decision: str
    ) -> None:
        approval = ask()
        closed_ledger()
        with pytest.raises(AuditUnavailableError):
            approval_resolve(approval, decision=decision, by=operator, at=SOON)
        assert Approval.objects.get(pk=approval.pk).is_pending and not Grant.objects.exists()

    def test_nothing_expires(self, ask: Ask, closed_ledger: Callable[[], None]) -> None:
        approval = ask()
        closed_ledger()
        with pytest.raises(AuditUnavailableError):
            approvals_expire(approval.expires_at)
        assert Approval.objects.get(pk=approval.pk).is_pending
