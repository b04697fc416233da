"""What the signed statements say of the chains, and whether they hold themselves."""

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db import connection

from apps.audit.errors import AuditKeyError
from apps.audit.models import Witness
from apps.audit.problems import Kind, Params
from apps.audit.signing import audit_key, has_next_key, next_key
from apps.audit.statements import (
    GENESIS,
    Statement,
    StatementKind,
    key_following,
    statement_is_sound,
    statements,
)
from apps.audit.walkers import Gap

HASH_BYTES = 32


@dataclass(slots=True)
class Heads:
    """The heads of one chain that checkpoints signed, forty bytes each, oldest first."""

    numbers: "array[int]" = field(default_factory=lambda: array("Q"))
    hashes: bytearray = field(default_factory=bytearray)

    def add(self, seq: int, head: bytes) -> bool:
        """Take one in; says whether the chain went on."""
        if self.numbers and seq <= self.numbers[-1]:
            return False
        self.numbers.append(seq)
        self.hashes += head
        return True

    def between(self, first: int, last: int) -> tuple[tuple[int, bytes], ...]:
        """Give those of a stretch."""
        start, end = bisect_left(self.numbers, first), bisect_right(self.numbers, last)
        return tuple((self.numbers[place], self.hash_at(place)) for place in range(start, end))

    def hash_at(self, place: int) -> bytes:
        place %= len(self.numbers)
        return bytes(self.hashes[place * HASH_BYTES : (place + 1) * HASH_BYTES])


@dataclass(slots=True)
class Vouched:
    """What was signed so far; `follow` goes on where it stopped."""

    count: int = 0
    last_hash: bytes = GENESIS
    signer: bytes = b""
    heads: dict[UUID, Heads] = field(default_factory=lambda: defaultdict(Heads))
    purges: dict[UUID, dict[tuple[int, bytes], tuple[int, bytes]]] = field(default_factory=lambda: defaultdict(dict))
    erasures: dict[UUID, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    problems: list[tuple[int, Kind, Params]] = field(default_factory=list)

    def follow(self) -> None:
        """Check the statements that came since, and take in what they say."""
        for statement in statements(after=self.count):
            self._take(statement)
        for spans in self.erasures.values():
            spans.sort()

    def not_erased(self, chain_id: UUID, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Give the parts of a run whose contents no erasure explains."""
        for begin, end in self.erasures.get(chain_id, ()):
            if end < first:
                continue
            if begin > last:
                break
            if begin > first:
                yield first, begin - 1
            first = max(first, end + 1)
        if first <= last:
            yield first, last

    def erased_spans(self, chain_id: UUID) -> list[tuple[int, int]]:
        """Give the numbers whose contents were signed away."""
        return _apart(self.erasures.get(chain_id, ()))

    def purged_spans(self, chain_id: UUID) -> list[tuple[int, int]]:
        """Give the numbers that were signed away."""
        return _apart((first, last) for (first, _), (last, _) in self.purges.get(chain_id, {}).items())

    def explains(self, chain_id: UUID, gap: Gap) -> bool:
        """Say whether purges cover a gap from end to end, and fit to the hashes around it."""
        purges, reached, before = self.purges.get(chain_id, {}), gap.first, gap.before
        while reached <= gap.last:
            found = purges.get((reached, before))
            if found is None or found[0] > gap.last:
                return False
            reached, before = found[0] + 1, found[1]
        return before == gap.after

    def is_purged(self, chain_id: UUID, seq: int, head: bytes) -> bool:
        """Say whether a head that is not there lies in a purge, and is the purge's own where that ends."""
        return any(
            first <= seq <= last and (seq != last or own == head)
            for (first, _), (last, own) in self.purges.get(chain_id, {}).items()
        )

    def _take(self, statement: Statement) -> None:
        number = statement.number
        if number != self.count + 1:
            self._problem(number, "statement_missing", before=self.count, after=number)
        elif statement.prev_hash != self.last_hash:
            self._problem(number, "statement_unlinked")
        if self.signer and statement.public_key != self.signer:
            self._problem(number, "key_unannounced")
        self.count, self.last_hash, self.signer = number, statement.hash, statement.public_key
        if not statement_is_sound(statement):
            self._problem(number, "statement_changed")
            return
        try:
            self.signer = key_following(statement)
            self._told(statement)
        except (ValueError, KeyError, TypeError):
            self._problem(number, "statement_unreadable")

    def _told(self, statement: Statement) -> None:
        if statement.kind == StatementKind.CHECKPOINT:
            for head in statement.told["heads"]:
                if not self.heads[UUID(head["chain"])].add(head["seq"], bytes.fromhex(head["hash"])):
                    self._problem(statement.number, "checkpoint_back")
        elif statement.kind == StatementKind.PURGE:
            for gone in statement.told["ranges"]:
                before = (gone["first"], bytes.fromhex(gone["prev"]))
                self.purges[UUID(gone["chain"])][before] = (gone["last"], bytes.fromhex(gone["hash"]))
        elif statement.kind == StatementKind.ERASURE:
            for gone in statement.told["ranges"]:
                self.erasures[UUID(gone["chain"])].append((gone["first"], gone["last"]))

    def key_check(self) -> None:
        """The key in use must be the one that the statements end with: another one would vouch for nothing."""
        if not self.signer:
            return
        try:
            known = {audit_key().public, *([next_key().public] if has_next_key() else [])}
        except AuditKeyError as exc:
            self._problem(self.count, "key_unusable", why=exc.message)
            return
        if self.signer not in known:
            self._problem(self.count, "key_unknown")

    def _problem(self, number: int, kind: Kind, **params: int | str) -> None:
        self.problems.append((number, kind, params))


def covered_wrongly(vouched: Vouched) -> list[tuple[UUID, int]]:
    """Name chains of which the index of checkpoints says more than was signed: no checkpoint would follow."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT chain_id, seq FROM audit_checkpointed")
        rows: list[Any] = cursor.fetchall()
    vouched.follow()  # an index of now, so the statements of now: they are written together
    return [
        (chain_id, seq)
        for chain_id, seq in rows
        if chain_id not in vouched.heads or vouched.heads[chain_id].numbers[-1] < seq
    ]


def witnessed_beyond(vouched: Vouched) -> list[tuple[str, int]]:
    """Name witnesses that were told of statements beyond the last one that is here."""
    told = list(Witness.objects.values_list("name", "last_number"))
    vouched.follow()
    return [(name, number) for name, number in told if number > vouched.count]


def within(spans: list[tuple[int, int]], first: int, last: int) -> tuple[tuple[int, int], ...]:
    """Give the spans that touch a stretch; they lie apart, in their order."""
    start = bisect_left(spans, first, key=itemgetter(1))
    return tuple(spans[start : bisect_right(spans, last, key=itemgetter(0))])


def _apart(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Put spans in order and together where they overlap."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found
