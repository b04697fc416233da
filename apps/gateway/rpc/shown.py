"""A request in OpenClaw's words: instants in milliseconds, no decision where nobody answered."""

from datetime import datetime
from typing import Any

from apps.approvals.models import Approval
from apps.approvals.states import DECISION_OF, State

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


def answer_shown(approval: Approval) -> dict[str, Any]:
    """Tell how a request stands: to whoever waits for it, and to whoever answers it."""
    return {
        "id": approval.given_id or approval.shown_id,
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


def request_shown(approval: Approval) -> dict[str, Any]:
    """Tell what is asked for, masked as everywhere."""
    return answer_shown(approval) | {
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
            "allowedDecisions": approval.decisions,
        },
    }
