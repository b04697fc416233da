"""What an agent hears when a request to people ended its call."""

from typing import Any, Final

from apps.approvals.models import Approval

REFUSALS: Final = {
    "denied": "a person denied it",
    "expired": "nobody answered in time, which counts as denied",
    "cancelled": "the request was withdrawn",
    "superseded": "the request could not be answered as it stood any more, ask again",
}


def refusal_of(approval: Approval | None) -> dict[str, Any] | None:
    """Give the error of a call that ended with its request; None where the request ended none."""
    if approval is None or approval.state not in REFUSALS:
        return None
    message = REFUSALS[approval.state]
    if approval.decision_reason:
        message = f"{message}: {approval.decision_reason}"
    return {"code": f"approval_{approval.state}", "message": message, "details": []}
