"""Walking the chains: does each entry say what it said, is none missing, is each content the one committed.

What is gone must be gone for a signed reason: entries by a purge whose statement links the two sides of the gap,
contents by an erasure. What checkpoints signed must still stand where it stood.
"""

import hmac
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from multiprocessing import current_process, get_context
from typing import Any
from uuid import UUID

from django.db import connection
from psycopg.conninfo import make_conninfo

from apps.audit.chain import (
    FORMATS,
    body_columns,
    body_digest,
    content_columns,
    content_commitment,
    entry_hash,
    genesis,
)
from apps.audit.models import Boot
from apps.audit.problems import Kind, Params, code_of, told_in_english
from apps.audit.rows import EntryRow
from apps.audit.vouching import Vouched, covered_wrongly, within, witnessed_beyond
from apps.audit.walkers import Gap, Stretch, Walked, begin, walk, walk_here
from apps.firewall.identifiers import show_id

PROBLEM_LIMIT = 100
STRETCH_ENTRIES = 10_000
ALONE_ENTRIES = 50_000  # below, more processes would take longer to start than to walk
MOST_PROCESSES = 4
NO_CHAIN = UUID(int=0)
STRAYS = """
SELECT count(*) FROM audit_content AS content WHERE NOT EXISTS (
    SELECT FROM audit_entry AS entry WHERE entry.id = content.entry_id AND entry.at = content.at
)
"""
ADDRESS = ("host", "port", "user", "password", "dbname")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that does not hold: in which chain, at which number, what. Without a chain it is about a statement."""

    chain_id: UUID
    seq: int
    kind: Kind
    params: Params = field(default_factory=dict)

    @property
    def code(self) -> str:
        return code_of(self.kind)

    @property
    def message(self) -> str:
        return told_in_english(self.kind, self.params)

    @property
    def chain(self) -> str:
        return "" if self.chain_id == NO_CHAIN else show_id("chain", self.chain_id)

    @property
    def place(self) -> str:
        return f"{self.chain or 'statement'} #{self.seq}" if self.chain or self.seq else "ledger"

    def to_json(self) -> dict[str, Any]:
        """Write it as it is kept: with its English sentence for programs, with its kind for people's languages."""
        told = {"place": self.place, "code": self.code, "message": self.message}
        return told | {"chain": self.chain, "number": self.seq, "kind": self.kind, "params": dict(self.params)}


@dataclass(slots=True)
class Verification:
    """What a walk found. `erased` and `purged` count what is gone for a signed reason; the rest still verifies.

    `open_entries` are those that no checkpoint covers yet: to cut them off would not be seen.
    """

    chains: int = 0
    entries: int = 0
    contents: int = 0
    erased: int = 0
    purged: int = 0
    statements: int = 0
    heads: int = 0
    open_entries: int = 0
    problem_count: int = 0
    problems: list[Problem] = field(default_factory=list)

    @property
    def is_intact(self) -> bool:
        return not self.problem_count

    def add(self, chain_id: UUID, seq: int, kind: Kind, params: Params | None = None) -> None:
        self.problem_count += 1
        if len(self.problems) < PROBLEM_LIMIT:
            self.problems.append(Problem(chain_id, seq, kind, params or {}))

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"problems": [each.to_json() for each in self.problems]}


@dataclass(slots=True)
class _Chain:
    """A chain while it is walked; what is missing waits until it is known what was signed meanwhile."""

    length: int
    head: bytes
    expected: int
    previous: bytes
    gaps: list[Gap] = field(default_factory=list)
    bare: list[tuple[int, int]] = field(default_factory=list)
    heads_gone: list[tuple[int, bytes]] = field(default_factory=list)


