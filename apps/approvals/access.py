"""Who may see a request or a grant, and who may answer."""

from uuid import UUID

from django.db.models import QuerySet

from apps.accounts.access import Permission, Principal, bound_of, may, may_agent, may_environment, require
from apps.approvals.errors import ApprovalNotFoundError, GrantNotFoundError
from apps.approvals.models import Approval, Grant
from apps.approvals.rules import is_own
from apps.approvals.selectors import approval_now
from apps.registry.selectors import environments


def approval_access(principal: Principal, approval_id: UUID, *, write: bool = False) -> Approval:
    """Give a request to who may see it, or with `write` to who may answer it.

    Raises:
        ApprovalNotFoundError: there is none, or its existence is not this principal's business.
        PermissionDeniedError: it may be seen but not answered.
    """
    approval = approval_now(approval_id)
    if approval is None or not may_environment(principal, approval.environment.slug):
        raise ApprovalNotFoundError(approval_id)
    if not may_agent(principal, approval.agent):
        raise ApprovalNotFoundError(approval_id)
    if not may(principal, Permission.APPROVALS_READ):
        raise ApprovalNotFoundError(approval_id)
    if write:
        require(principal, Permission.APPROVALS_RESOLVE)
    return approval


def approval_seen(principal: Principal, approval_id: UUID) -> Approval:
    """Give a request to who may see it, and to the token, or another one of the person, that asked.

    Raises:
        ApprovalNotFoundError: there is none, or its existence is not this principal's business.
    """
    approval = approval_now(approval_id)
    if approval is not None and _asked(principal, approval):
        return approval
    return approval_access(principal, approval_id)


def approvals_visible(principal: Principal, approvals: QuerySet[Approval]) -> QuerySet[Approval]:
    """Leave of some requests those that somebody may see; none for who may see none."""
    if not may(principal, Permission.APPROVALS_READ):
        return approvals.none()
    if bound := bound_of(principal):
        approvals = approvals.filter(agent__in=bound)
    slugs = [each.slug for each in environments() if may_environment(principal, each.slug)]
    return approvals.filter(environment__slug__in=slugs)


def _asked(principal: Principal, approval: Approval) -> bool:
    return (
        may_environment(principal, approval.environment.slug)
        and may_agent(principal, approval.agent)
        and may(principal, Permission.CALLS_MAKE)
        and is_own(approval, principal)
    )


def grant_access(principal: Principal, grant_id: UUID, *, write: bool = False) -> Grant:
    """Give a standing grant to who may see it, or with `write` to who may revoke it.

    Raises:
        GrantNotFoundError: there is none, or its existence is not this principal's business.
        PermissionDeniedError: it may be seen but not revoked.
    """
    grant = Grant.objects.select_related("environment", "approval").filter(pk=grant_id).first()
    if grant is None or not may_environment(principal, grant.environment.slug) or not may_agent(principal, grant.agent):
        raise GrantNotFoundError("no such grant")
    if not may(principal, Permission.APPROVALS_READ):
        raise GrantNotFoundError("no such grant")
    if write:
        require(principal, Permission.APPROVALS_RESOLVE)
    return grant


def grants_visible(principal: Principal, grants: QuerySet[Grant]) -> QuerySet[Grant]:
    """Leave of some standing approvals those that a principal may see: to a bound token those of its agents alone."""
    bound = bound_of(principal)
    return grants.filter(agent__in=bound) if bound else grants
