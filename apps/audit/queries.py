"""From filters to SQL. One place says what each filter means; lists, histograms, facets and exports share it."""

# ruff: noqa: S608 - statements are put together from constants of ours; every value is a parameter

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection

from apps.accounts.selectors import actors_named
from apps.audit.drafts import EntryKind
from apps.audit.errors import FilterError
from apps.audit.filters import EntryFilters
from apps.audit.rows import CONTENT_PARTS, ENTRY_COLUMNS, MOVED
from apps.audit.words import HEAD, OWN, Wanted, wanted_of
from apps.firewall.tools.near import did_you_mean

SELECTED = ", ".join(
    [*(MOVED.get(name, f"e.{name}") for name in ENTRY_COLUMNS), *(f"c.{name}" for name in CONTENT_PARTS)]
)
WITH_CONTENT = "audit_entry AS e LEFT JOIN audit_content AS c ON c.at = e.at AND c.entry_id = e.id"

# The entry that stands for its call in a list: the first one. A call that asked a person begins with
# `approval_asked`; its later entries carry the approval's id. The same words as in the index audit_entry_heads.
IS_HEAD = (
    "e.call_id IS NOT NULL AND (e.kind = 'approval_asked'"
    " OR (e.approval_id IS NULL AND e.kind IN ('call_intent', 'denial')))"
)
# The entry that ends a call.
IS_END = (
    "e.call_id IS NOT NULL AND (e.kind IN ('call_outcome', 'denial', 'approval_expired', 'approval_superseded')"
    " OR (e.kind = 'approval_answered' AND e.status = 'denied'))"
)
# A repeat of a call that waited for a person: nobody denied it. Entries from before it had a status of its own say so
# by the code of their error.
JOINED = (
    "(e.kind = 'denial' AND e.call_id IS NOT NULL AND (e.status = 'joined' OR (e.status = 'denied'"
    " AND e.decision_layer = 'approval' AND EXISTS (SELECT FROM audit_content AS j"
    " WHERE j.at = e.at AND j.entry_id = e.id AND j.error ->> 'code' = 'call_joined'))))"
)
DENIED_BY_PERSON = "(e.kind = 'approval_answered' AND e.status = 'denied' AND e.call_id IS NOT NULL)"
DENIED = (
    "(e.kind IN ('denial', 'approval_expired', 'approval_superseded')"
    f" OR (e.kind = 'approval_answered' AND e.status = 'denied')) AND e.call_id IS NOT NULL AND NOT {JOINED}"
)
_OPEN_APPROVAL = (
    "e.kind = 'approval_asked' AND e.call_id IS NOT NULL AND NOT EXISTS (SELECT FROM audit_entry AS n WHERE"
    " n.call_id = e.call_id AND n.kind IN"
    " ('approval_answered', 'approval_expired', 'approval_cancelled', 'approval_superseded'))"
)
RUNNING = (
    # of a process that ended each intent has an outcome once it was swept
    "e.kind = 'call_intent' AND e.chain_id IN (SELECT id FROM audit_boot WHERE swept_at IS NULL)"
    " AND NOT EXISTS (SELECT FROM audit_entry AS n WHERE"
    " n.call_id = e.call_id AND n.kind IN ('call_outcome', 'denial'))"
)
# What a call's status means in terms of the entry that shows it; any other word is the status of an outcome.
CALL_STATUS: dict[str, str] = {
    "denied": DENIED,
    "joined": JOINED,
    "expired": "e.kind = 'approval_expired' AND e.call_id IS NOT NULL",
    "cancelled": "e.kind = 'approval_cancelled' AND e.call_id IS NOT NULL",
    "superseded": "e.kind = 'approval_superseded' AND e.call_id IS NOT NULL",
    "awaiting_approval": _OPEN_APPROVAL,
    "running": RUNNING,
}
# The same where one kind of entry with one status of its own says it: each is a place in the order of an index.
_PLACES: dict[str, tuple[tuple[str, str], ...]] = {
    "denied": (
        ("denial", "denied"),
        ("approval_answered", "denied"),
        ("approval_expired", "expired"),
        ("approval_superseded", "superseded"),
    ),
    "expired": (("approval_expired", "expired"),),
    "cancelled": (("approval_cancelled", "cancelled"),),
    "superseded": (("approval_superseded", "superseded"),),
}
PLACES_LIMIT = 8
CALL_STATUSES = frozenset({*CALL_STATUS, "approved", "completed", "failed", "unknown"})
_HAS_STATUS = (
    "SELECT EXISTS (SELECT FROM unnest(%s::text[]) AS k, LATERAL"
    " (SELECT FROM audit_entry AS e WHERE e.kind = k AND e.status = %s LIMIT 1) AS f)"
)
COLUMN_OF = {
    "environment": "e.environment",
    "actor": "e.actor",
    "agent": "e.agent",
    "tool": "e.tool",
    "decision": "e.decision",
    "layer": "e.decision_layer",
    "sender": "e.sender",
    "channel": "e.channel",
    "session_key": "e.session_key",
    "rule": "e.decision_rule",
    "snapshot_digest": "e.snapshot_digest",
    "trace_id": "e.trace_id",
    "call_id": "e.call_id",
    "approval_id": "e.approval_id",
}


