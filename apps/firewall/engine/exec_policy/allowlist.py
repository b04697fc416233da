"""Which commands a list of patterns admits."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from apps.firewall.engine.exec_policy.index import AllowEntry, Index, index_of
from apps.firewall.engine.exec_policy.patterns import LONGEST_TEXT, arguments_match, is_exact, pattern_fault
from apps.firewall.engine.exec_policy.remembered import REMEMBERED, folder_bound, is_folder_bound
from apps.firewall.engine.exec_policy.resolution import FileSystem, Program, find_program
from apps.firewall.engine.exec_policy.tables import Tables


def read_entries(entries: Any) -> tuple[AllowEntry, ...]:
    """Read an `allowlist` of the exec approvals document; what is no entry admits nothing."""
    if not isinstance(entries, list | tuple):
        return ()
    read = (_entry(entry) for entry in entries)
    return tuple(entry for entry in read if entry is not None)


def _entry(entry: Any) -> AllowEntry | None:
    if isinstance(entry, str):
        entry = {"pattern": entry}
    if not isinstance(entry, Mapping) or not isinstance(entry.get("pattern"), str) or not entry["pattern"].strip():
        return None
    arguments, source = entry.get("argPattern"), entry.get("source")
    if arguments is not None and not isinstance(arguments, str):
        return None
    return AllowEntry(
        pattern=entry["pattern"].strip(), arg_pattern=arguments, source=source if isinstance(source, str) else ""
    )


def matching_entry(
    entries: Iterable[AllowEntry],
    program: Program,
    argv: tuple[str, ...],
    *,
    home: str,
    cwd: str,
    tables: Tables,
    is_ours: bool = False,
) -> AllowEntry | None:
    """Find the entry that admits a command; one that speaks of the arguments beats one that does not.

    Args:
        cwd: where the command runs; some answers count in one folder only.
        is_ours: the entries are standing answers of people here, which count in every folder.
    """
    index = index_of(tuple(entries), home=home, tables=tables)
    for number in index.any:
        entry = index.entries[number]
        if program.called and not _speaks(entry, tables) and _admits(entry, argv, cwd, tables, is_ours=is_ours):
            return entry
    admitted: AllowEntry | None = None
    for entry in _fitting(index, program):
        speaks = _speaks(entry, tables) or entry.argv is not None
        if not _admits(entry, argv, cwd, tables, is_ours=is_ours):
            continue
        if speaks:
            return entry
        admitted = admitted or entry
    return admitted


def exact_entry(
    entries: Iterable[AllowEntry], program: Program, argv: tuple[str, ...], *, home: str, cwd: str, tables: Tables
) -> AllowEntry | None:
    """Find the entry that admits a command and tells every word of it."""
    index = index_of(tuple(entries), home=home, tables=tables)
    for entry in _fitting(index, program):
        if _tells(entry, argv) and _admits(entry, argv, cwd, tables) and (entry.argv == argv or _speaks(entry, tables)):
            return entry
    return None


def _tells(entry: AllowEntry, argv: tuple[str, ...]) -> bool:
    """Say whether an entry leaves nothing open of a command that it admits."""
    pattern = entry.arg_pattern
    return entry.argv == argv or (
        pattern is not None and (is_folder_bound(pattern) or (not pattern_fault(pattern) and is_exact(pattern)))
    )


def faulty_entry(
    entries: Iterable[AllowEntry], program: Program, argv: tuple[str, ...], *, home: str, tables: Tables
) -> tuple[AllowEntry, str] | None:
    """Find an entry for a program whose pattern of arguments cannot be searched, and why."""
    index = index_of(tuple(entries), home=home, tables=tables)
    is_long = len(" ".join(argv[1:])) > LONGEST_TEXT
    for entry in _fitting(index, program):
        if not _speaks(entry, tables) or entry.source == REMEMBERED or is_folder_bound(entry.arg_pattern):
            continue
        fault = pattern_fault(str(entry.arg_pattern))
        if fault or is_long:
            return entry, fault or f"arguments of more than {LONGEST_TEXT} characters are not held against a pattern"
    return None


def _fitting(index: Index, program: Program) -> Iterator[AllowEntry]:
    numbers = index.of_path(program.candidate) if program.candidate else []
    if program.is_found and program.is_called_by_name:
        numbers = sorted({*numbers, *index.of_name(program.name)})
    return (index.entries[number] for number in numbers)


def _speaks(entry: AllowEntry, tables: Tables) -> bool:
    """Say whether an entry speaks of arguments; the older release does not know that it can."""
    return tables.matches_real_path and bool(entry.arg_pattern)


def _admits(entry: AllowEntry, argv: tuple[str, ...], cwd: str, tables: Tables, *, is_ours: bool = False) -> bool:
    if entry.argv is not None and entry.argv != argv:
        return False
    if not tables.matches_real_path:
        return True
    if is_folder_bound(entry.arg_pattern):
        return entry.arg_pattern == folder_bound(argv, cwd)
    if entry.source == REMEMBERED and entry.argv is None and not (is_ours and entry.arg_pattern):
        return False
    return not entry.arg_pattern or arguments_match(entry.arg_pattern, argv[1:])


__all__ = [
    "REMEMBERED",
    "AllowEntry",
    "FileSystem",
    "Program",
    "exact_entry",
    "faulty_entry",
    "find_program",
    "matching_entry",
    "read_entries",
]
