"""Doors for Celery: each fetches by id or reads the clock, and calls one service."""

from functools import partial
from uuid import UUID

from celery import shared_task
from django.db import transaction
from django.utils import timezone

from apps.registry.errors import SourceBusyError
from apps.registry.lookers import look_apart
from apps.registry.models import DiscoveryRun, DiscoverySource, RunState
from apps.registry.services import run_finish, run_start, runs_close_orphaned, sources_due, tool_failures_forget
from apps.registry.services.changing import By


def look_begin(source: DiscoverySource, *, by: By) -> DiscoveryRun:
    """Claim a source and have a worker look through it; the run tells how far that is.

    Raises:
        PermissionDeniedError, SourceBusyError.
    """
    run = run_start(source, by=by)
    transaction.on_commit(lambda: look_run_task.delay(str(run.pk)))
    return run


@shared_task(name="registry.look_run")
def look_run_task(run_id: str) -> bool:
    """Do a look that somebody asked for; one that is over already is left alone."""
    running = DiscoveryRun.objects.select_related("source", "source__environment").filter(state=RunState.RUNNING)
    run = running.filter(pk=UUID(run_id)).first()
    if run is not None:
        look_apart(partial(run_finish, run))
    return run is not None


@shared_task(name="registry.look")
def look_task(source_id: str) -> bool:
    """Look through a source whose time has come; one that is being looked through is left alone."""
    source = DiscoverySource.objects.filter(pk=UUID(source_id), is_enabled=True).first()
    if source is None:
        return False
    try:
        run = run_start(source)
    except SourceBusyError:
        return False
    look_apart(partial(run_finish, run))
    return True


@shared_task(name="registry.looks_due")
def looks_due_task() -> int:
    """Enqueue the sources whose interval is over. Every few seconds."""
    due = sources_due(timezone.now())
    for source_id in due:
        look_task.delay(str(source_id))
    return len(due)


@shared_task(name="registry.failures_forget")
def failures_forget_task() -> int:
    """Delete what tools raised once its time is over. Every hour."""
    return tool_failures_forget(timezone.now())


@shared_task(name="registry.runs_close_orphaned")
def runs_close_orphaned_task() -> int:
    """End the looks of processes that are gone. Every minute, and at start."""
    return runs_close_orphaned(timezone.now())
