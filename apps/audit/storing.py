"""How a batch of linked entries reaches the disk: in one statement while it is small, else copied."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import psycopg
from psycopg import sql

from apps.audit.chain import LINK_COLUMNS, body_columns, content_columns

LEASE_S: Final = 15
AT_ONCE: Final = 16
"""Entries that one statement holds; more are copied."""
BODY, CONTENT = body_columns(), content_columns()
ENTRY_COLUMNS: Final = (*BODY, *LINK_COLUMNS)
KEPT_COLUMNS: Final = ("at", "entry_id", "call_id", "salt", *CONTENT)
TYPES: Final = {
    **dict.fromkeys(("at",), "timestamptz"),
    **dict.fromkeys(("id", "entry_id", "call_id", "approval_id", "chain_id"), "uuid"),
    **dict.fromkeys(("seq", "duration_ms"), "bigint"),
    **dict.fromkeys(("format",), "smallint"),
    **dict.fromkeys(("phases", "changes", "params", "result", "error", "masked"), "jsonb"),
    **dict.fromkeys(("content_commitment", "prev_hash", "hash", "salt"), "bytea"),
}
"""Of the columns that are no text."""
MOVE_HEAD: Final = """
UPDATE audit_boot SET seq = %s, head = %s, lease_until = clock_timestamp() + make_interval(secs => %s)
WHERE id = %s AND ended_at IS NULL
"""
Rows = Sequence[Sequence[Any]]


def store(
    connection: psycopg.Connection[Any], entries: Rows, contents: Rows, *, chain_id: UUID, seq: int, head: bytes
) -> bool:
    """Store entries with their contents and move the head of their chain, all or nothing.

    Args:
        entries: rows of `ENTRY_COLUMNS`; contents: rows of `KEPT_COLUMNS`.
        seq, head: where the chain ends then.
    Returns:
        False when the chain is closed; nothing is stored then.
    Raises:
        psycopg.Error: the store refused it; nothing of it is stored, unless the connection broke.
    """
    moving = (seq, head, LEASE_S, chain_id)
    if len(entries) > AT_ONCE:
        return _copied(connection, entries, contents, moving)
    statement = _statement(len(entries), len(contents))
    values = [*moving, *(value for row in (*entries, *contents) for value in row)]
    found = connection.execute(statement, values).fetchone()
    return bool(found and found[0])


def _copied(connection: psycopg.Connection[Any], entries: Rows, contents: Rows, moving: tuple[Any, ...]) -> bool:
    has_moved = False
    with connection.transaction() as transaction, connection.cursor() as cursor:
        for table, columns, rows in (
            ("audit_entry", ENTRY_COLUMNS, entries),
            ("audit_content", KEPT_COLUMNS, contents),
        ):
            copying = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), _names(columns))
            with cursor.copy(copying) as copy:
                for row in rows:
                    copy.write_row(row)
        has_moved = cursor.execute(MOVE_HEAD, moving).rowcount == 1
        if not has_moved:
            raise psycopg.Rollback(transaction)
    return has_moved


@lru_cache(maxsize=64)
def _statement(entries: int, contents: int) -> bytes:
    """Write the statement for so many rows; the connection prepares those that come again."""
    put = [("audit_entry", ENTRY_COLUMNS, entries)]
    if contents:
        put.append(("audit_content", KEPT_COLUMNS, contents))
    inserts = [
        sql.SQL("{} AS (INSERT INTO {} ({}) SELECT * FROM (VALUES {}) AS v WHERE EXISTS (SELECT FROM moved))").format(
            sql.Identifier(f"put_{table}"), sql.Identifier(table), _names(columns), _rows(columns, count)
        )
        for table, columns, count in put
    ]
    moved = sql.SQL("moved AS (" + MOVE_HEAD + "RETURNING 1)")
    return sql.SQL("WITH {} SELECT count(*) FROM moved").format(sql.SQL(", ").join([moved, *inserts])).as_bytes()


def _names(columns: Sequence[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, columns))


def _rows(columns: Sequence[str], count: int) -> sql.Composed:
    values = sql.SQL(", ").join(sql.SQL("%s::" + TYPES.get(name, "text")) for name in columns)
    return sql.SQL(", ").join([sql.SQL("({})").format(values)] * count)
