"""Fills the port `Queue`."""

from django.utils import timezone

from apps.firewall.runtime.call import Action, Call
from apps.gateway.counters import counters
from apps.gateway.database import in_database
from apps.gateway.people import environment_named, sender_of
from apps.gateway.queue.rows import call_put, call_wait
from apps.gateway.queue.sealing import Waiting


class QueueOfCalls:
    """Keeps each call as a row."""

    async def put(self, call: Call, action: Action, sensitive: tuple[str, ...]) -> None:
        await in_database(_put, call, Waiting(action=action, sensitive=sensitive))
        counters.add("calls.queued")

    async def wait(self, call: Call, tool: str) -> None:
        await in_database(_wait, call, tool)


def _put(call: Call, waiting: Waiting) -> None:
    environment = environment_named(call.environment)
    call_put(call, waiting, environment=environment, sender=sender_of(call), at=timezone.now())


def _wait(call: Call, tool: str) -> None:
    environment = environment_named(call.environment)
    call_wait(call, tool, environment=environment, sender=sender_of(call), at=timezone.now())
