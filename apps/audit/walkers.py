"""The walk over one stretch of a chain: hashes, links, contents. No Django: it also runs in processes of its own.

What a stretch cannot judge alone, where entries or contents are missing and may have been purged or erased, is reported
as it is found; `verification.py` puts the stretches together.
"""

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson
import psycopg
from psycopg import sql

from apps.audit.chain import FORMATS, body_columns, body_digest, content_columns, content_commitment, entry_hash

if TYPE_CHECKING:
    from apps.audit.problems import Kind, Params

ROWS_AT_ONCE = 500  # contents are up to some hundred kilobytes each
NICENESS = 5
JSON_PARTS = frozenset({"phases", "changes", "params", "result", "error", "masked"})
OWN = body_columns(1)
GIVEN = content_columns(2)


def _selected() -> sql.Composed:
    own = [_column("e", name) for name in (*OWN, "seq", "prev_hash", "hash")]
    return sql.SQL(", ").join([*own, *(_column("c", name) for name in ("salt", *GIVEN))])


def _column(table: str, name: str) -> sql.Composed:
    shape = "{}::text" if name in JSON_PARTS else "{}"
    return sql.SQL(shape).format(sql.Identifier(table, name))


# Known bounds let the planner leave out the partitions of all other months. OFFSET 0 keeps it from looking for them
# along the instants of every entry there is, which takes seconds among millions.
BOUNDS = (
    "SELECT min(at), max(at) FROM"
    " (SELECT at FROM audit_entry WHERE chain_id = %s AND seq BETWEEN %s AND %s OFFSET 0) AS stretch"
)
STRETCH = sql.SQL(
    "SELECT {} FROM audit_entry AS e"
    " LEFT JOIN audit_content AS c ON c.at = e.at AND c.entry_id = e.id AND c.at BETWEEN %(oldest)s AND %(newest)s"
    " WHERE e.chain_id = %(chain)s AND e.seq BETWEEN %(first)s AND %(last)s AND e.at BETWEEN %(oldest)s AND %(newest)s"
    " ORDER BY e.seq, e.at"
).format(_selected())
MEMORY = "SET LOCAL work_mem = '32MB'"
SEQ = len(OWN)
SALT = SEQ + 3
NOWHERE = (2**63, 2**63)


@dataclass(frozen=True, slots=True)
class Stretch:
    """What to walk: numbers of one chain, the heads that checkpoints signed within them, and what was signed away.

    `erased` and `purged` are spans that lie apart from each other, in their order.
    """

    chain_id: UUID
    first: int
    last: int
    heads: tuple[tuple[int, bytes], ...] = ()
    erased: tuple[tuple[int, int], ...] = ()
    purged: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Gap:
    """Numbers that are not there, between the hash before them and the one that the next entry names as before it."""

    first: int
    last: int
    before: bytes
    after: bytes


@dataclass(slots=True)
class Walked:
    """What was found on a stretch. `bare` are runs of entries whose committed content is not there."""

    stretch: Stretch
    entries: int = 0
    contents: int = 0
    first_seq: int | None = None
    first_prev: bytes = b""
    last_seq: int = 0
    last_hash: bytes = b""
    gaps: list[Gap] = field(default_factory=list)
    bare: list[list[int]] = field(default_factory=list)
    problems: "list[tuple[int, Kind, Params]]" = field(default_factory=list)
    heads_found: int = 0
    heads_gone: list[tuple[int, bytes]] = field(default_factory=list)


def walk(connection: psycopg.Connection[Any], stretch: Stretch) -> Walked:
    """Walk a stretch in constant memory, within a transaction of the connection."""
    walked, heads = Walked(stretch), dict(stretch.heads)
    erased, purged = _Spans(stretch.erased), _Spans(stretch.purged)
    place = {"chain": stretch.chain_id, "first": stretch.first, "last": stretch.last}
    with connection.transaction(), connection.cursor(name="audit_walk") as cursor:
        connection.execute(MEMORY)
        found = connection.execute(BOUNDS, tuple(place.values())).fetchone()
        oldest, newest = found or (None, None)
        cursor.itersize = ROWS_AT_ONCE
        cursor.execute(STRETCH, place | {"oldest": oldest, "newest": newest})
        for row in cursor:
            _entry(walked, row, heads)
            _back(walked, row, erased, purged)
    walked.heads_gone = sorted(heads.items())
    return walked


