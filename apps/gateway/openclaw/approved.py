"""What people allowed, and an OpenClaw Gateway runs."""

from uuid import UUID

from apps.approvals.selectors import approval_now
from apps.openclaw_gateways.calls import is_elsewhere


def runs_elsewhere(approval_id: UUID) -> bool:
    """Say whether what was allowed is a gateway's to run: nobody here takes it."""
    approval = approval_now(approval_id)
    return approval is not None and is_elsewhere(approval.call_id)
