"""Walking the chains: does each entry say what it said, is none missing, is each content the one committed."""

import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from uuid import UUID

from django.db import connection

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
from apps.audit.rows import EntryRow
from apps.audit.streams import entry_stream

PROBLEM_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that does not hold: in which chain, at which number, what."""

    chain_id: UUID
    seq: int
    code: str
    message: str


@dataclass(slots=True)
class Verification:
    """What a walk found. `erased` counts entries whose content was erased; their entries still verify."""

    chains: int = 0
    entries: int = 0
    contents: int = 0
    erased: int = 0
    problems: list[Problem] = field(default_factory=list)

    @property
    def is_intact(self) -> bool:
        return not self.problems

    def add(self, chain_id: UUID, seq: int, code: str, message: str) -> None:
        if len(self.problems) < PROBLEM_LIMIT:
            self.problems.append(Problem(chain_id, seq, code, message))


def verify_chains(
    *, chain_ids: Iterable[UUID] | None = None, progress: Callable[[int], None] | None = None
) -> Verification:
    """Walk chains from their first entry to the head that their boot holds, in constant memory.

    A green result proves that nothing was changed, removed, added or reordered since it was written by somebody who
    cannot also rewrite every hash after it and the boot's head; a signed checkpoint would close that.

    Args:
        chain_ids: which; all when None.
        progress: told the number of entries walked, now and then.
    """
    report = Verification()
    boots = Boot.objects.all() if chain_ids is None else Boot.objects.filter(id__in=list(chain_ids))
    # Heads first: entries that arrive while the walk goes on lie beyond them.
    heads = {boot: (seq, bytes(head)) for boot, seq, head in boots.values_list("id", "seq", "head")}
    for chain_id, (seq, head) in heads.items():
        _verify_chain(report, chain_id, seq, head, progress)
    if chain_ids is None:
        _verify_strangers(report, heads)
    return report


def entry_is_intact(entry: EntryRow) -> bool:
    """Say whether one entry hashes to what it says, over the hash before it that it names, and its content fits."""
    return hmac.compare_digest(_hash_of(entry), entry.hash) and _content_fits(entry)


def _verify_chain(
    report: Verification, chain_id: UUID, length: int, head: bytes, progress: Callable[[int], None] | None
) -> None:
    report.chains += 1
    previous, expected = genesis(chain_id), 1
    for entry in entry_stream("e.chain_id = %s AND e.seq <= %s", [chain_id, length], order="e.seq, e.at"):
        report.entries += 1
        if progress is not None and report.entries % 10_000 == 0:
            progress(report.entries)
        if entry.seq != expected:
            code = "missing" if entry.seq > expected else "repeated"
            report.add(chain_id, entry.seq, code, f"after number {expected - 1} comes number {entry.seq}")
        elif entry.prev_hash != previous:
            report.add(chain_id, entry.seq, "unlinked", "it does not follow the entry before it")
        if _hash_of(entry) != entry.hash:
            report.add(chain_id, entry.seq, "changed", "it does not hash to what it says")
        _verify_content(report, entry)
        previous, expected = entry.hash, entry.seq + 1
    if expected != length + 1:
        report.add(chain_id, length, "truncated", f"the chain ends at number {expected - 1} of {length}")
    elif previous != head:
        report.add(chain_id, length, "head_differs", "its last entry is not the one that its process wrote last")


def _verify_content(report: Verification, entry: EntryRow) -> None:
    if entry.content_commitment is None:
        return
    if entry.salt is None:
        report.erased += 1
        return
    report.contents += 1
    if not _content_fits(entry):
        report.add(entry.chain_id, entry.seq, "content_changed", "its content is not the one that it committed to")


def _verify_strangers(report: Verification, heads: dict[UUID, tuple[int, bytes]]) -> None:
    """Entries of chains that no boot knows, or beyond a head that stands still."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT chain_id, max(seq) FROM audit_entry GROUP BY chain_id")
        found = cursor.fetchall()
    now = dict(Boot.objects.values_list("id", "seq"))
    for chain_id, last in found:
        if chain_id not in now:
            report.add(chain_id, last, "unknown_chain", "no process is known to have written this chain")
        elif chain_id in heads and last > now[chain_id]:
            report.add(chain_id, last, "beyond_head", "it stands after the last entry that its process wrote")


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
