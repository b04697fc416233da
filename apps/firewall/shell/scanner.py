"""Lines read as OpenClaw 2026.2 reads them: character by character, without a grammar.

Source: conformance README, `exec_approval.jsonl`, last rule of "Analysis fails".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

from apps.firewall.engine.exec_policy.script import PIPE, Command, Script
from apps.firewall.engine.names import BLANKS, trim
from apps.firewall.shell.grammar import LENGTH_LIMIT

_REFUSED: Final = frozenset("&;<>`\n\r()")
_LINE_ENDS: Final = frozenset("\n\r")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_ESCAPED_IN_QUOTES: Final = frozenset('\\"$`')
_CONTINUED: Final = re.compile(r"\\[\r\n]")
_DELIMITER: Final = re.compile(
    r"[ \t]*(?:'(?P<single>[^'\r\n]*)'|\"(?P<double>(?:\\.|[^\"\r\n])*)\"|(?P<bare>[^\s|&;<>]+))"
)


class _RefusedError(Exception):
    """The scan cannot go on; the message is the fault."""


class _Kind(Enum):
    BARE = "bare"
    ESCAPED = "escaped"  # a backslash and what follows it
    SINGLE = "single"
    DOUBLE = "double"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True)
class _Unit:
    """One character of a line, or a backslash with its character."""

    text: str
    at: int
    kind: _Kind


class _Units(Iterator[_Unit]):
    """The characters of a line; `at` may be moved on, `is_open` says at the end whether a quote or an escape is."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.quote = ""
        self.is_open = False

    def __next__(self) -> _Unit:
        at = self.at
        if at >= len(self.text):
            self.is_open = self.is_open or bool(self.quote)
            raise StopIteration
        character, following = self.text[at], self.text[at + 1 : at + 2]
        self.at += 1
        if character == "\\" and (not self.quote or (self.quote == '"' and following in _ESCAPED_IN_QUOTES)):
            self.is_open = not following
            self.at += 1
            return _Unit(character + following, at, _Kind.ESCAPED)
        if self.quote:
            if character == self.quote:
                self.quote = ""
                return _Unit(character, at, _Kind.QUOTE)
            return _Unit(character, at, _Kind.DOUBLE if self.quote == '"' else _Kind.SINGLE)
        if character in "'\"":
            self.quote = character
            return _Unit(character, at, _Kind.QUOTE)
        return _Unit(character, at, _Kind.BARE)


def scan(text: str) -> tuple[Script, ...]:
    """Read a line: one script for each part of a chain; a fault in a later part leaves the earlier ones readable."""
    if len(text) > LENGTH_LIMIT:
        return (Script(text=text, fault="too large to read"),)
    if _CONTINUED.search(text):
        return (Script(text=text, fault="line-continuation"),)
    return tuple(_part(piece, joint) for piece, joint in _chain(text))


def _chain(text: str) -> list[tuple[str, str]]:
    """Split at `&&`, `||` and `;`; a line with an empty part is none, and is read as it stands."""
    units = _Units(text)
    parts: list[tuple[str, str]] = []
    start = 0
    for unit in units:
        pair = text[unit.at : unit.at + 2]
        joint = pair if pair in {"&&", "||"} else ";" if unit.text == ";" else ""
        if unit.kind is _Kind.BARE and joint:
            parts.append((trim(text[start : unit.at]), joint))
            start = units.at = unit.at + len(joint)
    parts.append((trim(text[start:]), ";"))
    is_chain = len(parts) > 1 and all(piece for piece, _ in parts)
    return parts if is_chain else [(text, ";")]


def _part(text: str, joint: str) -> Script:
    try:
        pieces = _Pipeline(text).read()
    except _RefusedError as exc:
        return Script(text=text, fault=str(exc))
    commands = tuple(Command(text=piece, start=0, end=len(piece), argv=_words(piece)) for piece in pieces)
    if not all(command.argv for command in commands):
        return Script(text=text, fault="unable to parse shell segment")
    return Script(text=text, commands=commands, joints=(*[PIPE] * (len(commands) - 1), joint))


