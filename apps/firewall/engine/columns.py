"""Masks turned round: rows of tools become one integer for each tool, in which row n is bit n.

Every row is written as digits, so that turning thousands of them is slicing texts, which costs next to nothing.
"""

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Final

_AT_ONCE: Final = 64  # tools: the digits of a hundred thousand rows stay a few megabytes


class Projection:
    """The few tools of a wide mask that matter, as digits in their order.

    Attributes:
        numbers: the bits of these tools in the wide mask.
    """

    __slots__ = ("_chosen", "_full", "_known", "_size", "numbers")

    def __init__(self, touched: int, size: int) -> None:
        self.numbers = tuple(bit for bit in range(size) if touched >> bit & 1)
        self._size = size
        self._full = (1 << size) - 1
        self._chosen = [touched >> bit & 1 for bit in reversed(range(size))]
        self._known: dict[int, str] = {}

    def row(self, mask: int) -> str:
        """Return the digits of a mask, the first tool's first."""
        digits = self._known.get(mask)
        if digits is None:
            wide = format(mask & self._full, f"0{self._size}b")
            digits = self._known[mask] = "".join(compress(wide, self._chosen))[::-1]
        return digits


def columns(rows: Sequence[str], order: Sequence[int]) -> Iterator[int]:
    """Return one integer for each digit of the rows.

    Args:
        rows: the distinct rows, equally long.
        order: which row stands at bit 0, at bit 1 and so on.
    """
    width = len(rows[0]) if rows else 0
    backwards = order[::-1]
    for start in range(0, width, _AT_ONCE):
        pieces = [row[start : start + _AT_ONCE] for row in rows]
        digits = "".join([pieces[number] for number in backwards])
        step = min(_AT_ONCE, width - start)
        for place in range(step):
            yield int(digits[place::step] or "0", 2)


def numbers_of(mask: int) -> Iterator[int]:
    """Return the bits that are set, lowest first."""
    digits = format(mask, "b")[::-1]
    at = digits.find("1")
    while at >= 0:
        yield at
        at = digits.find("1", at + 1)


class Numbered:
    """Distinct rows and the order in which they stand."""

    __slots__ = ("_known", "order", "rows")

    def __init__(self) -> None:
        self.rows: list[str] = []
        self.order: list[int] = []
        self._known: dict[str, int] = {}

    def add(self, row: str) -> None:
        """Put a row behind those that are there."""
        number = self._known.get(row)
        if number is None:
            number = self._known[row] = len(self.rows)
            self.rows.append(row)
        self.order.append(number)

    def columns(self) -> list[int]:
        """Return one integer for each digit."""
        return list(columns(self.rows, self.order))
