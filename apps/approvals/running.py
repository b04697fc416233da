"""Running what was allowed: taken by one runner, finished, abandoned, or refused because something had changed."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from apps.approvals.drafts import Claim
from apps.approvals.errors import ApprovalClaimedError, ApprovalNotAllowedError
from apps.approvals.models import Approval
from apps.approvals.records import SYSTEM, approval_entry
from apps.approvals.rows import approval_locked, approval_save
from apps.approvals.sealing import unsealed_action
from apps.approvals.states import ALLOWED, State
from apps.audit.drafts import EntryKind
from apps.audit.services import entry_record
from apps.events.clock import clock_rests
from apps.events.notices import announce

# An allowed action that no runner took in this time (all were down) does not run any more: nobody expects it.
CLAIM_WINDOW = timedelta(minutes=15)
NOT_RUN = "it was allowed, but no runner took it in time"
NOT_TAKEN = "it was allowed, but the gateway that asked no longer waited for the answer"


def approval_claim(approval_id: UUID, *, boot: UUID, at: datetime) -> Claim:
    """Take the right to run an allowed action. Exactly one runner gets it, ever.

    Args:
        boot: the runner's boot (`audit.services.boot_id`): should it die, the sweeper knows.
    Returns:
        The approval, and the action exactly as it was asked for.
    Raises:
        ApprovalNotFoundError: no such approval.
        ApprovalNotAllowedError: not answered with yes, too long ago, or not ours to run.
        ApprovalClaimedError: another runner has it, or had it.
        ActionChangedError: the kept action is not the one that was allowed.
    """
    with transaction.atomic():
        approval = approval_locked(approval_id)
        if not approval.runs_here:
            raise ApprovalNotAllowedError("whoever asked runs it")
        if approval.state not in ALLOWED or approval.decided_at is None:
            raise ApprovalNotAllowedError(f"the request is {approval.state}")
        if approval.claimed_at is not None or approval.finished_at is not None:
            raise ApprovalClaimedError("the action was already taken by a runner")
        if at >= approval.decided_at + CLAIM_WINDOW:
            raise ApprovalNotAllowedError("it was allowed too long ago")
        action = unsealed_action(approval)
        approval.claimed_at = at
        approval.claimed_by = boot
        approval_save(approval, "claimed_at", "claimed_by")
        announce("approval.changed", id=approval.pk, environment=approval.environment.slug)
    return Claim(approval=approval, action=action)


def approval_drifted(approval_id: UUID, *, parts: Sequence[str]) -> None:
    """Keep what had changed between asking and running, for the card; the refusal itself is the runtime's entry.

    Args:
        parts: for people, such as "file /srv/run.sh"; the first that are told stay.
    """
    with transaction.atomic():
        approval = approval_locked(approval_id)
        if approval.drift is not None:
            return
        approval.drift = list(parts)
        approval_save(approval, "drift")
        announce("approval.changed", id=approval.pk, environment=approval.environment.slug)


def approval_finish(approval_id: UUID, *, at: datetime) -> None:
    """Say that the action has ended, however it ended: what was sealed is destroyed. Harmless to repeat."""
    with transaction.atomic():
        approval = approval_locked(approval_id)
        if approval.finished_at is not None or approval.is_pending:
            return
        approval.finished_at = at
        approval.sealed_action = None
        approval_save(approval, "finished_at", "sealed_action")
        announce("approval.changed", id=approval.pk, environment=approval.environment.slug)


def approvals_abandon(at: datetime) -> int:
    """Close allowed actions that no runner took in time, and tell that they did not run.

    What a runner took is the gateway's and the ledger's matter, also when its process is gone.

    Returns:
        How many were closed.
    """
    if clock_rests(at, limit=CLAIM_WINDOW):
        return 0
    is_late = Q(decided_at__lte=at - CLAIM_WINDOW) | Q(waits_until__lte=at)
    late = Approval.objects.filter(is_late, state__in=ALLOWED, claimed_at=None, finished_at=None)
    return sum(_abandon_one(pk, at) for pk in late.values_list("pk", flat=True))


def _abandon_one(approval_id: UUID, at: datetime) -> bool:
    with transaction.atomic():
        approval = approval_locked(approval_id)
        if approval.claimed_at is not None or approval.finished_at is not None:
            return False
        approval.finished_at, approval.sealed_action = at, None
        approval_save(approval, "finished_at", "sealed_action")
        announce("approval.changed", id=approval.pk, environment=approval.environment.slug)
        reason = NOT_RUN if approval.waits_until is None else NOT_TAKEN
        entry_record(
            approval_entry(approval, EntryKind.DENIAL, actor=SYSTEM, at=at, status=State.DENIED, reason=reason)
        )
    return True
