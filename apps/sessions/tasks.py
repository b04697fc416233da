"""Doors for Celery: each reads the clock and calls one service."""

from celery import shared_task
from django.utils import timezone

from apps.events.clock import clock_rests
from apps.sessions.services import sessions_sweep


@shared_task(name="sessions.sweep")
def sessions_sweep_task() -> int:
    """Close runs that went quiet, and remove sessions that nobody has used for long.

    Every ten minutes; not while the clock was set forward lately.
    """
    at = timezone.now()
    return 0 if clock_rests(at) else sessions_sweep(at)
