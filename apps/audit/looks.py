"""Looking at what others did is itself an entry: every search, every call that is opened.

A search is one set of filters on one first page. Older pages of it, its pictures and what is new in it belong to it;
the same filters asked for again are another look, and another entry. The list as it opens, without a filter, is no
search.
"""

from typing import Any
from uuid import UUID

from apps.accounts.access import Principal, actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.filters import EntryFilters
from apps.audit.services import entry_record
from apps.firewall.identifiers import show_id


def search_record(by: Principal, filters: EntryFilters, *, of: str = "calls") -> None:
    """Record a search before its findings are shown; the list without a filter is none.

    Raises:
        AuditUnavailableError: the ledger refuses; nothing may be shown.
    """
    told = filters.to_json()
    if set(told) <= {"environment", "since"}:
        return
    _record(by, filters.environment, {"of": of, "filters": told})


def look_record(by: Principal, *, environment: str, call_id: UUID) -> None:
    """Record that a call was opened, by a link or in the list.

    Raises:
        AuditUnavailableError: the ledger refuses; nothing may be shown.
    """
    _record(by, environment, {"of": "call", "call": show_id("call", call_id)})


def session_record(by: Principal, *, environment: str, session_key: str) -> None:
    """Record that the timeline of a session was opened.

    Raises:
        AuditUnavailableError: the ledger refuses; nothing may be shown.
    """
    _record(by, environment, {"of": "session", "filters": {"session_key": [session_key]}})


def _record(by: Principal, environment: str, changes: dict[str, Any]) -> None:
    actor = actor_of(by)
    entry_record(EntryDraft(kind=EntryKind.SEARCH, actor=actor, environment=environment, changes=changes))
