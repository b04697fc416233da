"""Walking all entries that match, part by part: exactly those that were committed when it was asked.

An entry and the head of its chain move in one transaction. The heads of all chains, read at once, therefore say which
entries there were: one that is committed later lies beyond them, whatever its instant says. A part is a stretch of
instants, read in a transaction of its own, so that none stays open for as long as a reader is slow.
"""

# ruff: noqa: S608 - statements are put together from constants of ours; every value is a parameter

from binascii import unhexlify
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final
from uuid import UUID

from django.db import connection, transaction

from apps.audit.chain import instant_text
from apps.audit.filters import EntryFilters
from apps.audit.following import follow
from apps.audit.formats import Format
from apps.audit.manifests import RowFacts
from apps.audit.queries import Where, entries_where

PART_ENTRIES: Final = 20_000
FOLLOW_S: Final = 60.0
PARTS_AHEAD: Final = 2
SPOOLED_BYTES: Final = 8 * 1024 * 1024
BLOCK_BYTES: Final = 256 * 1024
WORK_MEMORY: Final = "SET LOCAL work_mem = '64MB'"
HEADS: Final = "SELECT id::text, seq FROM audit_boot WHERE seq > 0"
WITHIN: Final = (
    "EXISTS (SELECT FROM unnest(%s::uuid[], %s::bigint[]) AS h (chain_id, seq)"
    " WHERE h.chain_id = e.chain_id AND e.seq <= h.seq)"
)

Heads = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Place:
    """An entry in the order of all, by instant and id."""

    at: datetime
    id: UUID

    def to_json(self) -> list[str]:
        return [instant_text(self.at), str(self.id)]

    @classmethod
    def read(cls, written: list[str] | None) -> "Place | None":
        return None if written is None else cls(datetime.fromisoformat(written[0]), UUID(written[1]))


def heads_now() -> dict[str, int]:
    """Give the head of every chain, as of one moment."""
    with connection.cursor() as cursor:
        cursor.execute(HEADS)
        return dict(cursor.fetchall())


def heads_matching(filters: EntryFilters, heads: Heads) -> tuple[dict[str, int], int]:
    """Keep the chains that hold an entry that matches, and count those entries."""
    where = _where(filters, heads)
    with connection.cursor() as cursor:
        statement = f"SELECT e.chain_id::text, count(*) FROM audit_entry AS e WHERE {where.sql} GROUP BY 1"
        cursor.execute(statement, where.values)
        counted = dict(cursor.fetchall())
    return {chain: heads[chain] for chain in counted}, sum(counted.values())


def part_end(filters: EntryFilters, after: Place | None) -> Place | None:
    """Say where the part that follows a place ends; None when it is the last one."""
    span = Where()
    _between(span, after, None)
    if filters.since is not None:
        span.add("e.at >= %s", filters.since)
    if filters.until is not None:
        span.add("e.at < %s", filters.until)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT e.at, e.id FROM audit_entry AS e WHERE {span.sql} ORDER BY e.at, e.id OFFSET %s LIMIT 1",
            [*span.values, PART_ENTRIES - 1],
        )
        found = cursor.fetchone()
    return None if found is None else Place(*found)


def part_lines(
    written: Format, filters: EntryFilters, heads: Heads, after: Place | None, end: Place | None, facts: RowFacts
) -> Iterator[bytes]:
    """Give the lines of one part, and note what they are once all are given."""
    chain, seq, its_hash = written.chain, written.seq, written.hash
    names: dict[bytes, UUID] = {}
    rows: list[tuple[UUID, int, bytes]] = []
    for line in _part(written, filters, heads, after, end):
        name = line[chain]
        known = names.get(name) or names.setdefault(name, UUID(name.decode()))
        rows.append((known, int(line[seq : line.index(b",", seq)]), unhexlify(line[its_hash])))
        yield line
    facts.add_rows(rows)


def _part(
    written: Format, filters: EntryFilters, heads: Heads, after: Place | None, end: Place | None
) -> Iterator[bytes]:
    where, content = _where(filters, heads), Where()
    _between(where, after, end)
    for limit, sign in ((after, ">="), (end, "<=")):
        if limit is not None:
            content.add(f"c.at {sign} %s", limit.at)
    statement = written.copy(content=content.sql, entries=where.sql)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(WORK_MEMORY)
        with cursor.copy(statement, [*where.values, *content.values]) as copy:
            for block in copy:
                yield bytes(block)


def lines_of(written: Format, filters: EntryFilters, heads: Heads) -> Iterator[bytes]:
    """Give everything that matches in blocks, for a reader who takes it as it comes.

    A slow reader holds no transaction open: a part is here before its first line is given, and the next ones are read
    meanwhile, over connections of their own.
    """
    if written.head:
        yield written.head
    with ThreadPoolExecutor(PARTS_AHEAD, thread_name_prefix="export") as readers:
        ahead: deque[Future[IO[bytes]]] = deque()
        after: Place | None = None
        is_last = False
        while ahead or not is_last:
            while not is_last and len(ahead) < PARTS_AHEAD:
                end = part_end(filters, after)
                ahead.append(readers.submit(_spooled, written, filters, heads, after, end))
                after, is_last = end, end is None
            with ahead.popleft().result() as spool:
                while block := spool.read(BLOCK_BYTES):
                    yield block


def _spooled(written: Format, filters: EntryFilters, heads: Heads, after: Place | None, end: Place | None) -> IO[bytes]:
    spool = SpooledTemporaryFile(SPOOLED_BYTES)  # noqa: SIM115 - whoever reads it closes it
    try:
        spool.writelines(_part(written, filters, heads, after, end))
    except BaseException:
        spool.close()
        raise
    finally:
        connection.close()  # this thread's own
    spool.seek(0)
    return spool


def _where(filters: EntryFilters, heads: Heads) -> Where:
    where = entries_where(filters)
    if where.needs_words:
        follow(limit_s=FOLLOW_S)  # what is asked for by its words is complete first
    values: tuple[Any, Any] = (list(heads), list(heads.values()))
    where.add(WITHIN, *values)
    return where


def _between(where: Where, after: Place | None, end: Place | None) -> None:
    if after is not None:
        where.add("e.at >= %s AND (e.at, e.id) > (%s, %s)", after.at, after.at, after.id)
    if end is not None:
        where.add("e.at <= %s AND (e.at, e.id) <= (%s, %s)", end.at, end.at, end.id)
