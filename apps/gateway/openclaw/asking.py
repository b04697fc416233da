"""`/api/v1/openclaw/calls`: may this call run at the gateway? Waits for people, and answers exactly once with yes."""

import asyncio
import time
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.utils import timezone

from apps.approvals.errors import ApprovalError
from apps.approvals.models import Approval
from apps.approvals.running import approval_claim, approval_finish
from apps.approvals.selectors import approval_of_call
from apps.approvals.services import approval_cancel, approval_waited, approvals_expire
from apps.audit.services import boot_id
from apps.events.waiters import Watch, waiters
from apps.firewall.engine.context import CallContext, ContextError
from apps.firewall.identifiers import new_id, read_id, show_id
from apps.firewall.runtime.call import Action, Call, CallResult, Host
from apps.gateway.database import in_database
from apps.gateway.lifecycle import Gateway
from apps.gateway.openclaw.reading import WAIT_LIMIT_MS, Asked, gateway_of, read_asked
from apps.gateway.refusals import REFUSALS
from apps.gateway.runtime_api.http import Problem, Request
from apps.gateway.runtime_api.leaving import Departure, departure_of
from apps.gateway.runtime_api.reading import query_number
from apps.gateway.tokens import TokenGrant
from apps.openclaw_gateways.calls import (
    call_close,
    call_id_of_key,
    call_of_gateway,
    call_open,
    call_withdraw,
    params_told,
)
from apps.openclaw_gateways.errors import GatewayCallNotFoundError
from apps.openclaw_gateways.models import GatewayCall, OpenClawGateway
from apps.openclaw_gateways.services import snapshot_asked
from apps.openclaw_gateways.spawned import Spawning, is_spawned_key, spawners_of

REREAD_S = 1.0
BACK: Final = timedelta(seconds=75)
"""So long a gateway asks on that cannot reach us, and a little longer."""
BACK_AT_ONCE: Final = timedelta(seconds=10)
"""Within this a gateway asks again whose connection broke."""
KEY = "key_"
WITHDRAWN = "the gateway stopped waiting for an answer"
State = GatewayCall.State


async def ask(current: Gateway, grant: TokenGrant, request: Request, _: str) -> tuple[int, Any]:
    """Take a gateway's question; the same key again waits for the same answer."""
    gateway = await gateway_of(grant)
    asked = read_asked(grant, await request.json())
    current.elsewhere.check()
    deadline = time.monotonic() + asked.wait_ms / 1000
    spawnings = await in_database(_spawnings, gateway, asked)
    row, is_new = await in_database(call_open, gateway, asked.question, call_id=new_id(), at=timezone.now())
    if is_new:
        await _note_snapshot(current, gateway)
        call = _call(gateway, grant, asked, spawnings, call_id=row.pk, trace_id=request.trace_id)
        _settled(current, row.pk, current.elsewhere.start(call))
    return await stand(current, gateway, row.pk, deadline, request)


async def wait(current: Gateway, grant: TokenGrant, request: Request, identifier: str) -> tuple[int, Any]:
    """Wait for the answer to a question."""
    gateway = await gateway_of(grant)
    wait_ms = query_number(request.scope["query_string"], "wait", default=WAIT_LIMIT_MS, maximum=WAIT_LIMIT_MS)
    deadline = time.monotonic() + wait_ms / 1000
    return await stand(current, gateway, call_named(identifier), deadline, request)


async def withdraw(_: Gateway, grant: TokenGrant, __: Request, identifier: str) -> tuple[int, Any]:
    """Hear that the gateway blocks the call itself: nobody need answer any more, and it does not run.

    It names the call by its id, or by the key of its question, whose answer may never have reached it.
    """
    gateway = await gateway_of(grant)
    if identifier.startswith(KEY):
        call_id = await in_database(call_id_of_key, gateway, identifier.removeprefix(KEY))
    else:
        call_id = call_named(identifier)
    await take_back(gateway, call_id)
    return 200, {"id": show_id("call", call_id), "status": "withdrawn"}


async def take_back(gateway: OpenClawGateway, call_id: UUID) -> None:
    """End a question whose answer the gateway does not wait for, and the request of people with it."""
    row = await in_database(call_withdraw, gateway, call_id)
    if row.state == State.ASKED:
        await in_database(_cancel, call_id)


