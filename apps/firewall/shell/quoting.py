"""A line in pieces: what is plain, what is quoted, what is escaped; and the readings built on that.

Unlike `words`, which refuses what it does not know, this follows a lenient reading on purpose: the preflight has to
find scripts in lines that OpenClaw accepts.
Source: POSIX Shell Command Language, section 2.2; conformance README, `shell_bleed.jsonl`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

from apps.firewall.engine.names import BLANKS, fold, trim

_ESCAPED_IN_DOUBLE: Final = frozenset('\\"$`\n\r')
_LINE_ENDS: Final = frozenset("\n\r")
_HINT_ENDS: Final = frozenset(BLANKS + "|&;()<>")
SCRIPT_ENDINGS: Final = (".py", ".js")


class Kind(Enum):
    """What a piece of a line is."""

    PLAIN = "plain"
    ESCAPED = "escaped"  # the character after a backslash outside quotes
    QUOTED = "quoted"
    QUOTE = "quote"
    BROKEN = "broken"  # the line ends inside a quote or after a backslash


@dataclass(frozen=True, slots=True)
class Piece:
    """One character and what it is; `at` is where it begins in the line, its backslash included."""

    kind: Kind
    text: str
    at: int


def pieces(line: str) -> Iterator[Piece]:
    """Read a line from left to right; the last piece is a broken one when a quote or an escape is left open."""
    at = 0
    quote = ""
    while at < len(line):
        character = line[at]
        step = 1
        if quote:
            following = line[at + 1 : at + 2]
            if character == quote:
                quote = ""
                yield Piece(Kind.QUOTE, character, at)
            elif quote == '"' and character == "\\" and following in _ESCAPED_IN_DOUBLE:
                step = 2
                yield Piece(Kind.QUOTED, following, at)
            else:
                yield Piece(Kind.QUOTED, character, at)
        elif character == "\\":
            if at + 1 == len(line):
                break
            step = 2
            yield Piece(Kind.ESCAPED, line[at + 1], at)
        elif character in "'\"":
            quote = character
            yield Piece(Kind.QUOTE, character, at)
        else:
            yield Piece(Kind.PLAIN, character, at)
        at += step
    if quote or at < len(line):
        yield Piece(Kind.BROKEN, "", len(line))


def split_words(line: str) -> list[str] | None:
    """Split a line into words, quotes taken off; None when a quote or an escape is left open.

    Words that are empty without their quotes are left out, and an escaped line end belongs to its word: that is how
    OpenClaw reads a line here.
    """
    words: list[str] = []
    word: list[str] = []
    for piece in pieces(line):
        if piece.kind is Kind.BROKEN:
            return None
        if piece.kind is Kind.PLAIN and piece.text in BLANKS:
            words += ["".join(word)] if word else []
            word = []
        elif piece.kind is Kind.PLAIN and piece.text == "#" and not word:
            break
        elif piece.kind is not Kind.QUOTE:
            word.append(piece.text)
    return [*words, "".join(word)] if word else words


def unquoted(line: str) -> str | None:
    """Leave out what is quoted and keep escapes as they are; None when a quote or an escape is left open."""
    kept: list[str] = []
    for piece in pieces(line):
        if piece.kind is Kind.BROKEN:
            return None
        if piece.kind is Kind.PLAIN:
            kept.append(piece.text)
        elif piece.kind is Kind.ESCAPED:
            kept.append(f"\\{piece.text}")
    return "".join(kept)


def segments(line: str, *, pipes: bool) -> list[str]:
    """Split a line into its commands, as written; blank ones are left out.

    Args:
        pipes: also between the commands of a pipeline.
    """
    found: list[str] = []
    start = 0
    skipped = -1
    for piece in pieces(line):
        if piece.kind is not Kind.PLAIN or piece.at == skipped:
            continue
        width = _separator(line, piece.at, pipes=pipes)
        if width:
            found.append(line[start : piece.at])
            start = piece.at + width
            skipped = start - 1 if width > 1 else -1
    return [each for each in (*found, line[start:]) if trim(each)]


def _separator(line: str, at: int, *, pipes: bool) -> int:
    """Tell how many characters separate two commands here."""
    if line[at] in _LINE_ENDS or line[at] == ";":
        return 1
    if line.startswith(("&&", "||"), at):
        return 2
    return 1 if pipes and line[at] == "|" else 0


def names_a_script(line: str) -> bool:
    """Say whether a word outside quotes, or the part of one, ends like a script."""
    token: list[str] = []
    for piece in pieces(line):
        if piece.kind is Kind.ESCAPED or (piece.kind is Kind.PLAIN and piece.text not in _HINT_ENDS):
            token.append(piece.text)
        elif piece.kind is not Kind.QUOTED and token:
            if _is_script(token):
                return True
            token = []
    return _is_script(token)


def _is_script(token: list[str]) -> bool:
    return fold("".join(token)).endswith(SCRIPT_ENDINGS)


def holds_unescaped(text: str, sequence: str) -> bool:
    """Say whether a text holds a sequence that no backslash stands before."""
    at = 0
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text.startswith(sequence, at):
            return True
        else:
            at += 1
    return False
