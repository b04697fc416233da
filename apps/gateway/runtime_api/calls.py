"""`POST /api/v1/calls` and `GET /api/v1/calls/{id}`: run a tool, or ask how a call went."""

import asyncio
import hashlib
import time
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from django.utils import timezone

from apps.accounts.access import Permission
from apps.approvals.models import Approval
from apps.approvals.selectors import approval_of_call
from apps.audit.rows import CallRecord
from apps.audit.selectors import call_record
from apps.events.waiters import waiters
from apps.firewall.identifiers import new_id, read_id, show_id
from apps.firewall.runtime.call import NOT_FOUND, Call, CallResult, Judgement
from apps.gateway.database import in_database
from apps.gateway.errors import CallNotFoundError, IdempotencyConflictError
from apps.gateway.lifecycle import Gateway
from apps.gateway.runtime_api.http import STATUS_OF_CODE, Request, mistakes
from apps.gateway.runtime_api.reading import (
    Asker,
    Details,
    environment_of,
    query_number,
    read_asker,
    require,
    whole_number,
)
from apps.gateway.services import slot_take
from apps.gateway.tokens import TokenGrant

WAIT_LIMIT_MS = 30_000
KEY_LIMIT = 200
REREAD_S = 1.0
ON_RECORD_S = 10.0
MEMBERS = frozenset({"agent", "session", "tool", "params", "context", "wait_ms", "idempotency", "environment"})
OPEN = frozenset({"awaiting_approval", "approved", "running"})
REFUSED_AS_PROBLEM = frozenset({NOT_FOUND, "parameter_validation_failed", "audit_unavailable"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A call as it was sent."""

    asker: Asker
    params: dict[str, Any]
    wait_ms: int
    key: str
    body_digest: str


async def make(current: Gateway, grant: TokenGrant, request: Request, _: str) -> tuple[int, Any]:
    """Start a call and wait for its end as long as the caller wants; it goes on without a listener."""
    require(grant, Permission.CALLS_MAKE)
    body = await request.json()
    environment = environment_of(current, grant, body)
    order = _read(grant, body, request)
    deadline = time.monotonic() + order.wait_ms / 1000
    call = Call(
        environment=environment,
        agent=order.asker.agent,
        tool=order.asker.tool,
        params=order.params,
        context=order.asker.context,
        actor=grant.actor,
        requester=grant.requester,
        trace_id=request.trace_id,
        id=new_id(),
    )
    if order.key:
        digest = hashlib.sha256(f"{environment}\0{order.body_digest}".encode()).hexdigest()
        bound = await in_database(
            slot_take, grant.token_id, key=order.key, call_id=call.id, body_digest=digest, at=timezone.now()
        )
        if bound != call.id:
            await _until_on_record(bound)
            return await _follow(current, grant, bound, deadline)
    task = current.desk.start(call)
    await asyncio.wait({task}, timeout=order.wait_ms / 1000)
    if not await _is_done_or_on_record(task, call.id):
        return 202, {"id": show_id("call", call.id), "status": "running"}
    result = task.result()
    if result.asked is None:
        return _told(result)
    return await _follow(current, grant, call.id, deadline)


async def _until_on_record(call_id: UUID) -> None:
    """Wait for the first entry of the call that another request with the same key began.

    Raises:
        IdempotencyConflictError: there is none: its server ended before anything ran.
    """
    until = time.monotonic() + ON_RECORD_S
    while await in_database(call_record, call_id) is None:
        if time.monotonic() > until:
            raise IdempotencyConflictError("the call of this key left no record and did not run: use another key")
        await asyncio.sleep(0.05)


async def _is_done_or_on_record(task: asyncio.Task[CallResult], call_id: UUID) -> bool:
    """Hold an id back until the call is on record: every process can then be asked about it.

    Returns:
        Whether the call has ended, or waits for a person.
    """
    until = time.monotonic() + ON_RECORD_S
    while not task.done() and time.monotonic() < until:
        if await in_database(call_record, call_id) is not None:
            break
        await asyncio.wait({task}, timeout=0.05)
    return task.done()


async def read(current: Gateway, grant: TokenGrant, request: Request, identifier: str) -> tuple[int, Any]:
    """Tell how a call went, waiting for its end when asked to; also after a restart, then from the record."""
    require(grant, Permission.CALLS_MAKE)
    wait_ms = query_number(request.scope["query_string"], "wait", default=0, maximum=WAIT_LIMIT_MS)
    try:
        call_id = read_id("call", identifier)
    except ValueError:
        raise CallNotFoundError("no such call") from None
    return await _follow(current, grant, call_id, time.monotonic() + wait_ms / 1000)


def _read(grant: TokenGrant, body: dict[str, Any], request: Request) -> Order:
    details: Details = [
        {"path": name, "code": "unknown_field", "message": f"`{name}` is not part of a call"}
        for name in sorted(body.keys() - MEMBERS)
    ]
    asker = read_asker(grant, body, details)
    params = body.get("params", {})
    if not isinstance(params, dict):
        details.append({"path": "params", "code": "invalid", "message": "`params` must be an object"})
    wait_ms = whole_number(body.get("wait_ms"), "wait_ms", details, default=WAIT_LIMIT_MS, maximum=WAIT_LIMIT_MS)
    key = body.get("idempotency", request.headers.get(b"idempotency-key", b"").decode("ascii", "replace"))
    if not isinstance(key, str) or len(key) > KEY_LIMIT or (key and not key.isprintable()):
        rule = f"`idempotency` must be a printable text of at most {KEY_LIMIT} characters"
        details.append({"path": "idempotency", "code": "invalid", "message": rule})
    if details or asker is None:
        raise mistakes(details)
    meant = {name: body.get(name) for name in sorted(MEMBERS - {"wait_ms", "idempotency"})}
    digest = hashlib.sha256(orjson.dumps(meant, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return Order(asker=asker, params=params, wait_ms=wait_ms, key=key, body_digest=digest)


def _told(result: CallResult) -> tuple[int, Any]:
    """Answer with what this process knows itself. What a caller may not learn of a refusal is left out."""
    error = result.error
    if result.status == "denied" and error is not None and error["code"] in REFUSED_AS_PROBLEM:
        return STATUS_OF_CODE.get(error["code"], 422), error
    return 200, {
        "id": show_id("call", result.call_id),
        "status": result.status,
        "result": result.result,
        "error": error,
        "duration_ms": result.duration_ms,
        "decision": _decision(result.judgement),
    }


def _decision(judgement: Judgement | None) -> dict[str, str] | None:
    return None if judgement is None else {"verdict": judgement.verdict, "reason": judgement.reason}


async def _follow(current: Gateway, grant: TokenGrant, call_id: UUID, deadline: float) -> tuple[int, Any]:
    """Wait until a call of this token ends, wherever it runs, or the caller's time is over."""
    approval = await _approval_of(current, call_id)
    async with waiters.watch(call_id if approval is None else approval.pk) as watch:
        while True:
            ended = current.desk.ended(call_id)
            if ended is not None and ended.actor == grant.actor:
                return _told(ended.result)
            left = deadline - time.monotonic()
            task = current.desk.task_of(call_id)
            if left > 0 and task is not None and not task.done():
                await asyncio.wait({task}, timeout=min(left, REREAD_S))
                continue
            status, content = await in_database(_from_record, grant, call_id)
            if status != 202 or left <= 0:
                return status, content
            await watch.changed(timeout_s=min(left, REREAD_S))


async def _approval_of(current: Gateway, call_id: UUID) -> Approval | None:
    if current.desk.ended(call_id) is not None or current.desk.task_of(call_id) is not None:
        return None
    return await in_database(approval_of_call, call_id)


def _from_record(grant: TokenGrant, call_id: UUID) -> tuple[int, Any]:
    """Tell a call from the ledger: its result is the masked copy there."""
    record = call_record(call_id)
    if record is None or not _may_see(grant, record):
        raise CallNotFoundError("no such call")
    if record.status in OPEN:
        return 202, _open(record, approval_of_call(call_id))
    if record.status == "denied" and isinstance(record.error, dict) and record.error.get("code") in REFUSED_AS_PROBLEM:
        return STATUS_OF_CODE.get(record.error["code"], 422), record.error
    return 200, {
        "id": show_id("call", call_id),
        "status": "denied" if record.status in {"expired", "cancelled"} else record.status,
        "result": record.result,
        "error": record.error or _refusal(approval_of_call(call_id)),
        "duration_ms": record.duration_ms,
        "decision": {"verdict": record.decision, "reason": record.reason},
    }


def _may_see(grant: TokenGrant, record: CallRecord) -> bool:
    if grant.environment and record.environment != grant.environment:
        return False
    if grant.agents and record.agent not in grant.agents:
        return False
    return record.actor == grant.actor or grant.may(Permission.AUDIT_READ)


def _open(record: CallRecord, approval: Approval | None) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": show_id("call", record.id), "status": "running"}
    if approval is not None and approval.is_pending:
        shown["status"] = "awaiting_approval"
        shown["approval"] = {"id": approval.shown_id, "expires_at": approval.expires_at.isoformat()}
    return shown


REFUSALS = {
    "denied": "a person denied it",
    "expired": "nobody answered in time, which counts as denied",
    "cancelled": "the request was withdrawn",
}


def _refusal(approval: Approval | None) -> dict[str, Any] | None:
    if approval is None or approval.state not in REFUSALS:
        return None
    message = REFUSALS[approval.state]
    if approval.decision_reason:
        message = f"{message}: {approval.decision_reason}"
    return {"code": f"approval_{approval.state}", "message": message, "details": []}
