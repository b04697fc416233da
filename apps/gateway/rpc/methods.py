"""What each name does. The same rights hold as at every other door: `apps.approvals.access`."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from apps.accounts.access import Permission, may
from apps.accounts.errors import TokenInvalidError
from apps.accounts.models import ApiToken
from apps.approvals.access import approval_access, approval_seen
from apps.approvals.answering import environment_asking
from apps.approvals.errors import ApprovalNotFoundError
from apps.approvals.models import Approval
from apps.approvals.selectors import approval_of_given_id, approvals_pending
from apps.approvals.services import approval_request, approval_resolve, approvals_expire
from apps.events.waiters import waiters
from apps.firewall.identifiers import new_id, read_id
from apps.firewall.runtime.stages.halt import CODE, told
from apps.firewall.tools.members import members_of, unknown_members
from apps.gateway.database import in_database
from apps.gateway.lifecycle import Gateway
from apps.gateway.rpc.asking import TOOL, Wanted, draft_of, read_wanted
from apps.gateway.rpc.openapi import NAMES, SCHEMAS
from apps.gateway.rpc.shown import answer_shown, milliseconds, request_shown
from apps.gateway.runtime_api.http import Problem, mistakes
from apps.gateway.runtime_api.reading import Details, require, whole_number
from apps.gateway.seeing import may_see
from apps.gateway.tokens import TokenGrant
from apps.halts.storms import CODE as PAUSED
from apps.halts.storms import storm_pause
from apps.halts.storms import told as pause_told
from apps.texts import check_value

LATE_WAITERS = timedelta(seconds=15)
"""How long an answer is told to whoever begins to wait for it; the history has it for good."""
WAIT_LIMIT_MS = 30_000
REREAD_S = 2.0
LIST_LIMIT = 1000
Params = Mapping[str, Any]
KNOWN = {name: members_of(SCHEMAS[wanted], SCHEMAS) for name, (_, wanted, _) in NAMES.items()}
"""Name of a method -> the members of its params."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who calls a method.

    Args:
        find: gives the grant of its token as it is now; it raises when there is none any more.
        longest_ms: how long one answer may take; None for as long as the request waits.
    """

    current: Gateway
    grant: TokenGrant
    find: Callable[[], Awaitable[TokenGrant]]
    trace_id: str
    longest_ms: int | None = WAIT_LIMIT_MS


Method = Callable[[Asking, Params], Awaitable[dict[str, Any]]]


async def request(asking: Asking, params: Params) -> dict[str, Any]:
    """Ask people. The same id while it waits joins the same wait; with `twoPhase` it is answered at once."""
    wanted = await read_wanted(asking.current, asking.grant, params)
    _check_stops(asking.current, wanted)
    until = None if wanted.is_two_phase else _until(asking, params)
    approval_id = new_id()
    work = in_database(_request, wanted, asking, approval_id)
    approval = await asking.current.requests.asked(approval_id, work)
    return _accepted(approval) if wanted.is_two_phase else await _wait(asking, approval.pk, until)


def _accepted(approval: Approval) -> dict[str, Any]:
    return {
        "status": "accepted",
        "id": approval.given_id or approval.shown_id,
        "approvalId": approval.shown_id,
        "createdAtMs": milliseconds(approval.requested_at),
        "expiresAtMs": milliseconds(approval.expires_at),
    }


def _check_stops(current: Gateway, wanted: Wanted) -> None:
    """Nobody is asked about what is stopped: a yes would let the program run it."""
    halt = current.halts.meets(wanted.environment, wanted.caller.context, agent=wanted.caller.agent, tool=TOOL)
    if halt is not None and halt.state == "stopped":
        raise Problem(403, CODE, told(halt))


def _request(wanted: Wanted, asking: Asking, approval_id: UUID) -> Approval:
    draft = draft_of(wanted, asking.grant, approval_id=approval_id, trace_id=asking.trace_id)
    pause = storm_pause(draft.environment, draft.agent, at=timezone.now())
    if pause is not None:
        raise Problem(403, PAUSED, pause_told(pause))
    return approval_request(draft, at=timezone.now(), timeout_s=wanted.timeout_s)


async def wait_decision(asking: Asking, params: Params) -> dict[str, Any]:
    """Wait for the answer. Nobody's answer is `decision: null`, when the time is over or the caller's own is."""
    approval = await in_database(_found, asking.grant, _id(params))
    decided = approval.decided_at
    if decided is not None and timezone.now() >= decided + LATE_WAITERS:
        raise ApprovalNotFoundError(approval.pk)
    return await _wait(asking, approval.pk, _until(asking, params))


async def _wait(asking: Asking, approval_id: UUID, until: float | None) -> dict[str, Any]:
    async with waiters.watch(approval_id) as watch:
        while True:
            approval = await _now(asking, approval_id)
            left_s = REREAD_S if until is None else until - time.monotonic()
            if not approval.is_pending or left_s <= 0:
                return answer_shown(approval, asking.grant.actor)
            await watch.changed(timeout_s=min(left_s, REREAD_S))


async def _now(asking: Asking, approval_id: UUID) -> Approval:
    """Give a request as it stands, with the right to it: who waits for hours may have lost their token meanwhile.

    One whose time is over ends in this moment, whoever sweeps or not.
    """
    requests, grant = asking.current.requests, await asking.find()
    approval = await requests.now(approval_id)
    if approval is None or not may_see(grant, approval):
        raise ApprovalNotFoundError(approval_id)
    at = timezone.now()
    if approval.is_pending and approval.expires_at <= at:
        await in_database(approvals_expire, at)
        requests.forget(approval_id)
        approval = await requests.now(approval_id) or approval
    return approval


def _read(grant: TokenGrant, approval_id: UUID) -> Approval:
    """Read a request, with the right to it; one whose time is over ends in this moment, whoever sweeps or not."""
    principal, at = _principal(grant), timezone.now()
    approval = approval_seen(principal, approval_id)
    if approval.is_pending and approval.expires_at <= at:
        approvals_expire(at)
        approval = approval_seen(principal, approval_id)
    return approval


async def resolve(asking: Asking, params: Params) -> dict[str, Any]:
    """Answer; the first answer wins, and whoever loses is told who, what and when."""
    decision, reason = params.get("decision"), params.get("reason", "")
    details: Details = []
    if not isinstance(decision, str):
        details.append({"path": "decision", "code": "required", "message": "`decision` is required"})
    if not isinstance(reason, str) or len(reason) > 2000:
        details.append({"path": "reason", "code": "invalid", "message": "`reason` must be a short text"})
    if details:
        raise mistakes(details)
    approval = await in_database(_resolve, asking.grant, _id(params), str(decision), reason, timezone.now())
    return {"ok": True, **answer_shown(approval, asking.grant.actor)}


def _resolve(grant: TokenGrant, identifier: str, decision: str, reason: str, at: datetime) -> Approval:
    principal = _principal(grant)
    approval = approval_access(principal, _found(grant, identifier).pk, write=True)
    return approval_resolve(approval, decision=decision, by=principal, at=at, reason=reason)


async def list_pending(asking: Asking, params: Params) -> dict[str, Any]:  # noqa: ARG001
    """List what waits and the caller may see, what ends first first."""
    return {"approvals": await in_database(_list, asking.grant)}


def _list(grant: TokenGrant) -> list[dict[str, Any]]:
    principal = _principal(grant)
    environment = environment_asking(grant.environment) if grant.environment else None
    if grant.environment and environment is None:  # what is left of a token of an environment that is gone
        return []
    pending = approvals_pending(environment)
    if grant.agents:
        pending = pending.filter(agent__in=grant.agents)
    if not may(principal, Permission.APPROVALS_READ):
        require(grant, Permission.CALLS_MAKE)
        pending = pending.filter(actor=grant.actor)
    return [request_shown(each, grant.actor) for each in pending[:LIST_LIMIT]]


async def get(asking: Asking, params: Params) -> dict[str, Any]:
    """Read one request, also after it ended."""
    return request_shown(await in_database(_found, asking.grant, _id(params)), asking.grant.actor)


METHODS: dict[str, Method] = {
    "exec.approval.request": request,
    "exec.approval.waitDecision": wait_decision,
    "exec.approval.resolve": resolve,
    "exec.approval.list": list_pending,
    "exec.approval.get": get,
}


SCOPES: dict[str, Permission] = {"exec.approval.request": Permission.CALLS_MAKE}
"""Of methods that a scope lets in; the others look for a request that their token may see."""


def require_scope(grant: TokenGrant, method: str) -> None:
    """Refuse a token without the scope of a method; this comes before mistakes in what is sent.

    Raises:
        Problem: 403.
    """
    if method in SCOPES:
        require(grant, SCOPES[method])


async def call(asking: Asking, method: str, params: Params) -> dict[str, Any]:
    """Call a method by its name.

    Raises:
        Problem, FirewallError: it was refused, also for texts that nothing can store.
    """
    found = METHODS.get(method)
    if found is None:
        raise Problem(404, "method_not_found", f"no method named `{method[:100]}`")
    require_scope(asking.grant, method)
    known = KNOWN[method]
    strangers = [] if known is None else unknown_members(params, known)
    if strangers:
        raise mistakes(strangers)
    check_value(params)
    return await found(asking, params)


def _principal(grant: TokenGrant) -> ApiToken:
    """Read the token anew: who waits for hours on a socket may have lost it meanwhile.

    Raises:
        TokenInvalidError: it was revoked, or has ended.
    """
    token = ApiToken.objects.select_related("created_by").get(pk=grant.token_id)
    if not token.is_usable(timezone.now()):
        raise TokenInvalidError("the token is unknown, revoked or expired")
    return token


def _found(grant: TokenGrant, identifier: str) -> Approval:
    """Find a request by its id, or by the one that this token gave it."""
    try:
        approval_id = read_id("ap", identifier)
    except ValueError:
        given = approval_of_given_id(identifier, actor=grant.actor)
        if given is None:
            raise ApprovalNotFoundError from None
        approval_id = given.pk
    return _read(grant, approval_id)


def _id(params: Params) -> str:
    identifier = params.get("id")
    if isinstance(identifier, str) and identifier:
        return identifier
    raise mistakes([{"path": "id", "code": "required", "message": "`id` is required"}])


def _until(asking: Asking, params: Params) -> float | None:
    details: Details = []
    most = 86_400_000 if asking.longest_ms is None else asking.longest_ms
    wanted = params.get("waitMs")
    wait_ms = whole_number(wanted, "waitMs", details, default=most, maximum=most)
    if details:
        raise mistakes(details)
    return None if asking.longest_ms is None and wanted is None else time.monotonic() + wait_ms / 1000
