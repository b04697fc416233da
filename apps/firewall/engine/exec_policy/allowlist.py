"""Which commands a list of patterns admits."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from apps.firewall.engine.exec_policy.index import ANY, AllowEntry, Index, index_of
from apps.firewall.engine.exec_policy.patterns import arguments_match
from apps.firewall.engine.exec_policy.resolution import FileSystem, Program, find_program
from apps.firewall.engine.exec_policy.tables import Tables
from apps.firewall.engine.names import trim

REMEMBERED: Final = "allow-always"


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
    tables: Tables,
    needs_arguments: bool = False,
) -> AllowEntry | None:
    """Find the entry that admits a command; one that speaks of the arguments beats one that does not.

    Args:
        needs_arguments: only an entry that speaks of the arguments, or `*`, is enough.
    """
    index = index_of(tuple(entries), home=home, tables=tables)
    for number in index.any:
        entry = index.entries[number]
        if trim(entry.pattern) == ANY and not _speaks(entry, tables) and entry.argv in {None, argv}:
            return entry
    admitted: AllowEntry | None = None
    for entry in _fitting(index, program):
        speaks = _speaks(entry, tables) or entry.argv is not None
        if not _admits(entry, argv, tables):
            continue
        if speaks:
            return entry
        admitted = admitted or (None if needs_arguments else entry)
    return admitted


def _fitting(index: Index, program: Program) -> Iterator[AllowEntry]:
    numbers = index.of_path(program.candidate) if program.candidate else []
    if program.is_found and program.is_called_by_name:
        numbers = sorted({*numbers, *index.of_name(program.name)})
    return (index.entries[number] for number in numbers)


def _speaks(entry: AllowEntry, tables: Tables) -> bool:
    """Say whether an entry speaks of arguments; the older release does not know that it can."""
    return tables.matches_real_path and entry.arg_pattern is not None


def _admits(entry: AllowEntry, argv: tuple[str, ...], tables: Tables) -> bool:
    if entry.argv is not None and entry.argv != argv:
        return False
    if _speaks(entry, tables):
        return arguments_match(str(entry.arg_pattern), argv[1:])
    return not (tables.matches_real_path and entry.source == REMEMBERED and entry.argv is None)


__all__ = ["AllowEntry", "FileSystem", "Program", "find_program", "matching_entry", "read_entries"]
