"""Commands behind commands: `nice -n 5 ls` is `ls`, `sudo ls` is blocked.

Source: conformance README, `exec_approval.jsonl`, "Wrappers".
"""

import re
from dataclasses import dataclass
from typing import Final

from apps.firewall.engine.exec_policy.tables import Tables
from apps.firewall.engine.exec_policy.tables.shape import Options, Wrapper

_NUMBER: Final = re.compile(r"-(?:n-?)?\d+\Z")
_ASSIGNMENT: Final = re.compile(r"[^-=][^=]*=")
_OUTPUT_FILE: Final = frozenset(["-o", "--output"])


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


def tool_name(word: str) -> str:
    """Name a program without folder, case and `.exe`."""
    return re.split(r"[/\\]", word)[-1].strip().lower().removesuffix(".exe")


def unwrap(argv: tuple[str, ...], tables: Tables) -> Unwrapped:
    """Take off every wrapper, as many as the release follows."""
    chain: tuple[str, ...] = ()
    multiplexer: tuple[str, ...] = ()
    current = argv
    while True:
        name, carried = _carried(current, tables)
        if not name:
            return Unwrapped(current, chain, multiplexer)
        if carried is None or len(chain) == tables.wrapper_depth:
            shown = chain if tables.reads_grammar else _older_chain(chain, name, current, tables)
            return Unwrapped(current, shown, multiplexer, blocked_by=name)
        if name in tables.shells.multiplexers and not multiplexer:
            multiplexer = current
        chain, current = (*chain, name), carried


def _older_chain(chain: tuple[str, ...], name: str, argv: tuple[str, ...], tables: Tables) -> tuple[str, ...]:
    """The older release counts a wrapper among those taken off when it is blocked only by what it changes."""
    modifies = tables.wrappers[name].mode == "transparent_unless" and len(argv) > 1 and argv[-1] != ""
    return (*chain, name) if modifies and not argv[-1].startswith("-") else chain


def _carried(argv: tuple[str, ...], tables: Tables) -> tuple[str, tuple[str, ...] | None]:
    """Name the wrapper that a command is, if any, and what it carries; None when it is blocked."""
    if not argv:
        return "", None
    name = tool_name(argv[0])
    wrapper = tables.wrappers.get(name)
    if wrapper is not None:
        return name, carried_command(argv, wrapper)
    carrier = tables.argv_carriers.get(argv[0])
    if carrier is not None:
        return argv[0], carried_command(argv, carrier)
    if tables.reads_grammar and name in tables.shells.multiplexers:
        return name, _applet(argv, tables)
    return "", None


def _applet(argv: tuple[str, ...], tables: Tables) -> tuple[str, ...] | None:
    rest = argv[2:] if argv[1:2] == ("--",) else argv[1:]
    return rest if rest and tool_name(rest[0]) in tables.shells.every else None


def carried_command(argv: tuple[str, ...], wrapper: Wrapper) -> tuple[str, ...] | None:
    """Return the command behind a wrapper; None when the wrapper blocks, or cannot be read."""
    if wrapper.mode == "blocked":
        return None
    at = skip_options(argv, wrapper.options, blocking=_blocking(wrapper), numbers=wrapper.numbers)
    if at is None:
        return None
    rest = argv[at + wrapper.before :]
    if not rest or not rest[0] or rest[0].startswith("-"):
        return None
    if wrapper.blocked_by == "assignment_or_option" and _ASSIGNMENT.match(rest[0]):
        return None
    return rest


def _blocking(wrapper: Wrapper) -> frozenset[str]:
    if wrapper.blocked_by == "assignment_or_option":
        return wrapper.options.flags | wrapper.options.with_value
    return _OUTPUT_FILE if wrapper.blocked_by == "output_file" else frozenset()


def skip_options(
    argv: tuple[str, ...], options: Options, *, blocking: frozenset[str] = frozenset(), numbers: bool = False
) -> int | None:
    """Find where the options of a program end; None when one blocks or is not listed, or lacks its value."""
    at = 1
    while at < len(argv):
        word = argv[at]
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
        elif (name in options.flags and not equals) or (numbers and _NUMBER.match(word)):
            at += 1
        else:
            return None
    return at if at == len(argv) else None
