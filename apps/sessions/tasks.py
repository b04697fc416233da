"""Doors for Celery: each reads the clock and calls one service."""

from celery import shared_task
from django.utils import timezone

from apps.sessions.services import sessions_sweep


@shared_task(name="sessions.sweep")
def sessions_sweep_task() -> int:
    """Close runs that went quiet, and remove sessions that nobody has used for long. Every ten minutes."""
    return sessions_sweep(timezone.now())
