"""Doors for Celery: each reads the clock and calls one service."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from apps.events.clock import clock_rests
from apps.gateway.background.settling import commands_settle
from apps.gateway.coverage import probes_begin, probes_run
from apps.gateway.gateway_alarms import alarms_tell
from apps.gateway.lifecycle import Gateway
from apps.gateway.queue.bell import TAKE, bell
from apps.gateway.queue.callbacks import callbacks_due
from apps.gateway.queue.settling import calls_forget, calls_settle, calls_waiting
from apps.gateway.queue.workers import workers
from apps.gateway.services import slots_forget


@shared_task(name=TAKE)
def calls_take_task() -> int:
    """Begin the asynchronous calls that this process has room for; they run on, the task ends."""
    return workers.run(lambda gateway: gateway.taker.take()) or 0


@shared_task(name="gateway.calls_settle")
def calls_settle_task() -> int:
    """End calls and background commands that cannot go on, ring for calls whose message was lost. Every few seconds."""
    at = timezone.now()
    settled = calls_settle(at)
    commands_settle(at)
    if calls_waiting(at):
        bell.ring()
    for call_id in callbacks_due(at):
        callback_deliver_task.delay(str(call_id))
    return settled


@shared_task(name="gateway.callback_deliver")
def callback_deliver_task(call_id: str) -> None:
    """Make the attempt that is due at one callback; the task does not wait for its answer."""

    async def begin(gateway: Gateway) -> None:
        gateway.desk.background(gateway.callbacks.deliver(UUID(call_id)))

    workers.run(begin)


@shared_task(name="gateway.alarms_tell")
def alarms_tell_task() -> int:
    """Tell people of alarms about gateways. Every few seconds."""
    return alarms_tell(timezone.now())


@shared_task(name="gateway.probes_run", expires=120)
def probes_run_task() -> None:
    """Try every door, each as its state in the database says then; the task does not wait for the last one."""

    async def begin(gateway: Gateway) -> None:
        gateway.desk.background(probes_run(gateway))

    workers.run(begin)


@shared_task(name="gateway.probes_daily")
def probes_daily_task() -> bool:
    """Try every door once a day, unless somebody does already."""
    is_begun = probes_begin(by="schedule", at=timezone.now())
    if is_begun:
        probes_run_task()
    return is_begun


@shared_task(name="gateway.calls_forget")
def calls_forget_task() -> int:
    """Forget asynchronous calls that ended long ago. Once a day."""
    return 0 if clock_rests(timezone.now()) else calls_forget(timezone.now())


@shared_task(name="gateway.slots_forget")
def slots_forget_task() -> int:
    """Forget idempotency keys that are too old to come again. Once a day."""
    return 0 if clock_rests(timezone.now()) else slots_forget(timezone.now())
