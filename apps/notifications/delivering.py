"""One delivery: taken by one process, sent, recorded; tried again with growing pauses, or given up."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.audit.masking import Masker
from apps.notifications.models import Delivery, State
from apps.notifications.sending import Heard, send

BACK_OFF_S: Final = (5, 20, 60, 180)
"""Seconds after each attempt that failed; after the last one it is given up."""
LEASE: Final = timedelta(seconds=60)
KEPT: Final = timedelta(days=30)
MESSAGE_LETTERS: Final = 500


def deliveries_due(at: datetime, *, limit: int = 100) -> list[UUID]:
    """Name the deliveries that wait for an attempt."""
    due = Delivery.objects.filter(due_at__lte=at).order_by("due_at")
    return list(due.values_list("pk", flat=True)[:limit])


def deliver(delivery_id: UUID) -> None:
    """Make the attempt that is due, if one is."""
    delivery = delivery_claim(delivery_id, timezone.now())
    if delivery is not None:
        heard = send(delivery, timezone.now())
        delivery_heard(delivery, heard, timezone.now())


def delivery_claim(delivery_id: UUID, at: datetime) -> Delivery | None:
    """Take the next attempt; None when none is due, another process has it, or nobody needs to be told any more."""
    with transaction.atomic():
        row = _locked(delivery_id)
        if row is None or row.due_at is None or row.due_at > at:
            return None
        if row.approval is not None and (not row.approval.is_pending or at >= row.approval.expires_at):
            _end(row, State.DROPPED, at)
            return None
        row.attempts += 1
        row.due_at = at + LEASE
        row.save(update_fields=["attempts", "due_at"])
        return row


def delivery_heard(taken: Delivery, heard: Heard, at: datetime) -> None:
    """Record what came of an attempt."""
    with transaction.atomic():
        row = _locked(taken.pk)
        if row is None or row.due_at is None or row.attempts != taken.attempts:
            return
        row.status, row.error_code = heard.status, heard.error_code
        row.message = Masker().text(heard.message)[:MESSAGE_LETTERS]
        if heard.is_fine:
            _end(row, State.SENT, at)
        elif heard.is_gone or row.attempts > len(BACK_OFF_S):
            _end(row, State.GIVEN_UP, at)
        else:
            row.state, row.due_at = State.FAILED, at + timedelta(seconds=BACK_OFF_S[row.attempts - 1])
            row.save(update_fields=["state", "due_at", "status", "error_code", "message"])
        if heard.is_gone and row.subscription is not None:
            row.subscription.delete()


def deliveries_forget(at: datetime) -> int:
    """Forget deliveries that ended long ago. Once a day."""
    return Delivery.objects.filter(ended_at__lt=at - KEPT).delete()[0]


def _end(row: Delivery, state: State, at: datetime) -> None:
    row.state, row.due_at, row.ended_at = state, None, at
    row.save(update_fields=["state", "due_at", "ended_at", "status", "error_code", "message"])


def _locked(delivery_id: UUID) -> Delivery | None:
    about = ("approval__environment", "export", "release__request", "release__publication", "alarm")
    related = ("environment", *about, "person", "subscription", "webhook")
    rows = Delivery.objects.select_for_update(of=("self",)).select_related(*related)
    return rows.filter(pk=delivery_id).first()
