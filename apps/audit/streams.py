"""Walking many rows in constant memory: a cursor that stays at the server."""

# ruff: noqa: S608 - statements are put together from constants of ours; every value is a parameter

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connection, transaction

from apps.audit.queries import SELECTED, WITH_CONTENT
from apps.audit.rows import EntryRow, read_entry

CHUNK_ROWS = 1000


def entry_stream(condition: str, values: Sequence[Any], *, order: str) -> Iterator[EntryRow]:
    """Give the entries that fulfil a condition, all as of one moment."""
    statement = f"SELECT {SELECTED} FROM {WITH_CONTENT} WHERE {condition} ORDER BY {order}"
    return (read_entry(row) for row in row_stream(statement, values))


def row_stream(statement: str, values: Sequence[Any]) -> Iterator[Any]:
    """Give the rows of a statement a thousand at a time, within one transaction."""
    with transaction.atomic(), connection.chunked_cursor() as cursor:
        cursor.execute(statement, values)
        while rows := cursor.fetchmany(CHUNK_ROWS):
            yield from rows