class _Pipeline:
    """One part of a chain on its way into the commands of a pipeline."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.units = _Units(text)
        self.pieces: list[str] = []
        self.kept: list[str] = []
        self.heredocs: list[tuple[str, bool, bool]] = []  # delimiter, tabs are cut, quoted
        self.ends_with_pipe = False

    def read(self) -> list[str]:
        for unit in self.units:
            if unit.kind is _Kind.BARE:
                self._bare(unit)
            else:
                self._quoted(unit)
        if self.heredocs:
            raise _RefusedError("unterminated heredoc")
        if self.units.is_open:
            raise _RefusedError("unterminated shell quote/escape")
        self._end()
        if not self.pieces:
            raise _RefusedError("empty command")
        if self.ends_with_pipe:
            raise _RefusedError("empty pipeline segment")
        return self.pieces

    def _keep(self, text: str) -> None:
        # A blank counts, too: behind a `|` it is enough for the line to look whole to that release.
        self.kept.append(text)
        self.ends_with_pipe = False

    def _bare(self, unit: _Unit) -> None:
        pair = self.text[unit.at : unit.at + 2]
        if unit.text in _LINE_ENDS and self.heredocs:
            self._bodies(unit.at)
        elif pair in {"||", "|&"}:
            raise _RefusedError(f"unsupported shell token: {pair}")
        elif unit.text == PIPE:
            self._end()
            self.ends_with_pipe = True
        elif pair == "<<":
            self._heredoc(unit.at)
        elif unit.text in _REFUSED:
            raise _RefusedError(f"unsupported shell token: {unit.text}")
        elif pair == "$(":
            raise _RefusedError("unsupported shell token: $()")
        else:
            self._keep(unit.text)

    def _quoted(self, unit: _Unit) -> None:
        if unit.kind is _Kind.DOUBLE:
            if self.text.startswith("$(", unit.at):
                raise _RefusedError("unsupported shell token: $()")
            if unit.text == "`":
                raise _RefusedError("unsupported shell token: `")
            if unit.text in _LINE_ENDS:
                raise _RefusedError("unsupported shell token: newline")
        self._keep(unit.text)

    def _end(self) -> None:
        piece = trim("".join(self.kept))
        self.kept = []
        if piece:
            self.pieces.append(piece)

    def _heredoc(self, at: int) -> None:
        cut = self.text.startswith("-", at + 2)
        start = at + 2 + cut
        found = _DELIMITER.match(self.text, start)
        self._keep("<<-" if cut else "<<")
        self.units.at = start
        if found is not None:
            delimiter = found["bare"] or found["single"] or re.sub(r"\\(.)", r"\1", found["double"] or "")
            self.heredocs.append((delimiter, cut, found["bare"] is None))
            self._keep(found[0])
            self.units.at = found.end()

    def _bodies(self, at: int) -> None:
        """Pass over the bodies that begin after this line end; an expansion in an unquoted one is refused."""
        place = at + 1 + self.text.startswith("\r\n", at)
        while self.heredocs:
            end = _LINE_END.search(self.text, place)
            line = self.text[place : end.start() if end else len(self.text)]
            delimiter, cut, quoted = self.heredocs[0]
            if (line.lstrip("\t") if cut else line) == delimiter:
                self.heredocs.pop(0)
            elif not quoted and _expands(line):
                raise _RefusedError("command substitution in unquoted heredoc")
            elif end is None:
                raise _RefusedError("unterminated heredoc")
            place = len(self.text) if end is None else end.end()
            if end is None:
                break
        self.units.at = place


def _expands(line: str) -> bool:
    bare = re.sub(r"\\.", "", line)
    return "`" in bare or "$(" in bare or "${" in bare


def _words(text: str) -> tuple[str, ...]:
    """Split a piece into words; empty ones are lost."""
    words: list[str] = []
    word: list[str] = []
    for unit in _Units(text):
        if unit.kind is _Kind.BARE and unit.text in BLANKS:
            words.append("".join(word))
            word = []
        elif unit.kind is not _Kind.QUOTE:
            word.append(unit.text[-1] if unit.kind is _Kind.ESCAPED else unit.text)
    return tuple(each for each in (*words, "".join(word)) if each)