def verify_chains(
    *,
    chain_ids: Iterable[UUID] | None = None,
    progress: Callable[[int], None] | None = None,
    processes: int | None = None,
) -> Verification:
    """Walk chains from their first entry to the head that their boot holds, in constant memory.

    A green result proves that nothing up to the last checkpoint was changed, removed, added or reordered by somebody
    who does not hold the signing key.

    Args:
        chain_ids: which; all when None.
        progress: told the number of entries walked, now and then.
        processes: how many walk; as many as the ledger's size and the machine suggest when None.
    """
    report, vouched = Verification(), Vouched()
    vouched.follow()
    boots = Boot.objects.all() if chain_ids is None else Boot.objects.filter(id__in=list(chain_ids))
    # Heads first: entries that arrive while the walk goes on lie beyond them.
    chains = {
        boot: _Chain(seq, bytes(head), 1, genesis(boot)) for boot, seq, head in boots.values_list("id", "seq", "head")
    }
    report.chains = len(chains)
    # What was signed away before the walk began must be gone; what is signed away while it goes on may still be met.
    with _walking(_stretches(chains, vouched), _processes(chains, processes)) as results:
        for walked in results:
            _join(report, chains[walked.stretch.chain_id], walked)
            if progress is not None:
                progress(report.entries)
    # Statements last: what was purged or erased while the walk went on is explained by them.
    vouched.follow()
    for chain_id, chain in chains.items():
        _judge(report, chain_id, chain, vouched)
    if chain_ids is None:
        _verify_strangers(report, chains, vouched)
    vouched.key_check()
    _tell_statements(report, vouched)
    return report


def entry_is_intact(entry: EntryRow) -> bool:
    """Say whether one entry hashes to what it says, over the hash before it that it names, and its content fits."""
    return hmac.compare_digest(_hash_of(entry), entry.hash) and _content_fits(entry)


def _stretches(chains: dict[UUID, _Chain], vouched: Vouched) -> Iterator[Stretch]:
    for chain_id, chain in chains.items():
        heads = vouched.heads.get(chain_id)
        erased, purged = vouched.erased_spans(chain_id), vouched.purged_spans(chain_id)
        for first in range(1, chain.length + 1, STRETCH_ENTRIES):
            last = min(first + STRETCH_ENTRIES - 1, chain.length)
            signed = () if heads is None else heads.between(first, last)
            yield Stretch(chain_id, first, last, signed, within(erased, first, last), within(purged, first, last))


def _processes(chains: dict[UUID, _Chain], wanted: int | None) -> int:
    if wanted is not None:
        return wanted
    is_small = sum(chain.length for chain in chains.values()) < ALONE_ENTRIES
    # A process that is somebody's daemon may have no children of its own.
    return 1 if is_small or current_process().daemon else min(os.cpu_count() or 1, MOST_PROCESSES)


@contextmanager
def _walking(stretches: Iterator[Stretch], processes: int) -> Iterator[Iterable[Walked]]:
    if processes == 1:
        connection.ensure_connection()
        yield (walk(connection.connection, stretch) for stretch in stretches)
        return
    given = connection.get_connection_params()
    address = make_conninfo(**{name: str(given[name]) for name in ADDRESS if given.get(name)})
    # Spawned, not forked: whoever asks may have threads, and a fork would share its connections.
    with get_context("spawn").Pool(processes, initializer=begin, initargs=(address,)) as pool:
        yield pool.imap(walk_here, stretches)


def _join(report: Verification, chain: _Chain, walked: Walked) -> None:
    """Put a stretch behind the one before it."""
    chain_id = walked.stretch.chain_id
    report.entries += walked.entries
    report.contents += walked.contents
    report.heads += walked.heads_found
    for seq, kind, params in walked.problems:
        report.add(chain_id, seq, kind, params)
    chain.heads_gone += walked.heads_gone
    chain.bare += [(first, last) for first, last in walked.bare]
    if walked.first_seq is None:
        return
    if walked.first_seq != chain.expected:
        chain.gaps.append(Gap(chain.expected, walked.first_seq - 1, chain.previous, walked.first_prev))
    elif walked.first_prev != chain.previous:
        report.add(chain_id, walked.first_seq, "unlinked")
    chain.gaps += walked.gaps
    chain.expected, chain.previous = walked.last_seq + 1, walked.last_hash


