"""Doors for Celery. Sending waits for strangers, so it has threads of its own: no sweep waits for it."""

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import structlog
from celery import shared_task
from django.db import connection
from django.utils import timezone

from apps.events.clock import clock_rests
from apps.notifications.delivering import deliver, deliveries_due, deliveries_forget
from apps.notifications.exports import exports_tell
from apps.notifications.planning import deliveries_plan
from apps.notifications.releases import releases_tell

log = structlog.get_logger(__name__)

AT_ONCE = 4
_senders = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="notify")


@shared_task(name="notifications.sweep")
def notifications_sweep_task() -> int:
    """Plan what is due for requests, exports that ended and releases, and have it sent. Every few seconds."""
    at = timezone.now()
    planned = deliveries_plan(at) + exports_tell(at) + releases_tell(at)
    for delivery_id in deliveries_due(at):
        notifications_deliver_task.delay(str(delivery_id))
    return planned


@shared_task(name="notifications.deliver")
def notifications_deliver_task(delivery_id: str) -> None:
    """Make the attempt that is due at one message; the task does not wait for it."""
    _senders.submit(_deliver, UUID(delivery_id))


@shared_task(name="notifications.forget")
def notifications_forget_task() -> int:
    """Forget messages that ended long ago. Once a day."""
    return 0 if clock_rests(timezone.now()) else deliveries_forget(timezone.now())


def _deliver(delivery_id: UUID) -> None:
    try:
        deliver(delivery_id)
    except Exception:  # the sweep asks for it again when its lease is over
        log.exception("notification.failed", delivery=str(delivery_id))
    finally:
        connection.close()
