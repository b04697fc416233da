"""A call as the ledger has it, in the words for whoever made it: its result is the masked copy there."""

from typing import Any

from apps.approvals.models import Approval
from apps.approvals.selectors import approval_of_call
from apps.audit.rows import CallRecord
from apps.firewall.identifiers import show_id

REFUSALS = {
    "denied": "a person denied it",
    "expired": "nobody answered in time, which counts as denied",
    "cancelled": "the request was withdrawn",
}


def recorded(record: CallRecord) -> dict[str, Any]:
    """Tell how a call ended, as `GET /calls/{id}` answers it."""
    return {
        "id": show_id("call", record.id),
        "status": "denied" if _is_refusal(record) else record.status,
        "result": record.result,
        "error": record.error or _refusal(approval_of_call(record.id)),
        "duration_ms": record.duration_ms,
        "decision": {"verdict": record.decision, "reason": record.reason},
        **({"warnings": list(record.warnings)} if record.warnings else {}),
    }


def _is_refusal(record: CallRecord) -> bool:
    """Say whether a person, or nobody's answer, kept the call from running; one that was ended is `cancelled`."""
    return record.status == "expired" or (record.status == "cancelled" and record.approval_state == "cancelled")


def _refusal(approval: Approval | None) -> dict[str, Any] | None:
    if approval is None or approval.state not in REFUSALS:
        return None
    message = REFUSALS[approval.state]
    if approval.decision_reason:
        message = f"{message}: {approval.decision_reason}"
    return {"code": f"approval_{approval.state}", "message": message, "details": []}
