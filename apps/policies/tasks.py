"""Doors for Celery: each fetches by id or reads the clock, and calls one service."""

from uuid import UUID

import structlog
from celery import shared_task
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from apps.policies.bulk.asking import bulk_unfinished
from apps.policies.bulk.running import TURN_S as BULK_TURN_S
from apps.policies.bulk.running import bulk_run
from apps.policies.replays.asking import replays_unfinished
from apps.policies.replays.running import TURN_S, replay_run
from apps.policies.services.releasing import publish_due
from apps.policies.shadows.counting import shadows_count

log = structlog.get_logger(__name__)


@shared_task(name="policies.replay_run")
def replay_run_task(replay_id: str) -> bool:
    """Count some parts of one replay, and ask for the next ones."""
    has_more = replay_run(UUID(replay_id), at=timezone.now(), limit_s=TURN_S)
    if has_more:
        replay_run_task.delay(replay_id)
    return has_more


@shared_task(name="policies.replays_resume")
def replays_resume_task() -> int:
    """Enqueue the replays that no worker works on. Every minute, and at start: a worker may have been killed."""
    unfinished = replays_unfinished(timezone.now())
    for replay_id in unfinished:
        replay_run_task.delay(str(replay_id))
    return len(unfinished)


@shared_task(name="policies.publish_due")
def publish_due_task() -> int:
    """Publish what is due, and end requests that are overtaken or expired. Every few seconds."""
    return publish_due(timezone.now())


@shared_task(name="policies.shadows_count")
def shadows_count_task() -> int:
    """Hold what was called since against the shadow rules, for some seconds. Every few seconds."""
    return shadows_count(at=timezone.now(), limit_s=TURN_S)


@shared_task(name="policies.bulk_run")
def bulk_run_task(edit_id: str) -> bool:
    """Make some rows of one bulk edit, and ask for the next ones."""
    has_more = bulk_run(UUID(edit_id), at=timezone.now(), limit_s=BULK_TURN_S)
    if has_more:
        bulk_run_task.delay(edit_id)
    return has_more


@shared_task(name="policies.bulk_resume")
def bulk_resume_task() -> int:
    """Enqueue the bulk edits that no worker works on. Every minute, and at start: a worker may have been killed."""
    unfinished = bulk_unfinished(timezone.now())
    for edit_id in unfinished:
        bulk_run_task.delay(str(edit_id))
    return len(unfinished)


def bulk_enqueue(edit_id: UUID) -> None:
    """Hand a bulk edit to a worker once this transaction commits; without a broker it is found within a minute."""

    def hand_over() -> None:
        try:
            bulk_run_task.delay(str(edit_id))
        except BrokerError:
            log.warning("policies.not_enqueued", bulk_edit=str(edit_id))

    transaction.on_commit(hand_over)


def replay_enqueue(replay_id: UUID) -> None:
    """Hand a replay to a worker once this transaction commits; without a broker it is found within a minute."""

    def hand_over() -> None:
        try:
            replay_run_task.delay(str(replay_id))
        except BrokerError:
            log.warning("policies.not_enqueued", replay=str(replay_id))

    transaction.on_commit(hand_over)
