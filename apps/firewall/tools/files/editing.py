"""Replaces texts in a file, each of which must stand there exactly once."""

import itertools
import re
from typing import Any, NamedTuple

from apps.firewall.tools.files.beneath import file_parts, folder_beneath, see_text
from apps.firewall.tools.files.refusals import RefusedError
from apps.firewall.tools.files.writing import body_of, check_unchanged, replace_file

EDITS_LIMIT = 200
PLACES_SHOWN = 5
SHOWN_CHARACTERS = 200
DIFF_CHARACTERS = 16_000
LINE_END = r"\r?\n"
# What models write in the place of what stands in a file: quotes, dashes, odd spaces.
ALIKE = ("'\u2018\u2019\u201a\u201b", '"\u201c\u201d\u201e\u201f', "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212")
SPACES = " \u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"


class Change(NamedTuple):
    """One replacement: from `start` to `end` of the text stands `new`."""

    number: int
    start: int
    end: int
    new: str
    is_loose: bool


def edit(root: str, path: str, edits: list[dict[str, str]]) -> dict[str, Any]:
    """Make all replacements, or none.

    Args:
        edits: each `{"oldText", "newText"}`; all are looked for in the file as it is, before any of them is made.
    Raises:
        RefusedError: a text stands there not once, two of them overlap, or nothing would change.
    """
    seen, text = see_text(root, path)
    newline = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    changes = [_change(text, path, number, each, newline) for number, each in enumerate(edits, 1)]
    changes.sort(key=lambda change: change.start)
    _check_apart(text, path, changes)
    edited = _applied(text, changes)
    if edited == text:
        raise RefusedError("nothing_changed", f"`{path}` stays as it is: the new texts are the old ones")
    body = body_of(edited, path)
    parts = file_parts(path, root)
    with folder_beneath(root, parts[:-1]) as folder:
        check_unchanged(folder, parts[-1], seen.stamp, path)
        replace_file(folder, parts[-1], body, seen.mode)
    answer = {"path": path, "replacements": len(changes), "first_line": _line(text, changes[0].start)}
    loose = sorted(change.number for change in changes if change.is_loose)
    return answer | {"diff": _diff(text, changes)} | ({"matched_loosely": loose} if loose else {})


def _change(text: str, path: str, number: int, edit: dict[str, str], newline: str) -> Change:
    old = edit["oldText"]
    if not old:
        raise RefusedError("old_text_empty", f"edit {number}: `oldText` is empty")
    new = re.sub(LINE_END, newline, edit["newText"]) if "\n" in edit["newText"] else edit["newText"]
    for is_loose in (False, True):
        found = _places(text, _pattern(old, is_loose=is_loose))
        if len(found) > 1:
            lines = ", ".join(str(_line(text, start)) for start, _ in found[:PLACES_SHOWN])
            many = f"more than {PLACES_SHOWN} times" if len(found) > PLACES_SHOWN else f"{len(found)} times"
            message = f"edit {number}: the text stands in `{path}` {many}, at lines {lines}: add lines around it"
            raise RefusedError("old_text_ambiguous", message)
        if found:
            return Change(number, *found[0], new, is_loose)
    raise RefusedError("old_text_not_found", f"edit {number}: the text is not in `{path}`{_hint(text, old)}")


def _pattern(old: str, *, is_loose: bool) -> re.Pattern[str]:
    lines = re.split(LINE_END, old)
    if not is_loose:
        return re.compile(LINE_END.join(re.escape(line) for line in lines))
    # Spaces at line ends count for nothing, but only where the line does end.
    loose = [_loosely(line.rstrip() if at < len(lines) - 1 else line) for at, line in enumerate(lines)]
    return re.compile(rf"[ \t]*{LINE_END}".join(loose))


def _loosely(line: str) -> str:
    return "".join(_class(each) for each in line)


def _class(character: str) -> str:
    for alike in (*ALIKE, SPACES):
        if character in alike:
            return f"[{re.escape(alike)}]"
    return re.escape(character)


def _places(text: str, pattern: re.Pattern[str]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    match = pattern.search(text)
    while match is not None and len(found) <= PLACES_SHOWN:
        found.append(match.span())
        match = pattern.search(text, match.start() + 1)  # also where two of them overlap
    return found


def _hint(text: str, old: str) -> str:
    """Say where the text was probably meant to be."""
    first = next((line.strip() for line in old.splitlines() if line.strip()), "")
    if not first:
        return ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() == first:
            rest = "" if "\n" not in old.strip() else "; what follows there differs"
            return f"; line {number} reads `{line[:SHOWN_CHARACTERS]}`{rest}: read it again and copy it exactly"
    return f"; no line of it reads `{first[:SHOWN_CHARACTERS]}`: read the file again"


def _check_apart(text: str, path: str, changes: list[Change]) -> None:
    for before, after in itertools.pairwise(changes):
        if after.start < before.end:
            first, second = sorted((before.number, after.number))
            line = _line(text, after.start)
            message = f"edits {first} and {second} overlap at line {line} of `{path}`: make one of them"
            raise RefusedError("edits_overlap", message)


def _applied(text: str, changes: list[Change]) -> str:
    parts, at = [], 0
    for change in changes:
        parts += [text[at : change.start], change.new]
        at = change.end
    return "".join([*parts, text[at:]])


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _diff(text: str, changes: list[Change]) -> str:
    """Show each replacement by its whole lines; a long diff is cut, and says so."""
    shown: list[str] = []
    for change in changes:
        start = text.rfind("\n", 0, change.start) + 1
        end = text.find("\n", change.end)
        end = len(text) if end < 0 else end
        old = text[start:end]
        new = text[start : change.start] + change.new + text[change.end : end]
        shown.append(f"@@ line {_line(text, start)} @@")
        shown += [f"-{line}" for line in old.splitlines()] + [f"+{line}" for line in new.splitlines()]
    diff = "\n".join(shown)
    dropped = len(diff) - DIFF_CHARACTERS
    return diff if dropped <= 0 else f"{diff[:DIFF_CHARACTERS]}\n… {dropped} more characters …"
