"""What happened in a session, in order: its calls with what was asked about them, and what changed in the policy."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from apps.audit.filters import EntryFilters
from apps.audit.rows import CallRecord, EntryRow
from apps.audit.selectors import calls, cursor_text, entries

PAGE: Final = 50
CHANGES_LIMIT: Final = 100
# What may change how the next call of a session is answered.
CHANGES: Final = ("publish", "rollback", "policy_change", "kill_switch", "session_change", "grant_created",
                  "grant_revoked", "limit_change", "hook_change")  # fmt: skip
_START: Final = cursor_text((datetime(2000, 1, 1, tzinfo=UTC), UUID(int=0), None))


@dataclass(frozen=True, slots=True)
class Moment:
    """One thing that happened: a call, or a change of the policy."""

    at: datetime
    call: CallRecord | None = None
    change: EntryRow | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """A part of a session's story, oldest first. `later` and `earlier` are cursors of its neighbours."""

    moments: tuple[Moment, ...]
    earlier: str | None
    later: str | None


def session_timeline(
    *, environment: str, keys: Sequence[str], after: str = "", before: str = "", limit: int = PAGE
) -> Timeline:
    """Tell a part of the story of sessions, oldest first.

    Args:
        keys: the session and, where they are wanted, those that it started.
        after: cursor from `later`; `before`: cursor from `earlier`. At most one of both.
    Raises:
        FilterError: the cursor is not one of ours.
    """
    filters = EntryFilters(environment=environment, session_key=tuple(keys))
    if before:
        page = calls(filters, after=before, limit=limit)
    else:
        page = calls(filters, before=after or _START, limit=limit)
    told = [Moment(call.at, call=call) for call in page.rows]
    earlier = page.older if told and (after or before) else None
    if told:
        low, high = min(moment.at for moment in told), max(moment.at for moment in told)
        told += [Moment(entry.at, change=entry) for entry in _changes(environment, low, high)]
    return Timeline(tuple(sorted(told, key=lambda moment: moment.at)), earlier, page.newer)


def _changes(environment: str, since: datetime, until: datetime) -> Sequence[EntryRow]:
    until += timedelta(microseconds=1)
    wanted = EntryFilters(environment=environment, kind=CHANGES, since=since, until=until)
    return entries(wanted, limit=CHANGES_LIMIT).rows
