"""Doors for Celery: each fetches by id or reads the clock, and calls one service."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from apps.audit.checkpoints import checkpoints_make
from apps.audit.exports import export_run, exports_purge, exports_unfinished
from apps.audit.services import partitions_ensure, sweep_orphans


@shared_task(name="audit.sweep_orphans")
def sweep_orphans_task() -> int:
    """Give intents of processes that are gone their outcome. Every few seconds."""
    return sweep_orphans(timezone.now())


@shared_task(name="audit.checkpoint")
def checkpoint_task() -> int:
    """Sign the heads of the chains that moved. Every minute."""
    return len(checkpoints_make())


@shared_task(name="audit.partitions_ensure")
def partitions_ensure_task() -> int:
    """Make the partitions of the coming months. Daily, and at start."""
    return partitions_ensure(timezone.now().date())


@shared_task(name="audit.export_run")
def export_run_task(export_id: str) -> bool:
    """Write the file of one export."""
    return export_run(UUID(export_id), at=timezone.now())


@shared_task(name="audit.exports_resume")
def exports_resume_task() -> int:
    """Enqueue the exports that no worker works on. Every minute, and at start."""
    unfinished = exports_unfinished(timezone.now())
    for export_id in unfinished:
        export_run_task.delay(str(export_id))
    return len(unfinished)


@shared_task(name="audit.exports_purge")
def exports_purge_task() -> int:
    """Remove the files of exports whose time is over. Hourly."""
    return exports_purge(timezone.now())
