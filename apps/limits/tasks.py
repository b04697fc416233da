"""Doors for Celery: each reads the clock and calls one service."""

from celery import shared_task
from django.utils import timezone

from apps.limits.counting import counters_forget
from apps.limits.keeping import results_forget


@shared_task(name="limits.forget")
def limits_forget_task() -> int:
    """Remove results that have expired, and counters nobody uses. Every few minutes."""
    at = timezone.now()
    return results_forget(at) + counters_forget(at)
