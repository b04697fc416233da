"""What becomes of workspaces: removed by people, or after a while without calls."""

from datetime import datetime, timedelta

from django.conf import settings

from apps.accounts.access import Permission, Principal, actor_of, require
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.firewall.sandbox.space import WorkspaceUse
from apps.registry.sandboxing import installation_space


def workspace_remove(environment: str, agent: str, *, by: Principal, at: datetime) -> bool:
    """Remove an agent's workspace; its next call begins with an empty one.

    Args:
        environment, agent: the names of its folder.
    Returns:
        Whether it was there.
    Raises:
        PermissionDeniedError: the principal may not.
        AuditUnavailableError: the ledger could not store it; nothing was removed.
    """
    require(by, Permission.AUDIT_MANAGE)
    found = next((each for each in installation_space().uses() if each[:2] == (environment, agent)), None)
    return found is not None and _remove(found, actor=actor_of(by), at=at, why="by hand")


def workspaces_unused_remove(*, at: datetime) -> int:
    """Remove the workspaces that no call has used for as long as `WORKSPACE_RETENTION_DAYS` says; count them."""
    space = installation_space()
    space.clear_removed()
    if not settings.WORKSPACE_RETENTION_DAYS:
        return 0
    since = at - timedelta(days=settings.WORKSPACE_RETENTION_DAYS)
    why = f"unused for {settings.WORKSPACE_RETENTION_DAYS} days"
    old = space.unused_since(since.timestamp())
    return sum(_remove(each, actor=actor_of(None), at=at, why=why) for each in old)


def _remove(use: WorkspaceUse, *, actor: str, at: datetime, why: str) -> bool:
    changes = {"agent": use.agent, "size_bytes": use.used.size_bytes, "files": use.used.files, "why": why}
    entry_record(
        EntryDraft(
            kind=EntryKind.WORKSPACE_CHANGE,
            actor=actor,
            environment=use.environment,
            status="removed",
            changes=changes,
            at=at,
        )
    )
    return installation_space().remove(use.environment, use.agent)
