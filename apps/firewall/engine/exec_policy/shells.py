"""Shells among the commands of a line: what they are asked to run.

Source: conformance README, `exec_approval.jsonl`, "Shells".
"""

import re
from dataclasses import dataclass
from typing import Final

from apps.firewall.engine.exec_policy.tables import Tables
from apps.firewall.engine.exec_policy.wrappers import tool_name

_CLUSTER: Final = re.compile(r"[-+][A-Za-z]+\Z")
_HARMLESS_LONG: Final = frozenset(["--norc", "--noprofile", "--posix", "--rcfile", "--init-file"])
_FISH_LINE: Final = frozenset(["-c", "--command"])
_STARTUP: Final = frozenset(["--rcfile", "--init-file", "--startup-file", "--init-command"])


@dataclass(frozen=True, slots=True)
class Inline:
    """A line that a shell is given as an argument.

    Args:
        line: the line; empty when the option for it has no value.
        is_plain: nothing but the line is run: no login, no interactive start, no option that nobody knows.
    """

    line: str
    is_plain: bool


def is_shell(argv: tuple[str, ...], tables: Tables) -> bool:
    """Say whether a command is a shell."""
    return bool(argv) and tool_name(argv[0]) in tables.shells.every


def inline_of(argv: tuple[str, ...], tables: Tables) -> Inline | None:
    """Find the line that a shell is asked to run; None when it is asked for something else."""
    if not is_shell(argv, tables):
        return None
    if tool_name(argv[0]) in tables.shells.windows:
        words = [word for word in argv[1:] if word.startswith(("-", "/"))]
        return Inline(" ".join(argv[1:]), is_plain=False) if words else None
    is_plain = True
    is_fish = tool_name(argv[0]) == "fish"  # whose options are others, and some of them run or write
    at = 1
    while at < len(argv):
        word = argv[at]
        if word == "--" or not word.startswith(("-", "+")) or word in {"-", "+"}:
            return None
        takes = _values(word, tables)
        if word in tables.shells.inline_flags or (_is_cluster(word) and "c" in word and word[0] == "-"):
            line = argv[at + 1 + takes].strip() if at + 1 + takes < len(argv) else ""
            is_plain = is_plain and _is_plain_option(word, tables) and not line.startswith(("-", "+"))
            is_plain = is_plain and not (is_fish and word not in _FISH_LINE)
            return Inline(line, is_plain) if line else None
        is_plain = is_plain and _is_plain_option(word, tables) and not is_fish
        at += 1 + takes
    return None


def _is_cluster(word: str) -> bool:
    return _CLUSTER.match(word) is not None


def _values(word: str, tables: Tables) -> int:
    """Count the words that an option takes."""
    if word in tables.shells.with_value:
        return 1
    return sum(letter in "oO" for letter in word[1:]) if _is_cluster(word) else 0


def _is_plain_option(word: str, tables: Tables) -> bool:
    """Say whether an option leaves a shell's start and its reading of the line as they are."""
    if word.startswith("--"):
        return word in _HARMLESS_LONG or word in tables.shells.inline_flags
    if not _is_cluster(word):
        return False
    if word in tables.shells.with_value:
        return True
    # `-i`, `-l` and `-s` start another kind of shell; a capital C is an option of one shell only (fish runs its value).
    letters = word[1:].replace("c", "", 1)
    return not set(letters) & set("ilscC")


def script_of(argv: tuple[str, ...], tables: Tables) -> tuple[str, ...] | None:
    """Return the script that a shell is given, and its arguments; None when it reads its commands elsewhere."""
    if not is_shell(argv, tables) or tool_name(argv[0]) in tables.shells.windows:
        return None
    at = 1
    while at < len(argv):
        word = argv[at]
        if word == "--":
            at += 1
            break
        if not word.startswith(("-", "+")):
            break
        letters = word[1:] if _is_cluster(word) else ""
        if word.partition("=")[0] in _STARTUP or word in tables.shells.inline_flags or set(letters.lower()) & set("cs"):
            return None
        at += 1 + _values(word, tables)
    return argv[at:] if at < len(argv) and argv[at] else None
