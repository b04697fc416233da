"""Doors for Celery: each reads the clock and calls one service."""

from celery import shared_task
from django.utils import timezone

from apps.events.clock import clock_rests
from apps.limits.counting import counters_forget
from apps.limits.keeping import results_forget


@shared_task(name="limits.forget")
def limits_forget_task() -> int:
    """Remove results that have expired, and counters nobody uses.

    Every few minutes; not while the clock was set forward lately.
    """
    at = timezone.now()
    return 0 if clock_rests(at) else results_forget(at) + counters_forget(at)
