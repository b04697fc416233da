"""From filters to SQL. One place says what each filter means; lists, histograms, facets and exports share it."""

import re
from dataclasses import dataclass, field
from typing import Any

from apps.audit.filters import EntryFilters
from apps.audit.rows import CONTENT_PARTS, ENTRY_COLUMNS, MOVED

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
DENIED = (
    "(e.kind IN ('denial', 'approval_expired', 'approval_superseded')"
    " OR (e.kind = 'approval_answered' AND e.status = 'denied')) AND e.call_id IS NOT NULL"
)
_OPEN_APPROVAL = (
    "e.kind = 'approval_asked' AND e.call_id IS NOT NULL AND NOT EXISTS (SELECT FROM audit_entry AS n WHERE"
    " n.call_id = e.call_id AND n.kind IN"
    " ('approval_answered', 'approval_expired', 'approval_cancelled', 'approval_superseded'))"
)
_RUNNING = (
    "e.kind = 'call_intent' AND NOT EXISTS (SELECT FROM audit_entry AS n WHERE"
    " n.call_id = e.call_id AND n.kind IN ('call_outcome', 'denial'))"
)
# What a call's status means in terms of the entry that shows it; any other word is the status of an outcome.
CALL_STATUS: dict[str, str] = {
    "denied": DENIED,
    "expired": "e.kind = 'approval_expired' AND e.call_id IS NOT NULL",
    "cancelled": "e.kind = 'approval_cancelled' AND e.call_id IS NOT NULL",
    "superseded": "e.kind = 'approval_superseded' AND e.call_id IS NOT NULL",
    "awaiting_approval": _OPEN_APPROVAL,
    "running": _RUNNING,
}
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
    "call_id": "e.call_id",
    "approval_id": "e.approval_id",
}
# The same letters that the SQL function audit_words takes for blanks.
_NO_WORD = re.compile(r"[][!\"#$%&'()*+,./:;<=>?@\\^`{|}~_\s-]+")
WORDS_LIMIT = 12


@dataclass(slots=True)
class Where:
    """Conditions joined by AND, with their values in order."""

    parts: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def add(self, part: str, *values: Any) -> None:
        self.parts.append(f"({part})")
        self.values.extend(values)

    @property
    def sql(self) -> str:
        return " AND ".join(self.parts) or "TRUE"


def entries_where(filters: EntryFilters) -> Where:
    """Select single entries."""
    where = _common(filters)
    if filters.kind:
        where.add("e.kind = ANY(%s)", list(filters.kind))
    if filters.status:
        where.add("e.status = ANY(%s)", list(filters.status))
    return where


def calls_where(filters: EntryFilters) -> Where:
    """Select the one entry of each call that shows it in a list: its first, or where a status is asked its last."""
    where = _common(filters)
    if not filters.status:
        where.add(IS_HEAD)
        return where
    named = [CALL_STATUS[status] for status in filters.status if status in CALL_STATUS]
    outcomes = [status for status in filters.status if status not in CALL_STATUS]
    if outcomes:
        named.append("e.kind = 'call_outcome' AND e.status = ANY(%s)")
        where.add(" OR ".join(f"({part})" for part in named), outcomes)
    else:
        where.add(" OR ".join(f"({part})" for part in named))
    return where


def ends_where(filters: EntryFilters) -> Where:
    """Select the entry that ended each call."""
    if filters.status:
        return calls_where(filters)
    where = _common(filters)
    where.add(IS_END)
    return where


def search_query(text: str) -> str:
    """Write words as a tsquery: all must occur, each may go on."""
    words = [word for word in _NO_WORD.split(text) if word][:WORDS_LIMIT]
    return " & ".join(f"'{word}':*" for word in words)


def _common(filters: EntryFilters) -> Where:
    where = Where()
    if filters.since is not None:
        where.add("e.at >= %s", filters.since)
    if filters.until is not None:
        where.add("e.at < %s", filters.until)
    for name, column in COLUMN_OF.items():
        wanted = getattr(filters, name)
        if isinstance(wanted, tuple) and wanted:
            where.add(f"{column} = ANY(%s)", list(wanted))
        elif not isinstance(wanted, tuple) and wanted not in ("", None):
            where.add(f"{column} = %s", wanted)
    if filters.text:
        _words(filters, where)
    return where


def _words(filters: EntryFilters, where: Where) -> None:
    query = search_query(filters.text)
    if not query:
        where.add("FALSE")  # nothing but punctuation was typed: no word contains it
        return
    # As a set that is found first: the planner would otherwise walk all entries in order and split each one's words.
    found = (
        "SELECT w.at, w.entry_id, w.call_id FROM audit_content AS w"
        " WHERE audit_words(w.params) @@ to_tsquery('simple', %s)"
    )
    values: list[Any] = [query]
    where.add(
        "(e.at, e.id) IN (SELECT at, entry_id FROM found) OR e.call_id IN (SELECT call_id FROM found)".replace(
            "FROM found", f"FROM ({found} OFFSET 0) AS found"
        ),
        *values,
        *values,
    )
