"""Reads the text of a patch: which files are added, deleted, changed or moved, and how.

Source: OpenClaw's documentation, "apply_patch tool".
"""

import re
from typing import NamedTuple

from apps.firewall.tools.files.refusals import RefusedError

BEGIN, END = "*** Begin Patch", "*** End Patch"
ADD, DELETE, UPDATE = "*** Add File: ", "*** Delete File: ", "*** Update File: "
MOVE, END_OF_FILE = "*** Move to: ", "*** End of File"
HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_]+)\1")
OPERATIONS_LIMIT = 50


class Hunk(NamedTuple):
    """One change within a file.

    Args:
        headers: lines that stand before it in the file, the outermost first.
        lines: each a sign (` `, `-` or `+`) and the text behind it.
        at_end: it reaches to the end of the file.
        line: of the patch.
    """

    headers: tuple[str, ...]
    lines: tuple[tuple[str, str], ...]
    at_end: bool
    line: int

    @property
    def old(self) -> list[str]:
        return [text for sign, text in self.lines if sign != "+"]


class Operation(NamedTuple):
    """What becomes of one file: `kind` is `add`, `delete` or `update`; `content` is that of an added one."""

    kind: str
    path: str
    line: int
    content: str = ""
    move_to: str = ""
    hunks: tuple[Hunk, ...] = ()


def read_patch(text: str) -> list[Operation]:
    """Read a patch.

    Raises:
        RefusedError: it is none; the message names the line.
    """
    reader = _Reader(text)
    operations = reader.operations()
    if not operations:
        raise RefusedError("patch_invalid", "the patch changes no file")
    return operations


class _Reader:
    def __init__(self, text: str) -> None:
        self._lines = _within(text.strip().splitlines())
        self._at = 1  # behind the line that begins the patch

    @property
    def _line(self) -> str:
        return self._lines[self._at]

    @property
    def _is_at_end(self) -> bool:
        return self._at >= len(self._lines) - 1

    def operations(self) -> list[Operation]:
        found: list[Operation] = []
        while not self._is_at_end:
            if not self._line.strip():
                self._at += 1
                continue
            found.append(self._operation())
            if len(found) > OPERATIONS_LIMIT:
                raise RefusedError("patch_too_large", f"a patch may change {OPERATIONS_LIMIT} files at most")
        return found

    def _operation(self) -> Operation:
        at, line = self._at + 1, self._line
        for header, read in ((ADD, self._added), (DELETE, self._deleted), (UPDATE, self._updated)):
            if line.startswith(header):
                path = line.removeprefix(header).strip()
                if not path:
                    raise _wrong(at, "names no file")
                self._at += 1
                return read(path, at)
        raise _wrong(at, f"`{line[:80]}` begins no change: write `{ADD}…`, `{DELETE}…` or `{UPDATE}…`")

    def _added(self, path: str, at: int) -> Operation:
        content: list[str] = []
        while not self._is_at_end and self._line.startswith("+"):
            content.append(self._line[1:] + "\n")
            self._at += 1
        return Operation("add", path, at, content="".join(content))

    def _deleted(self, path: str, at: int) -> Operation:
        return Operation("delete", path, at)

    def _updated(self, path: str, at: int) -> Operation:
        move_to = ""
        if not self._is_at_end and self._line.startswith(MOVE):
            move_to = self._line.removeprefix(MOVE).strip()
            if not move_to:
                raise _wrong(self._at + 1, "names no file")
            self._at += 1
        hunks: list[Hunk] = []
        while not self._is_at_end and not self._line.startswith("*** "):
            hunks.append(self._hunk(is_first=not hunks))
        if not hunks and not move_to:
            raise _wrong(at, f"changes nothing in `{path}`")
        return Operation("update", path, at, move_to=move_to, hunks=tuple(hunks))

    def _hunk(self, *, is_first: bool) -> Hunk:
        at = self._at + 1
        headers = self._headers()
        if not headers and not is_first:
            raise _wrong(
                at, f"`{self._line[:80]}` begins no hunk: write `@@`, or a line that begins with ` `, `-` or `+`"
            )
        lines: list[tuple[str, str]] = []
        while not self._is_at_end and (not self._line or self._line[0] in " +-"):
            lines.append((self._line[0], self._line[1:]) if self._line else (" ", ""))
            self._at += 1
        at_end = not self._is_at_end and self._line.rstrip() == END_OF_FILE
        self._at += at_end
        lines = _without_blank_tail(lines, keeps=at_end)
        if not lines:
            raise _wrong(at, "is followed by no line that begins with ` `, `-` or `+`")
        return Hunk(tuple(each for each in headers if each), tuple(lines), at_end, at)

    def _headers(self) -> list[str]:
        found: list[str] = []
        while not self._is_at_end and (self._line == "@@" or self._line.startswith("@@ ")):
            found.append(self._line[3:])
            self._at += 1
        return found


def _without_blank_tail(lines: list[tuple[str, str]], *, keeps: bool) -> list[tuple[str, str]]:
    """Drop empty lines of the patch between a hunk and what follows; they were meant as no context."""
    while lines and lines[-1] == (" ", "") and not keeps:
        lines.pop()
    return lines


def _within(lines: list[str]) -> list[str]:
    """Take off the shell's marks around a patch, and check its first and last line."""
    heredoc = HEREDOC.search(lines[0]) if lines else None
    if heredoc is not None and lines[-1].strip() == heredoc[2]:
        lines = lines[1:-1]
    if not lines or lines[0].strip() != BEGIN:
        raise RefusedError("patch_invalid", f"the first line must be `{BEGIN}`")
    if lines[-1].strip() != END:
        raise RefusedError("patch_invalid", f"the last line must be `{END}`")
    return lines


def _wrong(line: int, message: str) -> RefusedError:
    return RefusedError("patch_invalid", f"line {line} of the patch {message}")