def _judge(report: Verification, chain_id: UUID, chain: _Chain, vouched: Vouched) -> None:
    """Say of everything that is missing whether it was signed away, and whether the chain ends where it should."""
    if chain.expected <= chain.length:
        chain.gaps.append(Gap(chain.expected, chain.length, chain.previous, chain.head))
    elif chain.previous != chain.head:
        report.add(chain_id, chain.length, "head_differs")
    for gap in chain.gaps:
        if vouched.explains(chain_id, gap):
            report.purged += gap.last - gap.first + 1
        elif gap.last == chain.length:
            report.add(chain_id, chain.length, "truncated.end", {"last": gap.first - 1, "length": chain.length})
        else:
            report.add(chain_id, gap.last + 1, "missing", {"before": gap.first - 1, "after": gap.last + 1})
    for first, last in chain.bare:
        report.erased += last - first + 1
        for begun, ended in vouched.not_erased(chain_id, first, last):
            report.erased -= ended - begun + 1
            if begun == ended:
                report.add(chain_id, begun, "content_missing")
            else:
                report.add(chain_id, begun, "content_missing.span", {"last": ended})
    for seq, head in chain.heads_gone:
        if not vouched.is_purged(chain_id, seq, head):
            report.add(chain_id, seq, "truncated.head")
    signed = vouched.heads[chain_id].numbers if chain_id in vouched.heads else ()
    report.open_entries += max(chain.length - (signed[-1] if signed else 0), 0)
    for seq in signed[-1:]:
        if seq > chain.length and seq > _length_now(chain_id):
            report.add(chain_id, seq, "truncated.beyond")


def _tell_statements(report: Verification, vouched: Vouched) -> None:
    report.statements = vouched.count
    for number, kind, params in vouched.problems:
        report.add(NO_CHAIN, number, kind, params)


def _length_now(chain_id: UUID) -> int:
    return Boot.objects.filter(id=chain_id).values_list("seq", flat=True).first() or 0


def _verify_strangers(report: Verification, chains: dict[UUID, _Chain], vouched: Vouched) -> None:
    """Entries of chains that no boot knows, or beyond a head that stands still; signed chains that are gone.

    A content without its entry tells of an entry that was deleted, also where the chain was rewound to hide that.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT chain_id, max(seq) FROM audit_entry GROUP BY chain_id")
        found = cursor.fetchall()
        cursor.execute(STRAYS)
        (strays,) = cursor.fetchone()
    if strays:
        report.add(NO_CHAIN, 0, "content_stray.alone", {"contents": strays})
    now = dict(Boot.objects.values_list("id", "seq"))
    for chain_id, last in found:
        if chain_id not in now:
            report.add(chain_id, last, "unknown_chain")
        elif chain_id in chains and last > now[chain_id]:
            report.add(chain_id, last, "beyond_head")
    for chain_id in set(vouched.heads) - set(now):
        last = vouched.heads[chain_id].numbers[-1]
        if not vouched.is_purged(chain_id, last, vouched.heads[chain_id].hash_at(-1)):
            report.add(chain_id, last, "truncated.chain")
    for name, number in witnessed_beyond(vouched):
        report.add(NO_CHAIN, number, "witness_ahead", {"name": name})
    for chain_id, seq in covered_wrongly(vouched):
        report.add(chain_id, seq, "checkpoint_index")


def _hash_of(entry: EntryRow) -> bytes:
    if entry.format not in FORMATS:
        return b""  # of an entry that nothing of ours wrote
    body = body_digest({name: getattr(entry, name) for name in body_columns(entry.format)})
    return entry_hash(chain_id=entry.chain_id, seq=entry.seq, prev=entry.prev_hash, body=body, version=entry.format)


def _content_fits(entry: EntryRow) -> bool:
    if entry.content_commitment is None or entry.salt is None:
        return True
    if entry.format not in FORMATS:
        return False
    content = {name: getattr(entry, name) for name in content_columns(entry.format)}
    expected = content_commitment(entry.salt, content, version=entry.format)
    return hmac.compare_digest(expected, entry.content_commitment)
