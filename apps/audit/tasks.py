"""Doors for Celery: each fetches by id or reads the clock, and calls one service."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from celery import Task, shared_task
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from apps.audit.checkpoints import checkpoints_make
from apps.audit.exporting import TURN_S, export_run
from apps.audit.exports import export_is_open, exports_purge, exports_unfinished
from apps.audit.following import NEAR, follow
from apps.audit.retention.erasing import erasure_run, erasures_unfinished
from apps.audit.retention.purging import purge_go_on, purges_run, purges_unfinished
from apps.audit.retention.vacuuming import rows_vacuum
from apps.audit.services import partitions_ensure, sweep_orphans
from apps.audit.streaming.sending import stream_send, streams_due
from apps.audit.verification_runs import verification_due, verification_start, verifications_unfinished
from apps.audit.witnesses import witness_tell, witnesses_due
from apps.events.clock import clock_rests

FOLLOW_S = 1.5
SEND_S = 1.0
LEASES_RENEWED = timedelta(seconds=30)

log = structlog.get_logger(__name__)


def _enqueue(task: "Task[..., Any]", *given: str) -> None:
    """Hand a task to a worker once this transaction commits; without a broker a periodic task finds its work."""

    def hand_over() -> None:
        try:
            task.delay(*given)
        except BrokerError:
            log.warning("audit.not_enqueued", task=task.name, given=given)

    transaction.on_commit(hand_over)


@shared_task(name="audit.sweep_orphans")
def sweep_orphans_task() -> int:
    """Give intents of processes that are gone their outcome. Every few seconds.

    Leases end by the clock of the day: after a step forward every process first has the time to renew its own.
    """
    if clock_rests(timezone.now(), limit=LEASES_RENEWED):
        return 0
    return sweep_orphans(timezone.now())


@shared_task(name="audit.follow")
def follow_task() -> int:
    """Write the words and tallies of new entries. Every two seconds; a long way is gone in several turns."""
    left = follow(limit_s=FOLLOW_S)
    if left > NEAR:
        follow_task.delay()
    return left


@shared_task(name="audit.checkpoint")
def checkpoint_task() -> int:
    """Sign the heads of the chains that moved. Every ten seconds."""
    return len(checkpoints_make())


@shared_task(name="audit.witnesses_tell")
def witnesses_tell_task() -> int:
    """Have each witness that is behind told, one task each. Every ten seconds."""
    due = witnesses_due(timezone.now())
    for witness_id in due:
        witness_tell_task.delay(str(witness_id))
    return len(due)


@shared_task(name="audit.witness_tell")
def witness_tell_task(witness_id: str) -> int:
    """Tell one witness what it has not heard of."""
    return witness_tell(UUID(witness_id), at=timezone.now())


def verification_enqueue(run_id: UUID) -> None:
    """Hand a walk to a worker once this transaction commits; without a broker it is found within a minute."""
    _enqueue(verification_task, str(run_id))


@shared_task(name="audit.verifications")
def verifications_task() -> int:
    """Begin the walk of the day when it is due, and those that nobody works on. Every minute."""
    verification_due(timezone.now())
    unfinished = verifications_unfinished(timezone.now())
    for run_id in unfinished:
        verification_start(run_id)
    return len(unfinished)


@shared_task(name="audit.verification")
def verification_task(run_id: str) -> None:
    """Begin one walk."""
    verification_start(UUID(run_id))


@shared_task(name="audit.partitions_ensure")
def partitions_ensure_task() -> int:
    """Make the partitions of the coming months. Daily, and at start."""
    return partitions_ensure(timezone.now().date())


@shared_task(name="audit.export_run")
def export_run_task(export_id: str) -> bool:
    """Write a part of the file of one export, and ask for the next one."""
    is_worked_on = export_run(UUID(export_id), at=timezone.now(), limit_s=TURN_S)
    if is_worked_on and export_is_open(UUID(export_id)):
        export_run_task.delay(export_id)
    return is_worked_on


def export_enqueue(export_id: UUID) -> None:
    """Hand an export to a worker once this transaction commits; without a broker it is found within a minute."""
    _enqueue(export_run_task, str(export_id))


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
    return 0 if clock_rests(timezone.now()) else exports_purge(timezone.now())


@shared_task(name="audit.streams_send")
def streams_send_task() -> int:
    """Have each stream that is due sent, one task each. Every two seconds."""
    due = streams_due(timezone.now())
    for stream_id in due:
        stream_send_task.delay(str(stream_id))
    return len(due)


@shared_task(name="audit.stream_send")
def stream_send_task(stream_id: str) -> int:
    """Send one stream for a second."""
    return stream_send(UUID(stream_id), at=timezone.now(), limit_s=SEND_S)


@shared_task(name="audit.purges_run")
def purges_run_task() -> int:
    """Take what no class keeps any longer. Hourly; not while the clock was set forward lately."""
    if clock_rests(timezone.now()):
        log.warning("audit.purges_rest", reason="the clock was set forward")
        return 0
    return sum(each.records for each in purges_run(at=timezone.now()))


@shared_task(name="audit.purge_run")
def purge_run_task(run_id: str) -> None:
    """Go on with one purge; asks for itself again until it is done. While the clock rests it waits for its resuming."""
    if clock_rests(timezone.now()):
        log.warning("audit.purge_rests", run=run_id, reason="the clock was set forward")
        return
    if not purge_go_on(UUID(run_id), at=timezone.now()).is_done:
        purge_run_task.delay(run_id)


def purge_enqueue(run_id: UUID) -> None:
    """Hand a purge to a worker once this transaction commits; without a broker it is found within minutes."""
    _enqueue(purge_run_task, str(run_id))


@shared_task(name="audit.purges_resume")
def purges_resume_task() -> int:
    """Enqueue the purges that nobody works on. Every minute, and at start: a worker may have been killed."""
    if clock_rests(timezone.now()):
        return 0
    unfinished = purges_unfinished(timezone.now())
    for run_id in unfinished:
        purge_run_task.delay(str(run_id))
    return len(unfinished)


@shared_task(name="audit.erasure_run")
def erasure_run_task(erasure_id: str) -> None:
    """Go on with one erasure; asks for itself again until nothing is left."""
    if erasure_run(UUID(erasure_id), at=timezone.now()):
        rows_vacuum_task.delay()
    else:
        erasure_run_task.delay(erasure_id)


@shared_task(name="audit.rows_vacuum")
def rows_vacuum_task() -> int:
    """Vacuum what purges and erasures left, where the owner of the tables is known. After an erasure."""
    return len(rows_vacuum()[0])


def erasure_enqueue(erasure_id: UUID) -> None:
    """Hand an erasure to a worker once this transaction commits; without a broker it is found within a minute."""
    _enqueue(erasure_run_task, str(erasure_id))


@shared_task(name="audit.erasures_resume")
def erasures_resume_task() -> int:
    """Enqueue the erasures that have not ended. Every minute, and at start: a worker may have been killed."""
    unfinished = erasures_unfinished()
    for erasure_id in unfinished:
        erasure_run_task.delay(str(erasure_id))
    return len(unfinished)
