"""A masked copy of an output, read by positions of the output itself: a mask is longer or shorter than its secret."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from apps.firewall.redaction.masks import MASK
from apps.firewall.tools.background.transcript import LIMIT

LENGTH: Final = re.compile(r"[0-9]+")
LINE_LIMIT: Final = 500


@dataclass(frozen=True, slots=True)
class View:
    """An output without its secrets.

    Args:
        text: masked.
        begin: characters of the output before it that are not held any more.
        total: characters of the output in all.
    """

    text: str = ""
    begin: int = 0
    total: int = 0

    def since(self, position: int, limit: int) -> tuple[str, int]:
        """Give what follows a position, as much as the limit allows.

        Returns:
            The text, and the position behind it. A mask is never parted.
        """
        begin = masked_place(self.text, max(0, position - self.begin))
        end = begin + limit
        if end >= len(self.text):
            return self.text[begin:], self.total
        for mask in MASK.finditer(self.text, begin):
            if mask.start() < end < mask.end():
                end = mask.start() if mask.start() > begin else mask.end()
        return self.text[begin:end], self.begin + raw_place(self.text, end)


def view_of(held: str, total: int, mask: Callable[[str], str]) -> View:
    """Mask an output and cut it to what is held.

    It is masked with what comes before it, so that no secret's second half begins it. What the command itself wrote as
    such a mask is told apart first: it would say wrongly how long a secret was.

    Args:
        held: `Transcript.text()`.
        total: characters of the output in all.
    """
    masked = mask(MASK.sub(lambda fake: f"({fake[0][1:]}", held))
    surplus = len(held) - LIMIT
    if surplus <= 0:
        return View(masked, total - len(held), total)
    at = masked_place(masked, surplus)
    line = masked.find("\n", at, at + LINE_LIMIT)
    at = line + 1 if line >= 0 else at
    return View(masked[at:], total - len(held) + raw_place(masked, at), total)


def masked_place(masked: str, position: int) -> int:
    """Tell where in a masked text a position of the original is; of one within a secret, the end of its mask."""
    surplus = 0
    for mask in MASK.finditer(masked):
        start = mask.start() - surplus
        if position <= start:
            break
        length = _length(mask)
        if position < start + length:
            return mask.end()
        surplus += len(mask[0]) - length
    return min(len(masked), position + surplus)


def raw_place(masked: str, position: int) -> int:
    """Tell where in the original a position of a masked text is, which must not be within a mask."""
    surplus = 0
    for mask in MASK.finditer(masked, 0, position):
        surplus += len(mask[0]) - _length(mask)
    return position - surplus


def _length(mask: re.Match[str]) -> int:
    """Read how long the secret was."""
    found = LENGTH.search(mask[0])
    return int(found[0]) if found is not None else len(mask[0])
