"""Commands behind commands: `nice -n 5 ls` is `ls`, `sudo ls` is blocked.

Source: conformance README, `exec_approval.jsonl`, "Wrappers".
"""

import re
import shlex
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from apps.firewall.engine.exec_policy.tables import Tables
from apps.firewall.engine.exec_policy.tables.shape import Options, Wrapper
from apps.firewall.engine.names import BLANKS, trim

_NUMBER: Final = re.compile(r"-\d+|-n.+", re.ASCII | re.DOTALL)
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_OUTPUT_FILE: Final = frozenset(["-o", "--output"])
_ENDINGS: Final = (".exe", ".cmd", ".bat", ".com")
_FOLDERS: Final = re.compile(r"[/\\]")
_DRIVE: Final = re.compile(r"\A[A-Za-z]:")
_CLASSIFICATION_DEPTH: Final = 4


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """What is left of a command when its wrappers are taken off.

    Args:
        argv: the command that decides; with `blocked_by`, the one that could not be taken apart.
        chain: the wrappers that were taken off, outermost first.
        multiplexer: the command whose file runs the shell in `argv`; empty when there is none.
        blocked_by: the wrapper behind which nothing is satisfied.
    """

    argv: tuple[str, ...]
    chain: tuple[str, ...] = ()
    multiplexer: tuple[str, ...] = ()
    blocked_by: str = ""


@lru_cache(maxsize=1024)
def tool_name(word: str) -> str:
    """Name a program without folder, case and the endings that Windows gives programs."""
    name = _FOLDERS.split(_DRIVE.sub("", word.rstrip("/\\")))[-1].strip(BLANKS).lower()
    if name.endswith(_ENDINGS):
        name = name.rpartition(".")[0]
    return name


def unwrap(argv: tuple[str, ...], tables: Tables) -> Unwrapped:
    """Take off every wrapper, as many as the release follows."""
    chain: tuple[str, ...] = ()
    before_run = 0  # the wrappers in front of the programs among them that follow on each other
    multiplexer: tuple[str, ...] = ()
    current = argv
    while True:
        name, carried = _carried(current, tables)
        if not name:
            return Unwrapped(current, chain, multiplexer)
        is_program = name in tables.wrappers
        if not is_program:
            before_run = len(chain)
        if carried is None or len(chain) == tables.wrapper_depth:
            shown = chain[:before_run] if tables.reads_grammar else _older_chain(chain, name, current, tables)
            return Unwrapped(current, shown, multiplexer, blocked_by=name)
        if name in tables.shells.multiplexers and not multiplexer:
            multiplexer = current
        chain, current = (*chain, name), carried
        before_run = before_run if is_program else len(chain)


def _older_chain(chain: tuple[str, ...], name: str, argv: tuple[str, ...], tables: Tables) -> tuple[str, ...]:
    """The older release counts a wrapper among those taken off when it is blocked only by what it changes."""
    modifies = tables.wrappers[name].mode == "transparent_unless" and len(argv) > 1 and argv[-1] != ""
    return (*chain, name) if modifies and not argv[-1].startswith("-") else chain


def _carried(argv: tuple[str, ...], tables: Tables) -> tuple[str, tuple[str, ...] | None]:
    """Name the wrapper that a command is, if any, and what it carries; None when it is blocked."""
    if not argv or not trim(argv[0]):
        return "", None
    name = tool_name(argv[0])
    wrapper = tables.wrappers.get(name)
    if wrapper is not None:
        return name, carried_command(argv, wrapper)
    carrier = tables.argv_carriers.get(trim(argv[0]))
    if carrier is not None:
        return trim(argv[0]), carried_by_builtin(argv, carrier.options)
    if tables.reads_grammar and name in tables.shells.multiplexers:
        return name, _applet(argv, tables)
    return "", None


def _applet(argv: tuple[str, ...], tables: Tables) -> tuple[str, ...] | None:
    rest = argv[2:] if argv[1:2] and trim(argv[1]) == "--" else argv[1:]
    return rest if rest and tool_name(rest[0]) in tables.shells.every else None


def carried_command(argv: tuple[str, ...], wrapper: Wrapper) -> tuple[str, ...] | None:
    """Return the command behind a wrapper; None when the wrapper blocks, or cannot be read."""
    if wrapper.blocked_by == "assignment_or_option" and _is_modified(argv):
        return None
    return _behind(argv, wrapper, blocking=_OUTPUT_FILE if wrapper.blocked_by == "output_file" else frozenset())


def classified(argv: tuple[str, ...], tables: Tables) -> tuple[str, ...] | None:
    """Return the command behind wrappers and multiplexers, also where these change what it finds; None for none.

    That tells shells from other programs, and admits nothing.
    """
    for _ in range(_CLASSIFICATION_DEPTH + 1):
        if not argv or not trim(argv[0]):
            return None
        name = tool_name(argv[0])
        wrapper = tables.wrappers.get(name)
        if wrapper is not None:
            carried = carried_by_any(argv, wrapper)
        elif name in tables.shells.multiplexers:
            carried = _applet(argv, tables)
        else:
            return argv
        if carried is None:
            return None
        argv = carried
    return None


