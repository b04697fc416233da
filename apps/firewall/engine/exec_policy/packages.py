"""Commands behind package managers: `npx git status` is `git status`.

Source: conformance README, `exec_approval.jsonl`, "Package managers".
"""

import re
from dataclasses import dataclass
from typing import Final

from apps.firewall.engine.exec_policy.shells import inline_of
from apps.firewall.engine.exec_policy.tables import Tables
from apps.firewall.engine.exec_policy.tables.shape import NOTHING, Options, PackageManager
from apps.firewall.engine.exec_policy.wrappers import skip_options, tool_name, unwrap
from apps.firewall.engine.names import fold, trim

_SCRIPT_ENDING: Final = re.compile(r"\.[cm]?js\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Managed:
    """What decides about a command: itself, or what a package manager runs for it; `argv` None when it is blocked."""

    argv: tuple[str, ...] | None
    is_managed: bool


def managed_command(argv: tuple[str, ...], tables: Tables) -> Managed:
    """Look behind package managers, one in the other at most as often as the release does."""
    current, is_managed = argv, False
    for _ in range(tables.package_manager_depth):
        unwrapped = unwrap(current, tables)
        if unwrapped.blocked_by:
            return Managed(None, is_managed)
        current = unwrapped.argv
        manager = tables.package_managers.get(_SCRIPT_ENDING.sub("", tool_name(current[0]))) if current else None
        carried = (current, False) if manager is None else _behind(current, manager)
        if carried is None:
            return Managed(None, is_managed)
        current, is_exec = carried
        if not is_exec:
            is_blocked = is_managed and inline_of(current, tables) is not None
            return Managed(None if is_blocked else current, is_managed)
        is_managed = True
    return Managed(None, is_managed)


def _behind(argv: tuple[str, ...], manager: PackageManager) -> tuple[tuple[str, ...], bool] | None:
    """Return the command that a manager runs, or itself and False when it runs none; None when nobody can tell."""
    if not manager.subcommands:
        found = _after_subcommand(argv, manager.after[""], manager.blocking)
        return None if found and _ends_options(argv, found[0]) else found
    at = skip_options(argv, manager.before)
    if at is None or argv[at - 1 : at] == ("--",):
        named = {fold(word) for word in argv[1:]}
        runs = manager.known is not None or named & manager.subcommands
        return None if runs else (argv, False)
    if at >= len(argv):
        return argv, False
    subcommand = fold(argv[at])
    if subcommand not in manager.subcommands:
        is_other = manager.known is not None and subcommand not in manager.known
        return None if is_other else (argv, False)
    if trim(argv[at]) != subcommand or _uses(argv[1:at], manager.blocking):
        return None
    found = _after_subcommand(argv[at:], manager.after.get(subcommand), manager.blocking)
    if found and manager.known is None and argv[at + 1] != "--" and _ends_options(argv, found[0]):
        return None
    implied = manager.implied.get(subcommand)
    if implied is not None:
        rest = argv[at + 1 :]
        return (implied, *(rest[1:] if rest[:1] == ("--",) else rest)), True
    return found


def _after_subcommand(
    argv: tuple[str, ...], options: Options | None, blocking: frozenset[str]
) -> tuple[tuple[str, ...], bool] | None:
    at = skip_options(argv, options or Options(), blocking=blocking if options else NOTHING)
    rest = () if at is None else argv[at:]
    return (rest, True) if rest and not rest[0].startswith("-") else None


def _ends_options(argv: tuple[str, ...], command: tuple[str, ...]) -> bool:
    """Say whether `--` stands before a command: npm reads it right behind its subcommand only."""
    return argv[-len(command) - 1] == "--"


def _uses(words: tuple[str, ...], options: frozenset[str]) -> bool:
    return any(word.partition("=")[0] in options for word in words)