def call_named(identifier: str) -> UUID:
    """Read the id of a call.

    Raises:
        GatewayCallNotFoundError: it is none.
    """
    try:
        return read_id("call", identifier)
    except ValueError:
        raise GatewayCallNotFoundError("no such call") from None


async def stand(
    current: Gateway, gateway: OpenClawGateway, call_id: UUID, deadline: float, request: Request
) -> tuple[int, Any]:
    """Answer as soon as it is known whether the call may run, or when the gateway's time is over.

    What a person allowed is claimed here, for the gateway that waits: where none waits any more, nothing runs.

    Raises:
        Problem: the gateway went away.
    """
    watched, leased = call_id, None
    async with departure_of(request, matters=True) as departure:
        assert departure is not None  # noqa: S101 - it matters
        while True:
            async with waiters.watch(watched) as watch:
                found = await in_database(_look, gateway.pk, call_id)
                if found.answer is not None:
                    return 200, found.answer
                await _check_waits(departure, found)
                if found.allowed is not None and await _take(current, call_id, found.allowed):
                    continue
                left = deadline - time.monotonic()
                if found.asked is not None and found.asked != leased:
                    leased = found.asked
                    await in_database(approval_waited, leased, until=timezone.now() + timedelta(seconds=left) + BACK)
                if left <= 0:
                    return 202, found.waiting
                if watched == found.watched:
                    await _changed(watch, departure, min(left, REREAD_S))
                watched = found.watched


async def _check_waits(departure: Departure, found: "Found") -> None:
    """Let the answer through for a gateway that still waits for it.

    Raises:
        Problem: it went away; unless it comes back at once, nobody need answer any more.
    """
    try:
        departure.check()
    except Problem:
        if found.asked is not None:
            await in_database(approval_waited, found.asked, until=timezone.now() + BACK_AT_ONCE)
        raise