def carried_by_any(argv: tuple[str, ...], wrapper: Wrapper) -> tuple[str, ...] | None:
    """Return the command behind a wrapper, whatever it changes; None when it cannot be read."""
    if wrapper.blocked_by != "assignment_or_option":
        return _behind(argv, wrapper)
    at = 1
    while at < len(argv):
        word = argv[at]
        at += 1
        if not word:
            return None
        if word in {"--", "-"}:
            return argv[at:] or None
        if _ASSIGNMENT.match(word):
            continue
        if not word.startswith("-"):
            return argv[at - 1 :]
        option = _clustered(word, wrapper.options)
        if option is None:
            return None
        name, value = option
        if name in wrapper.options.split_string:
            return _split(argv[at] if value is None and at < len(argv) else value, argv[at + (value is None) :])
        at += name in wrapper.options.with_value and value is None
    return None


def carried_by_builtin(argv: tuple[str, ...], options: Options) -> tuple[str, ...] | None:
    """Return the command behind a builtin that starts it; None when it only tells about it, or cannot be read."""
    at = 1
    while at < len(argv):
        word = argv[at]
        if word == "--":
            return argv[at + 1 :] or None
        if not word.startswith("-"):
            return argv[at:]
        option = _clustered(word, options)
        if option is None:
            return None
        at += 2 if option[0] in options.with_value and option[1] is None else 1
    return None


def _clustered(word: str, options: Options) -> tuple[str, str | None] | None:
    """Read an option, or several letters in one word; the last one, and the value that stands in the word."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        known = name in options.flags or name in options.with_value
        return (name, value if equals else None) if known else None
    for place, letter in enumerate(word[1:], start=1):
        name = f"-{letter}"
        if name in options.with_value:
            return name, word[place + 1 :] or None
        if name not in options.flags:
            return None
    return (f"-{word[-1]}", None) if len(word) > 1 else None


def _split(line: str | None, rest: tuple[str, ...]) -> tuple[str, ...] | None:
    """Split a line that `env -S` is given into words."""
    try:
        words = () if line is None else tuple(shlex.split(line, comments=True))
    except ValueError:
        return None
    return (*words, *rest) or None


def _is_modified(argv: tuple[str, ...]) -> bool:
    """Say whether `env` is given more than a command: a variable, an option, or nothing that can be read."""
    return len(argv) < 2 or (
        argv[1] not in {"--", "-"} and (not argv[1] or argv[1].startswith("-") or bool(_ASSIGNMENT.match(argv[1])))
    )


def _behind(
    argv: tuple[str, ...], wrapper: Wrapper, *, blocking: frozenset[str] = frozenset()
) -> tuple[str, ...] | None:
    """Find the command behind the options of a wrapper; blank words do not count."""
    if wrapper.mode == "blocked":
        return None
    expects, at = False, 1
    while at < len(argv):
        word = trim(argv[at])
        if word and not expects:
            if word == "--" or (word == "-" and wrapper.blocked_by == "assignment_or_option"):
                at += 1
                break
            if not word.startswith("-") or word == "-":
                break
            takes = _takes_value(word if wrapper.minds_case else word.lower(), wrapper, blocking)
            if takes is None:
                return None
            expects = takes
        elif word:
            expects = False
        at += 1
    if expects:
        return None
    at += wrapper.before
    if at >= len(argv):
        return None
    command = trim(argv[at])
    is_plain = command == "-" or (command != "" and not command.startswith("-"))
    return argv[at:] if is_plain or not wrapper.checks_command else None


def _takes_value(word: str, wrapper: Wrapper, blocking: frozenset[str]) -> bool | None:
    """Say whether an option takes the next word; None when it is not listed, or blocks."""
    name, equals, _ = word.partition("=")
    if name in blocking:
        return None
    if name in wrapper.options.with_value:
        return not equals
    if name in wrapper.options.flags and (not equals or not wrapper.is_exact):
        return False
    is_cluster = bool(wrapper.clusters) and not word.startswith("--") and set(word[1:]) <= set(wrapper.clusters)
    return False if is_cluster or (wrapper.numbers and _NUMBER.fullmatch(word)) else None


def skip_options(argv: tuple[str, ...], options: Options, *, blocking: frozenset[str] = frozenset()) -> int | None:
    """Find where the options of a program end; None when one blocks or is not listed, or lacks its value."""
    at = 1
    while at < len(argv):
        word = trim(argv[at])
        if word == "--":
            return at + 1
        if not word.startswith("-"):
            return at
        name, equals, _ = word.partition("=")
        is_long = word.startswith("--")
        if name in blocking or (equals and not is_long):
            return None
        if name in options.with_value:
            at += 1 if equals else 2
        elif name in options.flags and not equals:
            at += 1
        else:
            return None
    return at if at == len(argv) else None
