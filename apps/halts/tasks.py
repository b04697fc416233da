"""Doors for Celery: each reads the clock and calls one service."""

from celery import shared_task
from django.utils import timezone

from apps.halts.storms import storms_look


@shared_task(name="halts.storms")
def storms_look_task() -> int:
    """Pause agents that people denied too often. Every few seconds."""
    return storms_look(timezone.now())
