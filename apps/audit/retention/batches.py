"""One batch of what goes: the statement that says so, and the database's own check, in one transaction."""

# ruff: noqa: S608 - statements are put together from constants of ours; every value is a parameter

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.backends.utils import CursorWrapper

from apps.audit.following import follow_forget, tally_recount
from apps.audit.retention.ranges import Place, ranges_of
from apps.audit.statements import StatementKind, statement_sign

BATCH_ENTRIES: Final = 2000
COLUMNS: Final = "e.at, e.id, e.chain_id, e.seq, e.prev_hash, e.hash, e.call_id, e.approval_id"
MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Going:
    """An entry of which something goes."""

    at: datetime
    id: UUID
    place: Place
    call_id: UUID | None
    approval_id: UUID | None


def goings(cursor: CursorWrapper, source: str, condition: str, values: Sequence[Any]) -> list[Going]:
    """Select entries in their order, as many as a batch has."""
    cursor.execute(
        f"SELECT {COLUMNS} FROM {source} WHERE {condition} ORDER BY e.at, e.id LIMIT {BATCH_ENTRIES}", values
    )
    return [
        Going(at, entry_id, Place(chain, seq, bytes(prev), bytes(own)), call_id, approval_id)
        for at, entry_id, chain, seq, prev, own, call_id, approval_id in cursor.fetchall()
    ]


def entries_purge(cursor: CursorWrapper, found: Sequence[Going], said: dict[str, Any]) -> int:
    """Take entries away, with everything that was made of them. Within a transaction."""
    return _gone(cursor, found, said, StatementKind.PURGE)


def contents_erase(cursor: CursorWrapper, found: Sequence[Going], said: dict[str, Any]) -> int:
    """Take the contents of entries away, and the words of them. Within a transaction."""
    return _gone(cursor, found, said, StatementKind.ERASURE)


def _gone(cursor: CursorWrapper, found: Sequence[Going], said: dict[str, Any], kind: StatementKind) -> int:
    is_purge = kind == StatementKind.PURGE
    since, until = min(each.at for each in found), max(each.at for each in found)
    follow_forget(cursor, [(each.at, each.id) for each in found])
    ranges = ranges_of((each.place for each in found), with_hashes=is_purge)
    statement = statement_sign(kind, said | {"ranges": ranges})
    function = "audit_purge" if is_purge else "audit_erase"
    cursor.execute(f"SELECT {function}(%s, %s, %s)", [statement.number, since, until + MICROSECOND])
    gone = int(cursor.fetchone()[0])
    if is_purge:
        tally_recount(cursor, since=since, until=until)
    return gone
