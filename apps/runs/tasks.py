"""Doors for Celery: each reads the clock and calls one service."""

from celery import shared_task
from django.utils import timezone

from apps.events.clock import clock_rests
from apps.runs.services import runs_sweep


@shared_task(name="runs.sweep")
def runs_sweep_task() -> int:
    """End runs that went quiet, and remove those that nobody has used for long.

    Every ten minutes; not while the clock was set forward lately.
    """
    at = timezone.now()
    return 0 if clock_rests(at) else runs_sweep(at)