def _entry(walked: Walked, row: Sequence[Any], heads: dict[int, bytes]) -> None:
    seq, prev, own = row[SEQ], bytes(row[SEQ + 1]), bytes(row[SEQ + 2])
    walked.entries += 1
    if walked.first_seq is None:
        walked.first_seq, walked.first_prev = seq, prev
    elif seq == walked.last_seq:
        walked.problems.append((seq, "repeated", {"number": seq}))
    elif seq != walked.last_seq + 1:
        walked.gaps.append(Gap(walked.last_seq + 1, seq - 1, walked.last_hash, prev))
    elif prev != walked.last_hash:
        walked.problems.append((seq, "unlinked", {}))
    signed = heads.pop(seq, None)
    if signed is not None:
        walked.heads_found += 1
        if signed != own:
            walked.problems.append((seq, "rewritten", {}))
    columns = dict(zip(OWN, row[:SEQ], strict=True))
    if _says_unbound(columns) or not _entry_fits(walked.stretch.chain_id, columns, seq, prev, own):
        walked.problems.append((seq, "changed", {}))
    _content(walked, columns, seq, row[SALT], row[SALT + 1 :])
    walked.last_seq, walked.last_hash = seq, own


def _content(walked: Walked, columns: dict[str, Any], seq: int, salt: Any, parts: Sequence[Any]) -> None:
    bound, version = columns["content_commitment"], columns["format"]
    if bound is None:
        if salt is not None:
            walked.problems.append((seq, "content_stray", {}))
        return
    if salt is None:
        if walked.bare and walked.bare[-1][1] == seq - 1:
            walked.bare[-1][1] = seq
        else:
            walked.bare.append([seq, seq])
        return
    walked.contents += 1
    content = dict(zip(GIVEN, parts, strict=True))
    is_unbound = version == 1 and _says_moved(content)
    if (
        is_unbound
        or version not in FORMATS
        or not any(content_commitment(bytes(salt), told, version=version) == bound for told in _readings(content))
    ):
        walked.problems.append((seq, "content_changed", {}))


class _Spans:
    """Numbers that were signed away, asked for in their order."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self.rest = iter(spans)
        self.first, self.last = next(self.rest, NOWHERE)

    def include(self, seq: int) -> bool:
        while self.last < seq:
            self.first, self.last = next(self.rest, NOWHERE)
        return self.first <= seq


def _back(walked: Walked, row: Sequence[Any], erased: _Spans, purged: _Spans) -> None:
    """Report what stands there although its end was signed before the walk began."""
    seq = row[SEQ]
    if purged.include(seq):
        walked.problems.append((seq, "purged_back", {}))
    if erased.include(seq) and row[SALT] is not None:
        walked.problems.append((seq, "content_back", {}))


def _says_unbound(columns: dict[str, Any]) -> bool:
    """Say whether an entry holds, itself, what is content in its format: nothing of it would bind that."""
    return columns["format"] == 2 and _says_moved(columns)


def _says_moved(columns: dict[str, Any]) -> bool:
    return columns["changes"] is not None or bool(columns["decision_reason"])


def _entry_fits(chain_id: UUID, columns: dict[str, Any], seq: int, prev: bytes, own: bytes) -> bool:
    version = columns["format"]
    return version in FORMATS and any(
        entry_hash(chain_id=chain_id, seq=seq, prev=prev, body=body_digest(told), version=version) == own
        for told in _readings(columns)
    )


def _readings(columns: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Read the JSON of a row quickly, and once more exactly: the quick reader rounds integers of over 64 bits."""
    for read in (orjson.loads, json.loads):
        with contextlib.suppress(ValueError, RecursionError):
            yield {
                name: read(value) if name in JSON_PARTS and value is not None else value
                for name, value in columns.items()
            }


_kept: dict[str, psycopg.Connection[Any]] = {}


def begin(address: str) -> None:
    """Prepare a process of its own for walking: a connection, and less of the processor than those who serve."""
    os.nice(NICENESS)
    _kept["own"] = psycopg.connect(address, autocommit=True)


def walk_here(stretch: Stretch) -> Walked:
    """Walk in a process that `begin` prepared."""
    return walk(_kept["own"], stretch)
