"""`GET /api/v1/approvals/{id}/wait`: wait for a person's answer."""

import time
from typing import Any
from uuid import UUID

from django.utils import timezone

from apps.approvals.errors import ApprovalNotFoundError
from apps.approvals.models import Approval
from apps.approvals.selectors import approval_now
from apps.approvals.services import approvals_expire
from apps.events.waiters import waiters
from apps.firewall.identifiers import read_id
from apps.gateway.database import in_database
from apps.gateway.lifecycle import Gateway
from apps.gateway.runtime_api.http import Request
from apps.gateway.runtime_api.reading import query_number
from apps.gateway.seeing import may_see
from apps.gateway.tokens import TokenGrant

WAIT_LIMIT_MS = 30_000
REREAD_S = 2.0
DECISIONS = {"allowed_once": "allow-once", "allowed_always": "allow-always", "denied": "deny", "expired": "deny"}


async def wait(_: Gateway, grant: TokenGrant, request: Request, identifier: str) -> tuple[int, Any]:
    """Answer as soon as a person did, or with the request as it stands when the caller's time is over."""
    wait_ms = query_number(request.scope["query_string"], "wait", default=WAIT_LIMIT_MS, maximum=WAIT_LIMIT_MS)
    try:
        approval_id = read_id("ap", identifier)
    except ValueError:
        raise ApprovalNotFoundError from None
    deadline = time.monotonic() + wait_ms / 1000
    async with waiters.watch(approval_id) as watch:
        while True:
            approval = await in_database(_read, grant, approval_id)
            left = deadline - time.monotonic()
            if not approval.is_pending or left <= 0:
                return 200, _shown(approval)
            await watch.changed(timeout_s=min(left, REREAD_S))


def _read(grant: TokenGrant, approval_id: UUID) -> Approval:
    at = timezone.now()
    approval = approval_now(approval_id)
    if approval is None or not may_see(grant, approval):
        raise ApprovalNotFoundError(approval_id)
    if approval.is_pending and approval.expires_at <= at:
        approvals_expire(at)
        approval = approval_now(approval_id) or approval
    return approval


def _shown(approval: Approval) -> dict[str, Any]:
    return {
        "id": approval.shown_id,
        "call": approval.shown_call_id,
        "state": approval.state,
        "decision": DECISIONS.get(approval.state),
        "reason": approval.decision_reason,
        "expires_at": approval.expires_at.isoformat(),
        "decided_at": None if approval.decided_at is None else approval.decided_at.isoformat(),
    }
