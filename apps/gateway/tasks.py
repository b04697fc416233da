"""Doors for Celery: each reads the clock and calls one service."""

from celery import shared_task
from django.utils import timezone

from apps.gateway.services import slots_forget


@shared_task(name="gateway.slots_forget")
def slots_forget_task() -> int:
    """Forget idempotency keys that are too old to come again. Once a day."""
    return slots_forget(timezone.now())
