"""The action of an approval: sealed while it may still run, bound by its digest."""

import hashlib
import json
from typing import Any

from apps.approvals.errors import ActionChangedError, ApprovalClaimedError
from apps.approvals.models import Approval
from apps.audit.chain import canonical, storable
from apps.keys.seal import seal, unseal

PURPOSE = "approval.action"


def action_digest(action: object) -> str:
    """Digest an action in its canonical form, as hex SHA-256: what a person allows, and what may run."""
    return hashlib.sha256(canonical(storable(action))).hexdigest()


def sealed_action(action: object) -> bytes:
    """Seal an action for as long as it waits."""
    return seal(canonical(storable(action)), purpose=PURPOSE)


def unsealed_action(approval: Approval) -> dict[str, Any]:
    """Open the action of an approval.

    Raises:
        ApprovalClaimedError: it was destroyed, because the approval ended.
        ActionChangedError: what was kept is not what was asked for.
    """
    if approval.sealed_action is None:
        raise ApprovalClaimedError("the action was already taken by a runner")
    action: dict[str, Any] = json.loads(unseal(bytes(approval.sealed_action), purpose=PURPOSE))
    if action_digest(action) != approval.action_digest:
        raise ActionChangedError("the kept action is not the one that was asked for")
    return action
