"""Run a call as its caller asked, or go on with the one its key is bound to; how it went, also after a restart."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from django.db import DatabaseError
from django.utils import timezone

from apps.accounts.access import Permission
from apps.approvals.models import Approval
from apps.approvals.selectors import approval_of_call
from apps.audit.errors import AuditUnavailableError
from apps.audit.rows import CallRecord
from apps.audit.selectors import call_record
from apps.events.waiters import Watch, waiters
from apps.firewall.identifiers import read_id, show_id
from apps.firewall.runtime.abort import Reason as AbortReason
from apps.firewall.runtime.call import NOT_FOUND, Call, CallResult, Judgement
from apps.gateway.counters import counters
from apps.gateway.database import in_database
from apps.gateway.errors import CallNotFoundError, IdempotencyConflictError
from apps.gateway.lifecycle import Gateway
from apps.gateway.progress import call_progress
from apps.gateway.queue.cancelling import call_cancel
from apps.gateway.queue.selectors import call_queued
from apps.gateway.runtime_api.http import STATUS_OF_CODE
from apps.gateway.runtime_api.recorded import recorded, told_of
from apps.gateway.services import slot_find, slot_free, slot_take
from apps.gateway.tokens import TokenGrant
from apps.runs.client_calls import client_call_waiting

REREAD_S = 1.0
ON_RECORD_S = 10.0
FREE_TRIES = 3600
OPEN = frozenset({"awaiting_approval", "approved", "running"})
REFUSED_AS_PROBLEM = frozenset({NOT_FOUND, "parameter_validation_failed", "audit_unavailable"})


class Reader(Protocol):
    """Who asks how a call went: a token, or whoever makes calls in its name."""

    @property
    def actor(self) -> str:
        """As calls name it."""

    @property
    def environment(self) -> str:
        """The only one that it reads; empty for any."""

    @property
    def agents(self) -> frozenset[str]:
        """The only ones whose calls it reads; empty for any."""

    def may(self, permission: Permission) -> bool:
        """Say whether it has a permission."""


@dataclass(frozen=True, slots=True)
class Performed:
    """What is known of a call when its caller's time is over.

    Args:
        status: of HTTP; 202 while the call is open.
        content: as `GET /calls/{id}` answers it.
    """

    call_id: UUID
    status: int
    content: dict[str, Any]


async def perform(
    current: Gateway,
    grant: TokenGrant,
    call: Call,
    *,
    key: str,
    body_digest: str,
    deadline: float,
    gone: Callable[[], Coroutine[Any, Any, None]] | None = None,
    begin: Callable[[Call], Awaitable[Call]] | None = None,
) -> Performed:
    """Start a call and wait for its end until a deadline; a deferred one is answered once it is queued.

    Args:
        key: of idempotency; a call that the key is bound to already is followed instead. Empty for none.
        body_digest: of everything that was meant, so that a key is used for one call only.
        deadline: on the monotonic clock, in seconds.
        gone: returns when the caller goes away, and the call is ended then; without it the call goes on.
        begin: has the last word on a call that is begun now, and keeps that it is.
    Raises:
        IdempotencyConflictError: the key belongs to another request.
        TooBusyError, StoppingError: it was not begun, and the key is free.
    """
    current.desk.check()
    if key:
        digest = hashlib.sha256(f"{call.environment}\0{body_digest}".encode()).hexdigest()
        bound = await in_database(
            slot_take, grant.token_id, key=key, call_id=call.id, body_digest=digest, at=timezone.now()
        )
        if bound != call.id:
            await _until_on_record(grant.token_id, key, bound)
            followed = Performed(bound, *await follow(current, grant, bound, deadline))
            joined = _joined(followed.content)
            return followed if joined is None else Performed(joined, *await follow(current, grant, joined, deadline))
    if begin is not None:
        call = await begin(call)
    task = current.desk.start(call)
    answer = _answered(current, grant, call, task, deadline, key=key)
    if gone is None:
        return await answer
    answering, leaving = asyncio.ensure_future(answer), asyncio.ensure_future(gone())
    try:
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            await end_unheard(current, grant, call)
        return await answering
    finally:
        leaving.cancel()


async def _answered(
    current: Gateway, grant: TokenGrant, call: Call, task: asyncio.Task[CallResult], deadline: float, *, key: str
) -> Performed:
    """Answer as `until_answered`; the key of a call that did not run because it could not be recorded is free again."""
    performed = await until_answered(current, grant, call, task, deadline)
    if key and performed.content.get("code") == AuditUnavailableError.code:
        try:
            await in_database(slot_free, grant.token_id, key)
        except DatabaseError:
            current.desk.background(_free_later(grant.token_id, key))
    return performed


async def _free_later(token_id: UUID, key: str) -> None:
    """Free a key as soon as the database takes it."""
    for _ in range(FREE_TRIES):
        await asyncio.sleep(REREAD_S)
        with suppress(DatabaseError):
            await in_database(slot_free, token_id, key)
            return


async def end_unheard(current: Gateway, grant: Reader, call: Call, *, reason: AbortReason = "disconnected") -> None:
    """End a call whose caller went away before it learned the id: nobody will ever ask about it."""
    counters.add(f"calls.{reason}")
    if not current.desk.abort(call.id, by=grant.actor, reason=reason):
        await in_database(call_cancel, call.id, by=grant.actor, environment=call.environment, at=timezone.now())


async def until_answered(
    current: Gateway, grant: Reader, call: Call, task: asyncio.Task[CallResult], deadline: float
) -> Performed:
    """Wait for the end of a call that was begun here, whoever has to be asked first, or until a deadline."""
    is_later = call.deferral is not None
    await asyncio.wait({task}, timeout=None if is_later else max(0.0, deadline - time.monotonic()))
    if not await _is_done_or_on_record(task, call.id):
        return Performed(call.id, 202, {"id": show_id("call", call.id), "status": "running"})
    result = task.result()
    if result.joined is not None:
        return Performed(result.joined, *await follow(current, grant, result.joined, deadline))
    if result.status == "queued" and time.monotonic() >= deadline:
        return Performed(call.id, 202, {"id": show_id("call", call.id), "status": "queued"})
    if result.asked is None and result.status != "queued":
        return Performed(call.id, *_told(result))
    return Performed(call.id, *await follow(current, grant, call.id, deadline))


async def _until_on_record(token_id: UUID, key: str, call_id: UUID) -> None:
    """Wait for the first entry of the call that another request with the same key began.

    Raises:
        IdempotencyConflictError: there is none: its server ended before anything ran.
        AuditUnavailableError: that call could not be recorded and did not run; the key is free again.
    """
    until = time.monotonic() + ON_RECORD_S
    while await in_database(_is_unknown, call_id):
        if await in_database(slot_find, token_id, key) != call_id:
            raise AuditUnavailableError("the call of this key could not be recorded and did not run: try again")
        if time.monotonic() > until:
            raise IdempotencyConflictError("the call of this key left no record and did not run: use another key")
        await asyncio.sleep(0.05)


def _joined(content: dict[str, Any]) -> UUID | None:
    """Find the call that this one joined instead of asking a person again."""
    error = content.get("error") or {}
    return read_id("call", error["details"][0]["message"]) if error.get("code") == "call_joined" else None


def _is_unknown(call_id: UUID) -> bool:
    return call_record(call_id) is None and call_queued(call_id) is None


async def _is_done_or_on_record(task: asyncio.Task[CallResult], call_id: UUID) -> bool:
    """Hold an id back until the call is on record: every process can then be asked about it.

    Returns:
        Whether the call has ended, or waits for a person.
    """
    until = time.monotonic() + ON_RECORD_S
    while not task.done() and time.monotonic() < until:
        record = await in_database(call_record, call_id)
        if record is not None and record.status == "awaiting_approval":
            await asyncio.wait({task}, timeout=REREAD_S)  # its question is on record: it says so in a moment
        if record is not None:
            break
        await asyncio.wait({task}, timeout=0.05)
    return task.done()


def _told(result: CallResult) -> tuple[int, dict[str, Any]]:
    """Answer with what this process knows itself. What a caller may not learn of a refusal is left out."""
    error = result.error
    if result.status == "denied" and error is not None and error["code"] in REFUSED_AS_PROBLEM:
        return STATUS_OF_CODE.get(error["code"], 422), dict(error)
    return 200, {
        "id": show_id("call", result.call_id),
        "status": result.status,
        "result": result.result,
        "error": error,
        "duration_ms": result.duration_ms,
        "decision": _decision(result.judgement),
        **({"warnings": list(result.warnings)} if result.warnings else {}),
        **told_of(result.facts),
    }


def _decision(judgement: Judgement | None) -> dict[str, str] | None:
    return None if judgement is None else {"verdict": judgement.verdict, "reason": judgement.reason}


async def follow(
    current: Gateway, grant: Reader, call_id: UUID, deadline: float, *, after: int | None = None
) -> tuple[int, dict[str, Any]]:
    """Wait until a call of this token ends, wherever it runs, or the caller's time is over.

    Args:
        after: number of the news that the caller knows; newer ones are an answer, too. None waits for the end only.
    """
    is_here = current.desk.ended(call_id) is not None or current.desk.task_of(call_id) is not None
    watched = call_id if is_here else await in_database(_watched, call_id)
    async with waiters.watch(watched) as watch:
        while True:
            ended = current.desk.ended(call_id)
            if ended is not None and ended.actor == grant.actor:
                return await _told_late(grant, ended.result)
            left = deadline - time.monotonic()
            task = current.desk.task_of(call_id)
            if left > 0 and task is not None and not task.done() and after is None:
                await asyncio.wait({task}, timeout=min(left, REREAD_S))
                continue
            status, content = await in_database(_from_record, grant, call_id)
            if status != 202 or left <= 0 or _is_news(content, after):
                return status, content
            if task is not None and not task.done():
                await _until_either(task, watch, min(left, REREAD_S))
                continue
            await watch.changed(timeout_s=min(left, REREAD_S))


async def _told_late(grant: Reader, result: CallResult) -> tuple[int, dict[str, Any]]:
    """Answer with what this process knows, or with the record where its end got there later than the answer."""
    if result.status == "unknown":
        status, content = await in_database(_from_record, grant, result.call_id)
        if status != 202:
            return status, content
    return _told(result)


def _is_news(content: dict[str, Any], after: int | None) -> bool:
    return after is not None and content.get("progress", {}).get("number", 0) > after


async def _until_either(task: asyncio.Task[CallResult], watch: Watch, timeout_s: float) -> None:
    """Wait until a call ends or something is told of it."""
    watching = asyncio.ensure_future(watch.changed(timeout_s=timeout_s))
    try:
        await asyncio.wait({task, watching}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        watching.cancel()


async def changes(current: Gateway, grant: TokenGrant, call_id: UUID) -> AsyncIterator[dict[str, Any]]:
    """Give a call of this token as it stands, again whenever that changes, and last as it ended."""
    shown: dict[str, Any] | None = None
    async with waiters.watch(call_id) as watch:
        while True:
            status, content = await follow(current, grant, call_id, time.monotonic())
            if content != shown:
                shown = content
                yield content
            if status != 202:
                return
            await watch.changed(timeout_s=REREAD_S)


def _watched(call_id: UUID) -> UUID:
    """Name the row whose change may end the call: its own in the queue, or its approval."""
    approval = approval_of_call(call_id)
    return call_id if approval is None or call_queued(call_id) is not None else approval.pk


def _from_record(grant: Reader, call_id: UUID) -> tuple[int, dict[str, Any]]:
    record = call_record(call_id)
    if record is None:
        return _from_queue(grant, call_id)
    if not _may_see(grant, record.environment, record.agent, record.actor):
        raise CallNotFoundError("no such call")
    if record.status in OPEN:
        return 202, _open(record, approval_of_call(call_id))
    if record.status == "denied" and isinstance(record.error, dict) and record.error.get("code") in REFUSED_AS_PROBLEM:
        return STATUS_OF_CODE.get(record.error["code"], 422), record.error
    return 200, recorded(record)


def _from_queue(grant: Reader, call_id: UUID) -> tuple[int, dict[str, Any]]:
    """Tell of an asynchronous call that has no entry in the ledger yet."""
    row = call_queued(call_id)
    if row is None or not _may_see(grant, row.environment.slug, row.agent, row.actor):
        raise CallNotFoundError("no such call")
    if row.is_open:
        return 202, {"id": row.shown_id, "status": row.state}
    return 200, {"id": row.shown_id, "status": row.outcome, "result": None, "error": None, "duration_ms": None}


def _may_see(grant: Reader, environment: str, agent: str, actor: str) -> bool:
    if grant.environment and environment != grant.environment:
        return False
    if grant.agents and agent not in grant.agents:
        return False
    return actor == grant.actor or grant.may(Permission.AUDIT_READ)


def _open(record: CallRecord, approval: Approval | None) -> dict[str, Any]:
    row = call_queued(record.id) if record.status == "approved" else None
    news = call_progress(record.id) if record.status == "running" else None
    handed = client_call_waiting(record.id) if record.status == "running" else None
    shown: dict[str, Any] = {"id": show_id("call", record.id), "status": "running"}
    if news is not None:
        shown["progress"] = news
    if handed is not None:
        shown |= {"status": "client_call", "client_call": handed}
    if row is not None and row.state == "queued":
        shown["status"] = "queued"
    if approval is not None and approval.is_pending:
        shown["status"] = "awaiting_approval"
        shown["approval"] = {"id": approval.shown_id, "expires_at": approval.expires_at.isoformat()}
    return shown


async def end(current: Gateway, grant: TokenGrant, call_id: UUID, deadline: float) -> tuple[int, dict[str, Any]]:
    """End a call of this token, wherever it runs, and wait until it has ended or the caller's time is over."""
    await in_database(_end, grant, call_id)
    return await follow(current, grant, call_id, deadline)


def _end(grant: TokenGrant, call_id: UUID) -> None:
    row, record = call_queued(call_id), call_record(call_id)
    if row is not None:
        actor, environment, agent, is_open = row.actor, row.environment.slug, row.agent, row.is_open
    elif record is not None:
        actor, environment, agent, is_open = record.actor, record.environment, record.agent, record.status in OPEN
    else:
        raise CallNotFoundError("no such call")
    if actor != grant.actor or (grant.agents and agent not in grant.agents):
        raise CallNotFoundError("no such call")
    if is_open:
        call_cancel(call_id, by=grant.actor, environment=environment, at=timezone.now())
