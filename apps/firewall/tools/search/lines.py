"""Words of others on one line: nothing in them starts a line of its own, hides, or runs the other way."""

import unicodedata
from typing import Final

_DROPPED: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_ELLIPSIS: Final = "…"
_READ_PER_CHARACTER: Final = 4


def one_line(text: str, *, limit: int) -> str:
    """Write a text on one line of at most so many characters: white space as single blanks, nothing unseen.

    Args:
        limit: at least 1; where the text is longer, its last character is an ellipsis.
    """
    read = text[: limit * _READ_PER_CHARACTER]
    seen = read if read.isprintable() else "".join(each for each in read if each.isspace() or _is_seen(each))
    line = " ".join(seen.split())
    return line if len(line) <= limit and len(read) == len(text) else cut(f"{line}{_ELLIPSIS}", limit=limit)


def cut(line: str, *, limit: int) -> str:
    """Cut a line to at most so many characters; an ellipsis at its end says so."""
    return line if len(line) <= limit else line[: limit - 1].rstrip() + _ELLIPSIS


def _is_seen(character: str) -> bool:
    return unicodedata.category(character) not in _DROPPED
