"""How a command is drawn: numbered segments of coloured words. For the eye only; nothing here decides."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

SHOWN_LIMIT = 4000

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
    """One piece of a segment; `css` names what it is."""

    css: str
    text: str


@dataclass(frozen=True, slots=True)
class Segment:
    """One command of a line; `op` is what joins it to the next one."""

    number: int
    level: str
    words: tuple[Word, ...]
    op: str

    @property
    def program(self) -> str:
        return next((word.text for word in self.words if word.css == "bin"), "")


def _css(kind: str, text: str, *, is_first: bool) -> str:
    if kind == "blank":
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


def _split(text: str) -> Iterator[tuple[list[Word], str]]:
    words: list[Word] = []
    for match in _TOKEN.finditer(text[:SHOWN_LIMIT]):
        kind, piece = str(match.lastgroup), match[0]
        if kind == "op":
            yield words, piece
            words = []
            continue
        has_program = any(word.css == "bin" for word in words)
        words.append(Word(_css(kind, piece, is_first=not has_program), piece))
    yield words, ""


def segments(text: str, *, dangers: tuple[str, ...] = (), level: str = "miss") -> list[Segment]:
    """Cut a line for drawing; a segment that shows one of `dangers` is marked `bad`, the others `level`."""
    cut = [(words, op) for words, op in _split(text) if op or any(word.text.strip() for word in words)]
    drawn = []
    for number, (words, op) in enumerate(cut, start=1):
        shown = "".join(word.text for word in words)
        is_bad = any(danger and (danger in shown or shown.strip() in danger) for danger in dangers)
        drawn.append(Segment(number, "bad" if is_bad else level, _trimmed(words), op.replace("\n", "⏎")))
    return drawn


def _trimmed(words: list[Word]) -> tuple[Word, ...]:
    kept = list(words)
    while kept and not kept[0].text.strip():
        kept.pop(0)
    while kept and not kept[-1].text.strip():
        kept.pop()
    return tuple(kept)