async def _changed(watch: Watch, departure: Departure, timeout_s: float) -> None:
    """Wait until the row may have changed, or the gateway goes away."""
    waits = {asyncio.ensure_future(watch.changed(timeout_s=timeout_s)), asyncio.ensure_future(departure.wait())}
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waits:
            each.cancel()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How a question stands: answered, allowed by a person whose answer nobody took yet, asked of people, or open."""

    answer: dict[str, Any] | None = None
    allowed: UUID | None = None
    asked: UUID | None = None
    waiting: dict[str, Any] | None = None
    watched: UUID


def _look(gateway_id: UUID, call_id: UUID) -> Found:
    row = call_of_gateway(gateway_id, call_id)
    shown = {"id": row.shown_id}
    if row.state == State.TOLD and not row.is_withdrawn:
        return Found(answer={**shown, "status": "run", "params": params_told(row)}, watched=call_id)
    if row.state != State.ASKED or row.is_withdrawn:
        return Found(answer={**shown, "status": "denied", "error": row.error or _ended(row)}, watched=call_id)
    approval = approval_of_call(call_id)
    if approval is None:
        return Found(waiting={**shown, "status": "pending"}, watched=call_id)
    if approval.is_pending and approval.expires_at <= timezone.now():
        approvals_expire(timezone.now())
        approval = approval_of_call(call_id) or approval
    return _asked(shown, approval, call_id)


def _asked(shown: dict[str, Any], approval: Approval, call_id: UUID) -> Found:
    if approval.is_pending:
        told = {"id": approval.shown_id, "expires_at": approval.expires_at.isoformat()}
        waiting = {**shown, "status": "awaiting_approval", "approval": told}
        return Found(waiting=waiting, asked=approval.pk, watched=approval.pk)
    if approval.is_allowed:
        is_free = approval.claimed_at is None and approval.finished_at is None
        waiting = {**shown, "status": "pending"}
        return Found(allowed=approval.pk if is_free else None, waiting=waiting, watched=call_id)
    error = {"code": f"approval_{approval.state}", "message": _refusal(approval)}
    call_close(call_id, "denied", error, at=timezone.now())
    return Found(answer={**shown, "status": "denied", "error": error}, watched=call_id)


def _refusal(approval: Approval) -> str:
    message = REFUSALS.get(approval.state, f"the request is {approval.state}")
    return f"{message}: {approval.decision_reason}" if approval.decision_reason else message


def _ended(row: GatewayCall) -> dict[str, str]:
    return {"code": "call_ended", "message": f"the call is {row.outcome or row.state} already"}


async def _take(current: Gateway, call_id: UUID, approval_id: UUID) -> bool:
    """Take what a person allowed; another process may have been faster, or it may not be taken at all."""
    boot = await in_database(boot_id)
    try:
        claim = await in_database(approval_claim, approval_id, boot=boot, at=timezone.now())
    except ApprovalError:
        return False
    task = current.elsewhere.resume(Action.from_json(claim.action), approval_id=approval_id)
    _settled(current, call_id, task, approval_id)
    return True


def _settled(current: Gateway, call_id: UUID, task: asyncio.Task[CallResult], approval_id: UUID | None = None) -> None:
    current.elsewhere.background(_settle(call_id, task, approval_id))


async def _settle(call_id: UUID, task: asyncio.Task[CallResult], approval_id: UUID | None) -> None:
    """Keep how a call ended once its outcome is on record; one that waits for a person has not."""
    await asyncio.wait({task})
    result = task.result()
    if result.asked is None:
        await asyncio.shield(in_database(call_close, call_id, result.status, result.error, at=timezone.now()))
    if approval_id is not None:
        await asyncio.shield(in_database(approval_finish, approval_id, at=timezone.now()))


def _cancel(call_id: UUID) -> None:
    approval = approval_of_call(call_id)
    if approval is not None:
        approval_cancel(approval, at=timezone.now(), reason=WITHDRAWN)


async def _note_snapshot(current: Gateway, gateway: OpenClawGateway) -> None:
    snapshot = current.snapshots.live(gateway.environment.slug)
    if snapshot is not None and snapshot.digest != gateway.snapshot_digest:
        await in_database(snapshot_asked, gateway, snapshot.digest)


def _call(
    gateway: OpenClawGateway,
    grant: TokenGrant,
    asked: Asked,
    spawnings: list[Spawning],
    *,
    call_id: UUID,
    trace_id: str,
) -> Call:
    unreadable = f"the gateway says that it is `{asked.tool_kind}`, which is not judged" if asked.tool_kind else ""
    return Call(
        environment=gateway.environment.slug,
        agent=asked.asker.agent,
        tool=asked.asker.tool,
        params=asked.params,
        context=_as_child(asked.asker.context, spawnings),
        actor=grant.actor,
        requester=grant.requester,
        trace_id=trace_id,
        unreadable=unreadable,
        run=asked.question.run,
        host=Host(
            id=gateway.shown_id,
            name=gateway.name,
            wait_s=asked.person_s,
            known=asked.known,
            spawners=[_in_whose_name(each, spawnings) for each in spawnings],
        ),
        id=call_id,
    )


def _spawnings(gateway: OpenClawGateway, asked: Asked) -> list[Spawning]:
    context = asked.asker.context
    return spawners_of(
        gateway,
        session_key=context.session_key,
        claimed=context.spawned_by,
        run=asked.question.run,
        at=timezone.now(),
    )


def _as_child(context: CallContext, spawnings: list[Spawning]) -> CallContext:
    """Write into a context who spawned its session, as it is on record here.

    A sub-agent in whose name nobody speaks is decided by what its spawner may, as the release does it: not by the
    rules of a group in which it does not take part.
    """
    depth, key = 0, context.session_key
    parents = {each.child_key: each.parent_key for each in reversed(spawnings) if not each.is_announced}
    while key in parents and depth < len(parents):
        depth, key = depth + 1, parents[key]
    if not depth:
        return context
    parent = parents[context.session_key or ""]
    if not is_spawned_key(context.session_key or "") and not context.subagent_depth:
        return replace(context, spawned_by=parent)
    depth = max(depth, context.subagent_depth)
    stored = {"spawnedBy": parent, "spawnDepth": depth, "inheritedToolPolicyVersion": 1}
    return replace(context, spawned_by=parent, subagent_depth=depth, stored_session=stored)


def _in_whose_name(each: Spawning, spawnings: list[Spawning]) -> dict[str, Any]:
    try:
        context = _as_child(CallContext.from_json(each.spawner["context"]), spawnings).to_json()
    except ContextError:  # of a version that knew other members: the decision says so, and is a denial
        context = each.spawner["context"]
    return {"context": context, "known": each.spawner["known"]}
