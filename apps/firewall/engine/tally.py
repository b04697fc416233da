"""How many of a great many masks have each bit, before a change and after it.

The counts of all bits are kept as binary digits, a mask for each digit, so that adding a mask costs two or three
operations whatever its width.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol, TypeAlias

Pair: TypeAlias = tuple[int, int]
"""Masks of tools, before and after."""


class Counts(NamedTuple):
    """In how many cases a bit is set before, afterwards, and both times."""

    before: int
    after: int
    both: int


class Counted(Protocol):
    """Something that knows its counts."""

    @property
    def touched(self) -> int:
        """The bits that differ in some case."""

    def counts(self, bit: int) -> Counts:
        """Return the counts of a bit."""


class Tally:
    """Counts of bits over masks; a negative number of times takes masks away."""

    __slots__ = ("_debts", "_digits")

    def __init__(self, masks: Iterable[tuple[int, int]] = ()) -> None:
        self._digits: list[int] = []
        self._debts: list[int] = []
        for mask, times in masks:
            self.add(mask, times)

    def add(self, mask: int, times: int) -> None:
        """Count a mask of 0 or more so many times."""
        digits, left, at = (self._digits, times, 0) if times > 0 else (self._debts, -times, 0)
        while left:
            if left & 1:
                _carry(digits, mask, at)
            left >>= 1
            at += 1

    def of(self, bit: int) -> int:
        """Return the count of a bit."""
        return _read(self._digits, bit) - _read(self._debts, bit)


def _carry(digits: list[int], mask: int, at: int) -> None:
    while mask:
        if at >= len(digits):
            digits += [0] * (at - len(digits)) + [mask]
            return
        digits[at], mask = digits[at] ^ mask, digits[at] & mask
        at += 1


def _read(digits: list[int], bit: int) -> int:
    found, value = 0, 1
    for digit in digits:
        if digit >> bit & 1:
            found += value
        value += value
    return found


class Part:
    """One part of verdicts: so many cases with what they leave before and afterwards."""

    __slots__ = ("_after", "_before", "_both", "_known", "touched")

    def __init__(self, pairs: Mapping[Pair, int], full: int) -> None:
        self.touched = 0
        for was, now in pairs:
            self.touched |= was ^ now
        self.touched &= full
        self._before = Tally((was & full, times) for (was, _), times in pairs.items())
        self._after = self._both = self._before
        if self.touched:
            self._after = Tally((now & full, times) for (_, now), times in pairs.items())
            self._both = Tally((was & now & full, times) for (was, now), times in pairs.items())
        self._known: dict[int, Counts] = {}

    def counts(self, bit: int) -> Counts:
        """Return the counts of a bit."""
        known = self._known.get(bit)
        if known is None:
            known = self._known[bit] = Counts(self._before.of(bit), self._after.of(bit), self._both.of(bit))
        return known


class Sum:
    """Parts that are counted together."""

    __slots__ = ("_parts", "touched")

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = tuple(parts)
        self.touched = 0
        for part in self._parts:
            self.touched |= part.touched

    def counts(self, bit: int) -> Counts:
        """Return the counts of a bit."""
        before, after, both = 0, 0, 0
        for part in self._parts:
            counts = part.counts(bit)
            before += counts.before
            after += counts.after
            both += counts.both
        return Counts(before, after, both)


def product(counts: Iterable[Counts]) -> Counts:
    """Return how many combinations of independent cases have a bit."""
    before, after, both = 1, 1, 1
    for each in counts:
        before, after, both = before * each.before, after * each.after, both * each.both
    return Counts(before, after, both)


def bits_of(*parts: Counted) -> Iterator[int]:
    """Return the bits that differ in any of some parts."""
    touched = 0
    for part in parts:
        touched |= part.touched
    while touched:
        lowest = touched & -touched
        yield lowest.bit_length() - 1
        touched ^= lowest
