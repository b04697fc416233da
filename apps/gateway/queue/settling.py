"""Asynchronous calls that nobody will end any more: their process is gone, a person said no, or it is too late."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from apps.approvals.models import Approval
from apps.approvals.selectors import approval_of_call
from apps.approvals.states import ALLOWED
from apps.audit.models import Boot
from apps.audit.selectors import call_record
from apps.events.clock import clock_rests
from apps.gateway.abandoned import OPEN
from apps.gateway.models import AsyncCall, CallCancel
from apps.gateway.queue.rows import State, call_close, call_settle, locked

# A queued call that no worker took in this time does not run any more: nobody expects it.
QUEUE_WINDOW = timedelta(hours=1)
ASKING = timedelta(minutes=1)
KEPT = timedelta(days=7)
RING_AGAIN = timedelta(seconds=2)
GONE = "the process that took the call ended before it said how it went"
TOO_LATE = "no worker took it within an hour, and it did not run"


def calls_settle(at: datetime) -> int:
    """End what cannot go on; nothing of it is ever run again. Harmless to repeat, and to race.

    Returns:
        How many calls were ended now.
    """
    return _settle_awaiting(at) + _settle_queued(at) + _settle_running(at)


def calls_waiting(at: datetime) -> bool:
    """Say whether calls wait longer than a message of the broker takes: it may have been lost."""
    return AsyncCall.objects.filter(state=State.QUEUED, queued_at__lte=at - RING_AGAIN).exists()


def calls_forget(at: datetime) -> int:
    """Forget calls that ended a week ago, and wishes to end calls; the ledger keeps what happened.

    Returns:
        How many calls were forgotten.
    """
    CallCancel.objects.filter(asked_at__lt=at - KEPT).delete()
    old = AsyncCall.objects.filter(state=State.DONE, ended_at__lt=at - KEPT)
    return old.exclude(callback=AsyncCall.Callback.WAITING).delete()[1].get("gateway.AsyncCall", 0)


def _settle_awaiting(at: datetime) -> int:
    waiting = AsyncCall.objects.filter(state=State.AWAITING).values_list("pk", flat=True)
    return sum(call_settle_asked(call_id, at) for call_id in waiting)


def approval_settle(approval_id: UUID, at: datetime) -> bool:
    """End the asynchronous call of an approval that ended without a yes; harmless for any other.

    Returns:
        Whether it was ended now.
    """
    call_id = Approval.objects.filter(pk=approval_id).values_list("call_id", flat=True).first()
    return call_id is not None and call_settle_asked(call_id, at)


def call_settle_asked(call_id: UUID, at: datetime) -> bool:
    """End a call whose approval ended without a yes, or never came to be.

    Returns:
        Whether it was ended now.
    """
    with transaction.atomic():
        row = locked(call_id)
        if row is None or row.state != State.AWAITING:
            return False
        approval = approval_of_call(call_id)
        if approval is None:
            if at - row.asked_at > ASKING:  # its process ended before it asked: nobody was told of this call
                row.delete()
            return False
        if approval.is_pending or (approval.state in ALLOWED and approval.finished_at is None):
            return False
        outcome = "cancelled" if approval.state == "cancelled" else "denied"
        call_settle(row, outcome, code=f"approval_{approval.state}", at=at)
        return True


def _settle_queued(at: datetime) -> int:
    if clock_rests(at, limit=QUEUE_WINDOW):
        return 0
    late = AsyncCall.objects.filter(state=State.QUEUED, queued_at__lte=at - QUEUE_WINDOW)
    return sum(_end_late(call_id, at) for call_id in late.values_list("pk", flat=True))


def _end_late(call_id: UUID, at: datetime) -> bool:
    with transaction.atomic():
        row = locked(call_id)
        if row is None or row.state != State.QUEUED:
            return False
        call_close(row, "failed", code="not_started", message=TOO_LATE, at=at)
        return True


def _settle_running(at: datetime) -> int:
    claimed = dict(AsyncCall.objects.filter(state=State.RUNNING).values_list("pk", "claimed_by"))
    if not claimed:
        return 0
    gone = set(Boot.objects.filter(id__in=set(claimed.values()), ended_at__isnull=False).values_list("id", flat=True))
    return sum(_end_abandoned(call_id, at) for call_id, boot in claimed.items() if boot in gone)


def _end_abandoned(call_id: UUID, at: datetime) -> bool:
    """End a call whose process is gone. One with an intent on record gets its outcome from `sweep_orphans` first."""
    with transaction.atomic():
        row = locked(call_id)
        if row is None or row.state != State.RUNNING:
            return False
        record = call_record(call_id)
        if record is not None and record.status == "running":
            return False
        if record is None or record.status in OPEN:
            call_close(row, "unknown", code="process_gone", message=GONE, at=at)
        else:
            code = record.error.get("code", "") if isinstance(record.error, dict) else ""
            call_settle(row, record.status, code=str(code), at=at)
        return True
