"""What was probably meant by a misspelt name."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

CLOSE: Final = 0.75
LETTERS: Final = 100
KNOWN_LIMIT: Final = 500


def near(word: str, known: Iterable[str]) -> str:
    """Return the known name that comes closest to a word, or an empty text; how words are joined does not matter.

    Long words are compared by their beginnings, and with so many names only: the work is bounded whoever asks.
    """
    by_letters: dict[str, str] = {}
    for name in known:
        by_letters.setdefault(_letters(name), name)
        if len(by_letters) >= KNOWN_LIMIT:
            break
    close = get_close_matches(_letters(word), by_letters, n=1, cutoff=CLOSE)
    return by_letters[close[0]] if close else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return what is added to a message about a misspelt name: `; did you mean …?`, or nothing."""
    meant = near(word, known)
    return f"; did you mean `{meant}`?" if meant else ""


def _letters(name: str) -> str:
    return name[:LETTERS].lower().replace("_", "").replace("-", "")
