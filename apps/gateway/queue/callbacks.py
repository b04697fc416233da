"""Telling a caller's address that its call has ended: signed, through the connector, until it was heard."""

import asyncio
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
import structlog
from django.db import transaction
from django.utils import timezone

from apps.audit.selectors import call_record
from apps.events.notices import announce
from apps.firewall.errors import FirewallError
from apps.firewall.identifiers import show_id
from apps.firewall.runtime.call import Deferral
from apps.firewall.tools.connector import Connector
from apps.firewall.tools.connector.urls import check_url
from apps.gateway.counters import counters
from apps.gateway.database import in_database
from apps.gateway.models import AsyncCall, CallbackAttempt
from apps.gateway.queue.rows import CHANGED, Callback, State, locked
from apps.gateway.queue.sealing import unsealed_callback
from apps.gateway.runtime_api.recorded import recorded
from apps.keys.outgoing import outgoing_headers, outgoing_rules

log = structlog.get_logger(__name__)

BACK_OFF_S: tuple[float, ...] = (5, 30, 120, 600, 3600)
"""Seconds after each attempt that was not heard; after the last one it is given up."""
TIME_LIMIT_S = 10.0
ANSWER_LIMIT_BYTES = 64 * 1024
LEASE = timedelta(seconds=60)
GIVEN_UP = frozenset({410})
MESSAGE_LETTERS = 500


def check_callback(deferral: Deferral) -> None:
    """Let through an address that may be told of a call.

    Raises:
        UrlRefusedError: it is not one that callbacks may go to.
    """
    check_url(deferral.callback_url, outgoing_rules())


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One attempt at one callback."""

    call_id: UUID
    number: int
    to: Deferral
    body: bytes
    trace_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What came of an attempt."""

    status: int | None = None
    error_code: str = ""
    message: str = ""
    duration_ms: int = 0

    @property
    def is_fine(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def callbacks_due(at: datetime, *, limit: int = 50) -> list[UUID]:
    """Name the calls whose callback is due."""
    due = AsyncCall.objects.filter(callback=Callback.WAITING, state=State.DONE, callback_due_at__lte=at)
    return list(due.order_by("callback_due_at").values_list("pk", flat=True)[:limit])


def callback_claim(call_id: UUID, at: datetime) -> Message | None:
    """Take the next attempt at a callback; None when none is due, or another process has it."""
    with transaction.atomic():
        row = locked(call_id)
        if row is None or row.callback != Callback.WAITING or row.state != State.DONE:
            return None
        if row.callback_due_at is None or row.callback_due_at > at:
            return None
        to = unsealed_callback(row.pk, bytes(row.sealed_callback or b""))
        row.callback_attempts += 1
        row.callback_due_at = at + LEASE
        row.save(update_fields=["callback_attempts", "callback_due_at"])
        number = row.callback_attempts
        return Message(call_id=row.pk, number=number, to=to, body=_body(row), trace_id=row.trace_id)


def _body(row: AsyncCall) -> bytes:
    """Write what is told: the call as `GET /calls/{id}` answers it, from the record."""
    record = call_record(row.pk)
    told: dict[str, Any] = {"id": row.shown_id, "status": row.outcome, "error": None, "result": None}
    if record is not None:
        told |= recorded(record)
    told["status"] = row.outcome
    return orjson.dumps({"event": "call.ended", "call": told, "agent": row.agent, "tool": row.tool})


def callback_heard(message: Message, heard: Heard, at: datetime) -> None:
    """Record an attempt: it was heard, is tried again later, or is given up; then what was sealed is destroyed."""
    with transaction.atomic():
        row = locked(message.call_id)
        if row is None or row.callback != Callback.WAITING or row.callback_attempts != message.number:
            return
        CallbackAttempt.objects.create(
            call=row,
            number=message.number,
            at=at,
            duration_ms=heard.duration_ms,
            status=heard.status,
            error_code=heard.error_code,
            message=heard.message[:MESSAGE_LETTERS],
        )
        if heard.is_fine:
            row.callback = Callback.DELIVERED
        elif message.number > len(BACK_OFF_S) or heard.status in GIVEN_UP:
            row.callback = Callback.FAILED
        if row.callback == Callback.WAITING:
            row.callback_due_at = at + timedelta(seconds=BACK_OFF_S[message.number - 1])
        else:
            row.sealed_callback, row.callback_due_at = None, None
        row.save(update_fields=["callback", "callback_due_at", "sealed_callback"])
        announce(CHANGED, id=row.pk, environment=row.environment.slug)


async def send(message: Message) -> Heard:
    """Post a message once; a redirect is no success."""
    started = time.monotonic()
    status, error = None, None
    try:
        answer = await Connector(rules=outgoing_rules()).post(
            message.to.callback_url,
            message.body,
            headers=outgoing_headers(
                message.to.callback_url,
                message.body,
                shown_id=show_id("call", message.call_id),
                secret=message.to.callback_secret,
                attempt=message.number,
                trace_id=message.trace_id,
            ),
            time_limit_s=TIME_LIMIT_S,
            limit_bytes=ANSWER_LIMIT_BYTES,
        )
        status = answer.status
    except FirewallError as exc:
        error = exc
    duration_ms = int((time.monotonic() - started) * 1000)
    if error is not None:
        return Heard(error_code=error.code, message=error.message, duration_ms=duration_ms)
    return Heard(status=status, duration_ms=duration_ms)


class Callbacks:
    """Delivers what is due from this process, a bounded number at once."""

    AT_ONCE = 8

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(self.AT_ONCE)

    async def deliver(self, call_id: UUID) -> None:
        """Make the attempt that is due at one call's callback, if there is one."""
        async with self._room:
            try:
                message = await in_database(callback_claim, call_id, timezone.now())
            except FirewallError as exc:
                log.warning("callback.unreadable", call=str(call_id), code=exc.code)
                return
            if message is None:
                return
            heard = await send(message)
            counters.add("callbacks.delivered" if heard.is_fine else "callbacks.failed")
            await asyncio.shield(in_database(callback_heard, message, heard, timezone.now()))


__all__ = ["Callbacks", "callback_claim", "callback_heard", "callbacks_due", "check_callback", "send"]
