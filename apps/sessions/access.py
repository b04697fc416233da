"""Who may see a session, and who may end one or set its budgets."""

from uuid import UUID

from apps.accounts.access import Permission, Principal, bound_of, may, may_agent, may_environment, require
from apps.sessions.errors import SessionNotFoundError
from apps.sessions.models import Session


def session_access(principal: Principal, session_id: UUID, *, write: bool = False) -> Session:
    """Give a session to who may see it, or with `write` to who may end it and set its budgets.

    Raises:
        SessionNotFoundError: there is none, or its existence is not this principal's business.
        PermissionDeniedError: it may be seen but not changed.
    """
    session = Session.objects.select_related("environment").filter(pk=session_id).first()
    if session is None or not may_environment(principal, session.environment.slug):
        raise SessionNotFoundError("no such session")
    if not may(principal, Permission.AUDIT_READ) or not may_agent(principal, session.agent):
        raise SessionNotFoundError("no such session")
    if write:
        require(principal, Permission.SESSIONS_MANAGE)
    return session


def agents_of(principal: Principal) -> tuple[str, ...]:
    """Name the only agents whose sessions a principal may see; empty for all."""
    return tuple(sorted(bound_of(principal)))
