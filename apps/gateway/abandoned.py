"""Allowed actions whose runner is gone: nobody knows what was done, so that is what the record says."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from apps.approvals.models import Approval
from apps.approvals.running import approval_finish
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.models import Boot
from apps.audit.selectors import call_record
from apps.audit.services import entry_record

OPEN = frozenset({"awaiting_approval", "approved", "running"})
CLAIMED = Approval.objects.filter(claimed_at__isnull=False, finished_at=None)


def abandoned_end(at: datetime) -> int:
    """End every claimed action whose process has ended; none of them is ever run again.

    One with an intent on record gets its outcome from `sweep_orphans`, and is left to it until then.

    Returns:
        How many were ended now.
    """
    claimed = dict(CLAIMED.values_list("pk", "claimed_by"))
    if not claimed:
        return 0
    gone = set(Boot.objects.filter(id__in=set(claimed.values()), ended_at__isnull=False).values_list("id", flat=True))
    return sum(_end_one(approval_id, at) for approval_id, boot in claimed.items() if boot in gone)


@transaction.atomic
def _end_one(approval_id: UUID, at: datetime) -> bool:
    locked = CLAIMED.select_for_update(of=("self",), skip_locked=True).select_related("environment")
    approval = locked.filter(pk=approval_id).first()
    if approval is None:
        return False  # another process ends it now, or has ended it
    record = call_record(approval.call_id)
    if record is not None and record.status == "running":
        return False
    if record is None or record.status in OPEN:
        entry_record(_unknown(approval, at))
    approval_finish(approval.pk, at=at)
    return True


def _unknown(approval: Approval, at: datetime) -> EntryDraft:
    return EntryDraft(
        kind=EntryKind.CALL_OUTCOME,
        actor=approval.requester or "system",
        environment=approval.environment.slug,
        agent=approval.agent,
        session_key=approval.session_key,
        channel=approval.channel,
        sender=approval.sender,
        tool=approval.tool,
        call_id=approval.call_id,
        approval_id=approval.pk,
        status="unknown",
        error={"code": "process_gone", "message": "the process that took the action ended before it said how it went"},
        snapshot_digest=approval.snapshot_digest,
        trace_id=approval.trace_id,
        at=at,
    )
