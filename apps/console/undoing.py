"""Offering to undo what somebody has just saved, and where they go on afterwards."""

from typing import Any, Final

from django.contrib import messages
from django.urls import reverse

from apps.accounts.access import Permission, may
from apps.accounts.models import User
from apps.console.gate import ConsoleRequest
from apps.console.record_pages import record_url
from apps.policies.kinds import KINDS
from apps.policies.selectors import record_get
from apps.policies.undoable import ChangeTold, record_change_own

LISTS: Final = {
    "agent": "agents",
    "profile": "profiles",
    "group": "groups",
    "channel": "groups",
    "account": "groups",
    "sender": "groups",
    "provider": "global",
    "permission_grant": "permissions",
    "content_filter": "filters",
    "allowlist": "exec-rules",
}
"""Where one goes on when the record is gone, by its kind."""


def tell_saved(request: ConsoleRequest, text: str, record: Any, *, was: Any = None) -> None:
    """Tell somebody that a change is in the draft, and offer to undo it.

    Args:
        record: as it is now, or as it was before it was deleted.
        was: as it was before the change; with the same version nothing has changed, so there is nothing to undo.
    """
    is_changed = was is None or was.pk != record.pk or was.version != record.version
    change = record_change_own(record, request.user) if is_changed and type(record) in KINDS.values() else None
    messages.success(request, text, extra_tags="" if change is None else str(change))


def writer_of(request: ConsoleRequest) -> User | None:
    """Return who looks when they may change policy, and so undo their own changes."""
    return request.user if may(request.user, Permission.POLICY_WRITE) else None


def page_after(request: ConsoleRequest, undone: ChangeTold) -> str:
    """Return the page of the record that an undo was about; where it has none any more, a list, or the review."""
    if request.environment and record_get(request.environment, undone.kind, undone.record) is not None:
        url = record_url(undone.kind, undone.record)
        if url:
            return url
    return reverse(LISTS.get(undone.kind, "publish"))