@dataclass(slots=True)
class Where:
    """Conditions joined by AND, with their values in order.

    `wanted` is what the index of words is asked for, beside them; `key` says which of its columns name the entry.
    `needs_words` says that the index is asked at all, so that whoever reads follows first. `by_status` is the part that
    asks for statuses; `places` say the same as alternatives of which an entry fits one at most.
    """

    parts: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    wanted: Wanted | None = None
    key: tuple[str, str] = OWN
    by_words: str = ""
    by_status: str = ""
    places: tuple[tuple[list[str], str], ...] = ()
    needs_words: bool = False
    since: datetime | None = None
    until: datetime | None = None

    def add(self, part: str, *values: Any) -> None:
        self.parts.append(f"({part})")
        self.values.extend(values)

    @property
    def sql(self) -> str:
        return " AND ".join(self.parts) or "TRUE"

    def beside_words(self) -> tuple[str, list[Any]]:
        """Give what is left of the conditions where the index of words is asked elsewhere."""
        return self._without(self.by_words) if self.wanted is not None else (self.sql, self.values)

    def ways(self) -> list[tuple[str, list[Any]]]:
        """Give conditions that find the same entries together, none of them twice, each by the order of an index."""
        if not self.places:
            return [(self.sql, self.values)]
        rest, values = self._without(self.by_status)
        return [
            (
                f"{rest} AND {_any_of('e.kind', kinds)} AND e.status = %s AND e.call_id IS NOT NULL"
                + (f" AND NOT {JOINED}" if status == "denied" else ""),
                [*values, kinds if len(kinds) > 1 else kinds[0], status],
            )
            for kinds, status in self.places
        ]

    def _without(self, part: str) -> tuple[str, list[Any]]:
        place = self.parts.index(part)
        before = sum(each.count("%s") for each in self.parts[:place])
        after = before + part.count("%s")
        parts = [each for each in self.parts if each != part]
        return " AND ".join(parts) or "TRUE", self.values[:before] + self.values[after:]


def check_statuses(filters: EntryFilters) -> None:
    """Refuse a status that neither calls nor any entry has: it would find nothing, and look like nothing.

    Raises:
        FilterError: it names the status and those of calls.
    """
    for status in filters.status:
        if status not in CALL_STATUSES and not _has_entries(status):
            known = sorted(CALL_STATUSES)
            hint = f"{did_you_mean(status, known)}: calls have {', '.join(known)}"
            message = f"status: no entry has the status `{status[:40]}`{hint}"
            raise FilterError([{"path": "status", "code": "invalid", "message": message}])


