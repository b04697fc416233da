"""Doors for Celery: each reads the clock and calls one service."""

from celery import shared_task
from django.utils import timezone

from apps.runs.services import runs_sweep


@shared_task(name="runs.sweep")
def runs_sweep_task() -> int:
    """End runs that went quiet, and remove those that nobody has used for long. Every ten minutes."""
    return runs_sweep(timezone.now())
