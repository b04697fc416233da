"""How a command is drawn: numbered segments of coloured words. For the eye only; nothing here decides.

Every character of the line is drawn, or counted where it was left out: what is read is what runs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

HEAD_LIMIT: Final = 4000
TAIL_LIMIT: Final = 600
BRIEF_LIMIT: Final = 300

# Quotes first, so that an operator inside them stays text.
_TOKEN = re.compile(
    r"""
    (?P<quoted>'[^']*'|"(?:[^"\\]|\\.)*")
  | (?P<op>&&|\|\||;;|\|&|[|;&\n])
  | (?P<blank>[^\S\n]+)
  | (?P<word>(?:[^\s'"|;&\\]|\\.)+)
  | (?P<rest>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_VARIABLE = re.compile(r"\$\{?\w|\$\(|`")


@dataclass(frozen=True, slots=True)
class Word:
    """One stretch of a line; `css` names what it is."""

    css: str
    text: str


@dataclass(frozen=True, slots=True)
class Piece:
    """One command of a line, or what stands between two of them (`number` 0), or how much was left out (`cut`)."""

    words: tuple[Word, ...] = ()
    number: int = 0
    level: str = ""
    cut: int = 0

    @property
    def text(self) -> str:
        return "".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class Span:
    """Where one command stands in its line, and how it is marked."""

    start: int
    end: int
    number: int
    level: str


def spans_of(parts: Sequence[Mapping[str, Any]], levels: Sequence[str]) -> list[Span]:
    """Give the places of judged commands; one inside another is not marked of its own."""
    found: list[Span] = []
    for number, (part, level) in enumerate(zip(parts, levels, strict=True), start=1):
        start, end = int(part["start"]), int(part["end"])
        if end > start >= (found[-1].end if found else 0):
            found.append(Span(start, end, number, level))
    return found


def guessed_spans(text: str) -> list[Span]:
    """Cut a line that nobody judged at what looks like operators."""
    found: list[Span] = []
    at = 0
    for match in [*(match for match in _TOKEN.finditer(text) if match.lastgroup == "op"), None]:
        end = len(text) if match is None else match.start()
        piece = text[at:end]
        if piece.strip():
            start = at + len(piece) - len(piece.lstrip())
            found.append(Span(start, start + len(piece.strip()), len(found) + 1, ""))
        at = end if match is None else match.end()
    return found


def drawn(text: str, spans: Sequence[Span]) -> list[Piece]:
    """Lay a line out: its commands, and between them everything else that stands there."""
    pieces: list[Piece] = []
    at = 0
    for span in spans:
        if span.start > at:
            pieces.append(Piece((Word("op", text[at : span.start]),)))
        pieces.append(Piece(tuple(_words(text[span.start : span.end])), span.number, span.level))
        at = span.end
    return [*pieces, Piece((Word("op", text[at:]),))] if at < len(text) else pieces


def _words(text: str) -> Iterator[Word]:
    has_program = False
    for match in _TOKEN.finditer(text):
        kind, piece = str(match.lastgroup), match[0]
        css = _css(kind, piece, is_first=not has_program)
        has_program = has_program or css == "bin"
        yield Word(css, piece)


def _css(kind: str, text: str, *, is_first: bool) -> str:
    if kind in {"blank", "op"}:
        return ""
    if kind == "quoted":
        return "st"
    if is_first:
        return "bin"
    if _URL.match(text):
        return "url"
    if _VARIABLE.search(text):
        return "var"
    return "fl" if text.startswith("-") else ""


def clipped(pieces: Sequence[Piece], *, head: int = HEAD_LIMIT, tail: int = TAIL_LIMIT) -> list[Piece]:
    """Keep both ends of a long line and say how many characters were left out between them."""
    total = sum(len(piece.text) for piece in pieces)
    if total <= head + tail:
        return list(pieces)
    first = _within(pieces, 0, head)
    last = _within(pieces, total - tail, total)
    return [*first, Piece(cut=total - head - tail), *last]


def _within(pieces: Sequence[Piece], start: int, end: int) -> list[Piece]:
    kept: list[Piece] = []
    at = 0
    for piece in pieces:
        words: list[Word] = []
        for word in piece.words:
            text = word.text[max(0, start - at) : max(0, end - at)]
            at += len(word.text)
            if text:
                words.append(Word(word.css, text))
        if words:
            kept.append(replace(piece, words=tuple(words)))
    return kept
