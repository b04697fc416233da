"""Who may see a request or a grant, and who may answer."""

from uuid import UUID

from apps.accounts.access import Permission, Principal, may, may_environment, require
from apps.approvals.errors import ApprovalNotFoundError, GrantNotFoundError
from apps.approvals.models import Approval, Grant


def approval_access(principal: Principal, approval_id: UUID, *, write: bool = False) -> Approval:
    """Give a request to who may see it, or with `write` to who may answer it.

    Raises:
        ApprovalNotFoundError: there is none, or its existence is not this principal's business.
        PermissionDeniedError: it may be seen but not answered.
    """
    approval = Approval.objects.select_related("environment", "decided_by").filter(pk=approval_id).first()
    if approval is None or not may_environment(principal, approval.environment.slug):
        raise ApprovalNotFoundError(approval_id)
    if not may(principal, Permission.APPROVALS_READ):
        raise ApprovalNotFoundError(approval_id)
    if write:
        require(principal, Permission.APPROVALS_RESOLVE)
    return approval


def grant_access(principal: Principal, grant_id: UUID, *, write: bool = False) -> Grant:
    """Give a standing grant to who may see it, or with `write` to who may revoke it.

    Raises:
        GrantNotFoundError: there is none, or its existence is not this principal's business.
        PermissionDeniedError: it may be seen but not revoked.
    """
    grant = Grant.objects.select_related("environment", "approval").filter(pk=grant_id).first()
    if grant is None or not may_environment(principal, grant.environment.slug):
        raise GrantNotFoundError("no such grant")
    if not may(principal, Permission.APPROVALS_READ):
        raise GrantNotFoundError("no such grant")
    if write:
        require(principal, Permission.APPROVALS_RESOLVE)
    return grant
