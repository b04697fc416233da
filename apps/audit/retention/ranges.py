"""Which numbers of which chains: runs of entries that follow each other become one range of a tombstone. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands, and the hashes before and of it."""

    chain_id: UUID
    seq: int
    prev_hash: bytes
    hash: bytes


def ranges_of(places: Iterable[Place], *, with_hashes: bool) -> list[dict[str, Any]]:
    """Write places as the ranges of a statement, each number once; any order.

    Args:
        with_hashes: for a purge, whose link over the gap is checked; an erasure leaves the entries.
    """
    return [_range(run, with_hashes) for run in _runs(places)]


def _runs(places: Iterable[Place]) -> Iterator[tuple[Place, Place]]:
    begun: Place | None = None
    last: Place | None = None
    for place in sorted({(each.chain_id, each.seq): each for each in places}.values(), key=_order):
        if last is not None and (place.chain_id, place.seq) == (last.chain_id, last.seq + 1):
            last = place
            continue
        if begun is not None and last is not None:
            yield begun, last
        begun = last = place
    if begun is not None and last is not None:
        yield begun, last


def _order(place: Place) -> tuple[UUID, int]:
    return place.chain_id, place.seq


def _range(run: tuple[Place, Place], with_hashes: bool) -> dict[str, Any]:
    first, last = run
    hashes = {"prev": first.prev_hash.hex(), "hash": last.hash.hex()} if with_hashes else {}
    return {"chain": str(first.chain_id), "first": first.seq, "last": last.seq, **hashes}
