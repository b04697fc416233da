"""Run a call as its caller asked, or go on with the one its key is bound to; how it went, also after a restart."""

import asyncio
import hashlib
import time
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from apps.accounts.access import Permission
from apps.approvals.models import Approval
from apps.approvals.selectors import approval_of_call
from apps.audit.rows import CallRecord
from apps.audit.selectors import call_record
from apps.events.waiters import waiters
from apps.firewall.identifiers import show_id
from apps.firewall.runtime.call import NOT_FOUND, Call, CallResult, Judgement
from apps.firewall.runtime.ports import Standing, ToolStates
from apps.gateway.database import in_database
from apps.gateway.errors import CallNotFoundError, IdempotencyConflictError
from apps.gateway.lifecycle import Gateway
from apps.gateway.runtime_api.http import STATUS_OF_CODE
from apps.gateway.services import slot_take
from apps.gateway.tokens import TokenGrant

REREAD_S = 1.0
ON_RECORD_S = 10.0
OPEN = frozenset({"awaiting_approval", "approved", "running"})
REFUSED_AS_PROBLEM = frozenset({NOT_FOUND, "parameter_validation_failed", "audit_unavailable"})


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
    current: Gateway, grant: TokenGrant, call: Call, *, key: str, body_digest: str, deadline: float
) -> Performed:
    """Start a call and wait for its end until a deadline; it goes on without a listener.

    Args:
        key: of idempotency; a call that the key is bound to already is followed instead. Empty for none.
        body_digest: of everything that was meant, so that a key is used for one call only.
        deadline: on the monotonic clock, in seconds.
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
            await _until_on_record(bound)
            return Performed(bound, *await follow(current, grant, bound, deadline))
    task = current.desk.start(call)
    await asyncio.wait({task}, timeout=max(0.0, deadline - time.monotonic()))
    if not await _is_done_or_on_record(task, call.id):
        return Performed(call.id, 202, {"id": show_id("call", call.id), "status": "running"})
    result = task.result()
    if result.asked is None:
        return Performed(call.id, *_told(result))
    return Performed(call.id, *await follow(current, grant, call.id, deadline))


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
    }


def _decision(judgement: Judgement | None) -> dict[str, str] | None:
    return None if judgement is None else {"verdict": judgement.verdict, "reason": judgement.reason}


async def follow(current: Gateway, grant: TokenGrant, call_id: UUID, deadline: float) -> tuple[int, dict[str, Any]]:
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
            status, content = await in_database(_from_record, grant, call_id, current.tool_states)
            if status != 202 or left <= 0:
                return status, content
            await watch.changed(timeout_s=min(left, REREAD_S))


async def _approval_of(current: Gateway, call_id: UUID) -> Approval | None:
    if current.desk.ended(call_id) is not None or current.desk.task_of(call_id) is not None:
        return None
    return await in_database(approval_of_call, call_id)


def _from_record(grant: TokenGrant, call_id: UUID, states: ToolStates) -> tuple[int, dict[str, Any]]:
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
        **_deprecation(states.standing(record.environment, record.tool)),
    }


def _deprecation(standing: Standing | None) -> dict[str, Any]:
    """Warn again of a tool that is deprecated: a record keeps no warnings."""
    if standing is None or standing.code:
        return {}
    return {"warnings": [{"path": "", "code": "tool_deprecated", "message": standing.message}]}


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
