"""A request in OpenClaw's words: instants in milliseconds, no decision where nobody answered."""

from datetime import datetime
from typing import Any

from apps.approvals.models import Approval
from apps.approvals.states import DECISION_OF, State
from apps.approvals.unbound import unbound_shown

STATUS: dict[str, str] = {
    State.REQUESTED: "pending",
    State.ALLOWED_ONCE: "allowed",
    State.ALLOWED_ALWAYS: "allowed",
    State.DENIED: "denied",
    State.EXPIRED: "expired",
    State.CANCELLED: "cancelled",
    State.SUPERSEDED: "superseded",
}


def milliseconds(at: datetime | None) -> int | None:
    """Write an instant as milliseconds since 1970."""
    return None if at is None else round(at.timestamp() * 1000)


def answer_shown(approval: Approval, actor: str) -> dict[str, Any]:
    """Tell how a request stands: to whoever waits for it, and to whoever answers it.

    Args:
        actor: who is told. The id that a program gave its request names it to that program alone: another may have
            given the same.
    """
    is_own = bool(approval.given_id) and approval.actor == actor
    return {
        "id": approval.given_id if is_own else approval.shown_id,
        "approvalId": approval.shown_id,
        "createdAtMs": milliseconds(approval.requested_at),
        "expiresAtMs": milliseconds(approval.expires_at),
        "resolvedAtMs": milliseconds(approval.decided_at),
        "resolvedBy": approval.decided_by_label or None,
        "decision": DECISION_OF.get(State(approval.state)),
        "status": STATUS[approval.state],
        "reason": approval.decision_reason,
        "voices": {"have": approval.voices_have, "need": approval.voices_need},
    }


def request_shown(approval: Approval, actor: str) -> dict[str, Any]:
    """Tell what is asked for, masked as everywhere.

    Args:
        actor: as for `answer_shown`.
    """
    return answer_shown(approval, actor) | {
        "approvalKind": approval.kind,
        "request": {
            "callId": approval.shown_call_id,
            "environment": approval.environment.slug,
            "tool": approval.tool,
            "title": approval.title,
            "severity": approval.severity,
            "command": approval.command,
            "commandArgv": approval.argv,
            "params": approval.params,
            "cwd": approval.cwd,
            "host": approval.host,
            "resolvedPath": approval.resolved_path,
            "agentId": approval.agent,
            "sessionKey": approval.session_key,
            "reason": approval.reason,
            "evidence": approval.evidence,
            "notBound": unbound_shown(approval.not_bound),
            "allowedDecisions": approval.decisions,
        },
    }