def _has_entries(status: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(_HAS_STATUS, [list(EntryKind), status])
        return bool(cursor.fetchone()[0])


def entries_where(filters: EntryFilters) -> Where:
    """Select single entries; by words, every entry of a call in which all of them occur.

    Raises:
        FilterError: a status that nothing has.
    """
    check_statuses(filters)
    where = _indexed(_common(filters), filters, None)
    _duration(where, filters, is_own=True)
    if filters.kind:
        where.add("e.kind = ANY(%s)", list(filters.kind))
    if filters.status:
        where.add("e.status = ANY(%s)", list(filters.status))
    return where


def calls_where(filters: EntryFilters) -> Where:
    """Select the one entry of each call that shows it in a list: its first, or where a status is asked its last.

    Raises:
        FilterError: a status that nothing has.
    """
    check_statuses(filters)
    where = _indexed(_common(filters), filters, OWN if filters.status else HEAD)
    _duration(where, filters, is_own=bool(filters.status))
    if filters.kind:
        since = "" if filters.since is None else " AND n.at >= %s"
        where.add(
            f"e.call_id IN (SELECT n.call_id FROM audit_entry AS n WHERE n.kind = ANY(%s){since})",
            list(filters.kind),
            *([] if filters.since is None else [filters.since]),
        )
    if not filters.status:
        where.add(IS_HEAD)
        return where
    named = [CALL_STATUS[status] for status in filters.status if status in CALL_STATUS]
    outcomes = [status for status in filters.status if status not in CALL_STATUS]
    if outcomes:
        named.append("e.kind = 'call_outcome' AND e.status = ANY(%s)")
    where.add(" OR ".join(f"({part})" for part in named), *([outcomes] if outcomes else []))
    where.by_status = where.parts[-1]
    where.places = _places(filters)
    return where


def _places(filters: EntryFilters) -> tuple[tuple[list[str], str], ...]:
    """Name kinds and statuses of the entries that show these statuses; none where one of them is no place.

    Of a tool, the index orders each status, whichever kinds it has; otherwise each kind with its status.
    """
    if any(status in CALL_STATUS and status not in _PLACES for status in filters.status):
        return ()
    found = [place for status in filters.status for place in _PLACES.get(status, (("call_outcome", status),))]
    places: dict[tuple[str, str], list[str]] = {}
    for kind, status in dict.fromkeys(found):
        places.setdefault(("" if filters.tool else kind, status), []).append(kind)
    return tuple((kinds, status) for (_, status), kinds in places.items()) if len(places) <= PLACES_LIMIT else ()


def ends_where(filters: EntryFilters) -> Where:
    """Select the entry that ended each call."""
    if filters.status:
        return calls_where(filters)
    where = _indexed(_common(filters), filters, OWN)
    _duration(where, filters, is_own=True)
    where.add(IS_END)
    return where


def _common(filters: EntryFilters) -> Where:
    where = Where(since=filters.since, until=filters.until)
    if filters.since is not None:
        where.add("e.at >= %s", filters.since)
    if filters.until is not None:
        where.add("e.at < %s", filters.until)
    for name, column in COLUMN_OF.items():
        wanted = getattr(filters, name)
        if name == "actor" and wanted:
            wanted = actors_named(wanted)
        if isinstance(wanted, tuple) and wanted:
            where.add(_any_of(column, wanted), wanted[0] if len(wanted) == 1 else list(wanted))
        elif not isinstance(wanted, tuple) and wanted not in ("", None):
            where.add(f"{column} = %s", wanted)
    return where


def _any_of(column: str, values: Sequence[str]) -> str:
    return f"{column} = %s" if len(values) == 1 else f"{column} = ANY(%s)"  # in order an index has one value alone


def _indexed(where: Where, filters: EntryFilters, key: tuple[str, str] | None) -> Where:
    """Have the index of words name the entries, where it can; with no key, every entry of the calls that it names."""
    wanted = wanted_of(filters)
    if wanted is None:
        return where
    where.needs_words = True
    since = "" if filters.since is None else " AND w.at >= %s"
    values = [*wanted.values, *([] if filters.since is None else [filters.since])]
    if key is not None:
        where.wanted, where.key = wanted, key
        columns = ", ".join(f"w.{name}" for name in key)
        found = f"SELECT {columns} FROM audit_words AS w WHERE {wanted.sql}{since} OFFSET 0"
        # Found first and alone: the planner would otherwise walk all entries in order, hoping to meet some soon.
        where.add(f"(e.at, e.id) IN (SELECT * FROM ({found}) AS f)", *values)
        where.by_words = where.parts[-1]
        return where
    found = f"FROM audit_words AS w {{}} WHERE {wanted.sql}"
    of_calls = "JOIN audit_entry AS h ON h.at = w.head_at AND h.id = w.head_id JOIN audit_entry AS n USING (call_id)"
    where.add(
        f"(e.at, e.id) IN (SELECT w.at, w.entry_id {found.format('')}"
        f" UNION SELECT n.at, n.id {found.format(of_calls)})",
        *wanted.values,
        *wanted.values,
    )
    return where


def _duration(where: Where, filters: EntryFilters, *, is_own: bool) -> None:
    """Ask for how long a call ran: of the entry itself, or of the outcome of the call that it begins."""
    bounds = [
        (f"{{}}.duration_ms {sign} %s", value)
        for sign, value in ((">=", filters.duration_min), ("<=", filters.duration_max))
        if value is not None
    ]
    if not bounds:
        return
    name = "e" if is_own else "o"
    condition = " AND ".join(part.format(name) for part, _ in bounds)
    if not is_own:
        condition = (
            "EXISTS (SELECT FROM audit_entry AS o WHERE o.call_id = e.call_id AND o.kind = 'call_outcome'"
            f" AND {condition})"
        )
    where.add(condition, *(value for _, value in bounds))
