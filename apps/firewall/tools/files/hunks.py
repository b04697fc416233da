"""Finds where the hunks of a patch belong in a file, and makes the new content."""

import re
from collections.abc import Callable

from apps.firewall.tools.files.patch_text import Hunk
from apps.firewall.tools.files.refusals import RefusedError

SHOWN_CHARACTERS = 120
_ENDED = re.compile(r"(.*?)(\r\n|\n|\r|\Z)", re.DOTALL)
# How exactly lines must agree, the strictest first.
LEVELS: tuple[Callable[[str], str], ...] = (str, str.rstrip, str.strip)


def patched(text: str, hunks: tuple[Hunk, ...], path: str) -> str:
    """Give the content after all hunks, which come in the order of the file; each is looked for behind the one before.

    Lines that stay keep their own text and line end; new ones get the line end of the file.

    Raises:
        RefusedError: a hunk fits nowhere.
    """
    lines = _split(text)
    search = _Search([line for line, _ in lines])
    newline = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    result: list[tuple[str, str]] = []
    at = 0
    for hunk in hunks:
        start = search.place(hunk, at, path)
        result += lines[at:start]
        at = _take(hunk, lines, start, newline, result)
    return _joined(result + lines[at:], newline)


def _take(hunk: Hunk, lines: list[tuple[str, str]], at: int, newline: str, result: list[tuple[str, str]]) -> int:
    """Put what a hunk makes of the lines from `at` on into the result; give the line behind them."""
    for sign, text in hunk.lines:
        if sign == "+":
            result.append((text, newline))
            continue
        if sign == " ":
            result.append(lines[at])
        at += 1
    return at


def _split(text: str) -> list[tuple[str, str]]:
    return [(found[1], found[2]) for found in _ENDED.finditer(text) if found[0]]


def _joined(lines: list[tuple[str, str]], newline: str) -> str:
    whole = [line + (end or newline) for line, end in lines[:-1]]
    return "".join([*whole, *("".join(line) for line in lines[-1:])])


class _Search:
    """The lines of a file, as each level of exactness sees them."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._seen = [lines, *([level(line) for line in lines] for level in LEVELS[1:])]

    def place(self, hunk: Hunk, start: int, path: str) -> int:
        """Give the first line that a hunk replaces, or before which it adds."""
        for header in hunk.headers:
            found = self._find([header], start)
            if found is None:
                raise _lost(hunk, path, f"no line from {start + 1} on reads `{header[:SHOWN_CHARACTERS]}`")
            start = found + 1
        old = hunk.old
        if not old:
            return start if hunk.headers and not hunk.at_end else len(self._lines)
        found = self._at_end(old, start) if hunk.at_end else self._find(old, start)
        if found is None:
            raise _lost(hunk, path, self._why(old, start, at_end=hunk.at_end))
        return found

    def _find(self, wanted: list[str], start: int) -> int | None:
        for level, lines in zip(LEVELS, self._seen, strict=True):
            found = _index(lines, [level(line) for line in wanted], start)
            if found is not None:
                return found
        return None

    def _at_end(self, wanted: list[str], start: int) -> int | None:
        at = len(self._lines) - len(wanted)
        if at < start:
            return None
        fits = any(
            lines[at:] == [level(line) for line in wanted] for level, lines in zip(LEVELS, self._seen, strict=True)
        )
        return at if fits else None

    def _why(self, old: list[str], start: int, *, at_end: bool) -> str:
        if at_end:
            return "the file does not end with its lines"
        first = next((line for line in old if line.strip()), old[0])
        found = self._find([first], start)
        shown = first[:SHOWN_CHARACTERS]
        if found is not None:
            return f"line {found + 1} reads `{shown}`, but what follows there differs"
        earlier = self._find([first], 0)
        if earlier is not None:
            return f"`{shown}` stands at line {earlier + 1}, before the end of the hunk before it"
        return f"no line reads `{shown}`"


def _index(lines: list[str], wanted: list[str], start: int) -> int | None:
    last = len(lines) - len(wanted)
    while start <= last:
        try:
            start = lines.index(wanted[0], start, last + 1)
        except ValueError:
            return None
        if lines[start : start + len(wanted)] == wanted:
            return start
        start += 1
    return None


def _lost(hunk: Hunk, path: str, why: str) -> RefusedError:
    message = f"the hunk at line {hunk.line} of the patch does not fit `{path}`: {why}; read the file again"
    return RefusedError("hunk_not_found", message)
