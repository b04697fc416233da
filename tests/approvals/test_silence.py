"""A request that nobody answers: denied, unless a setting lets just that command run."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from apps.approvals.errors import ApprovalAlreadyDecidedError
from apps.approvals.models import Approval
from apps.approvals.rules import SILENCE_COUNTS
from apps.approvals.running import approval_claim
from apps.approvals.selectors import approvals_runnable
from apps.approvals.services import approval_resolve, approvals_expire
from apps.audit.models import Entry
from apps.firewall.identifiers import new_id

pytestmark = pytest.mark.django_db

Ask = Callable[..., Approval]
RULE = "execApprovals.defaults.askFallback"


def test_a_setting_lets_it_run_and_the_ledger_says_which(ask: Ask) -> None:
    approval = ask(fallback_rule=RULE)
    assert approvals_expire(approval.expires_at) == 1
    approval.refresh_from_db()
    assert (approval.state, approval.decided_by_label) == ("allowed_once", "")
    assert approval.decision_reason == f"nobody answered in time ({RULE})"
    assert [each.pk for each in approvals_runnable(approval.expires_at)] == [approval.pk]
    claim = approval_claim(approval.pk, boot=new_id(), at=approval.expires_at)
    assert claim.action["tool"] == "exec"
    entry = Entry.objects.filter(approval_id=approval.pk).order_by("at", "seq").last()
    assert entry is not None
    assert (entry.kind, entry.status, entry.actor) == ("approval_expired", "allowed_once", "system")


def test_without_one_silence_denies(ask: Ask) -> None:
    approval = ask()
    approvals_expire(approval.expires_at)
    approval.refresh_from_db()
    assert (approval.state, approval.sealed_action) == ("expired", None)


def test_what_was_missed_while_no_sweep_ran_is_denied(ask: Ask) -> None:
    approval = ask(fallback_rule=RULE)
    approvals_expire(approval.expires_at + SILENCE_COUNTS)
    approval.refresh_from_db()
    assert approval.state == "expired"


def test_what_others_run_is_theirs_to_end(ask: Ask) -> None:
    approval = ask(fallback_rule=RULE, runs_here=False)
    approvals_expire(approval.expires_at)
    approval.refresh_from_db()
    assert (approval.state, approval.fallback_rule) == ("expired", "")


def test_an_answer_in_time_counts_and_a_late_one_does_not(ask: Ask, operator: Any) -> None:
    denied = ask(fallback_rule=RULE)
    approval_resolve(denied, decision="deny", by=operator, at=denied.expires_at - timedelta(seconds=1))
    approvals_expire(denied.expires_at)
    denied.refresh_from_db()
    assert denied.state == "denied"
    late = ask(fallback_rule=RULE, call_id=new_id())
    approvals_expire(late.expires_at)
    with pytest.raises(ApprovalAlreadyDecidedError):
        approval_resolve(late, decision="deny", by=operator, at=late.expires_at)
