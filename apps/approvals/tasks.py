"""Doors for Celery: each reads the clock and calls one service."""

from celery import shared_task
from django.utils import timezone

from apps.approvals.escalating import approvals_escalate
from apps.approvals.running import approvals_abandon
from apps.approvals.services import approvals_expire


@shared_task(name="approvals.expire")
def approvals_expire_task() -> int:
    """End the requests whose time is over. Every few seconds."""
    return approvals_expire(timezone.now())


@shared_task(name="approvals.escalate")
def approvals_escalate_task() -> int:
    """Take requests that nobody answered to others as well. Every few seconds."""
    return approvals_escalate(timezone.now())


@shared_task(name="approvals.abandon")
def approvals_abandon_task() -> int:
    """Close allowed actions that no runner will run any more. Every minute."""
    return approvals_abandon(timezone.now())
