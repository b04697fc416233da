"""The row of a request: locked for as long as a transaction looks at it, counted up with each change."""

from uuid import UUID

from apps.approvals.errors import ApprovalNotFoundError
from apps.approvals.models import Approval
from apps.rows import RowsBy

_locked = RowsBy(lambda: Approval.objects.select_for_update(of=("self",)).select_related("environment"))


def approval_locked(approval_id: UUID) -> Approval:
    """Lock a request until the transaction ends.

    Raises:
        ApprovalNotFoundError: there is none.
    """
    approval = _locked.one(approval_id)
    if approval is None:
        raise ApprovalNotFoundError(approval_id)
    return approval


def approval_save(approval: Approval, *fields: str) -> None:
    """Write some fields of a locked request, and count the change."""
    approval.version += 1
    approval.save(update_fields=[*fields, "version"])
