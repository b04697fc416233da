"""Proof that one call is on record: its entries, their places in their chains, and the links that lead to them."""

import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from apps.audit.chain import genesis
from apps.audit.drafts import EntryKind
from apps.audit.models import Entry
from apps.audit.rows import EntryRow
from apps.audit.selectors import call_record
from apps.audit.verification import entry_is_intact

Wanted = Mapping[str, frozenset[EntryKind]]
"""What the ledger ought to hold, by name in its order: one entry of any of the kinds. The last says that it is over."""

REFUSED: Final = EntryKind.DENIAL
"""It stands for all that would have followed."""
CALL: Final[Wanted] = {
    "intent": frozenset({EntryKind.CALL_INTENT, REFUSED}),
    "outcome": frozenset({EntryKind.CALL_OUTCOME, REFUSED}),
}
COMMAND: Final[Wanted] = {**CALL, "end": frozenset({EntryKind.COMMAND_ENDED, REFUSED})}
APPROVAL: Final[Wanted] = {
    "request": frozenset({EntryKind.APPROVAL_ASKED}),
    "decision": frozenset({EntryKind.APPROVAL_ANSWERED}),
}


@dataclass(frozen=True, slots=True)
class Proof:
    """What the ledger holds of a call. `missing` names what it ought to hold and does not."""

    missing: tuple[str, ...]
    is_refused: bool = False
    chain_id: UUID | None = None
    seq: int | None = None

    @property
    def is_whole(self) -> bool:
        return not self.missing


def call_proof(call_id: UUID, wanted: Wanted = CALL) -> Proof:
    """Look whether a call that has ended is on record whole: what is wanted, `hash` and `link` of each entry."""
    record = call_record(call_id)
    if record is None:
        return Proof(tuple(wanted))
    entries = [entry for entry in record.entries if entry.call_id == call_id]
    last = entries[-1]
    return Proof(tuple(dict.fromkeys(_missing(entries, wanted))), last.kind == REFUSED, last.chain_id, last.seq)


def call_has_ended(call_id: UUID, wanted: Wanted = CALL) -> bool:
    """Say whether the ledger knows how a call ended."""
    return Entry.objects.filter(call_id=call_id, kind__in=tuple(wanted.values())[-1]).exists()


def _missing(entries: list[EntryRow], wanted: Wanted) -> Iterator[str]:
    kinds = {entry.kind for entry in entries}
    for name, kept in wanted.items():
        if not kept & kinds:
            yield name
    for entry in entries:
        if not entry_is_intact(entry):
            yield "hash"
        if not _is_linked(entry):
            yield "link"


def _is_linked(entry: EntryRow) -> bool:
    if entry.seq == 1:
        return hmac.compare_digest(bytes(entry.prev_hash), genesis(entry.chain_id))
    before = Entry.objects.filter(chain_id=entry.chain_id, seq=entry.seq - 1).values_list("hash", flat=True).first()
    return before is not None and hmac.compare_digest(bytes(entry.prev_hash), bytes(before))
