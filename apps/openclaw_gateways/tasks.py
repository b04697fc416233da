"""Doors for Celery: each reads the clock and calls one service."""

from celery import shared_task
from django.utils import timezone

from apps.events.barrier import served_since
from apps.events.clock import clock_rests
from apps.openclaw_gateways.alarms import gateways_watch
from apps.openclaw_gateways.calls import calls_forget, calls_settle
from apps.openclaw_gateways.spawned import spawned_forget


@shared_task(name="openclaw_gateways.sweep")
def sweep_task() -> int:
    """Close calls whose end is on record already, forget old ones, and miss gateways that are silent. Every minute."""
    at = timezone.now()
    if not clock_rests(at):
        calls_forget(at)
        spawned_forget(at)
        gateways_watch(at, since=served_since())
    return calls_settle(at)
