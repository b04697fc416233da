"""Which commands a list of patterns admits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from apps.firewall.engine.exec_policy.patterns import arguments_match, glob_expression

ANY: Final = "*"
OLD: Final = "2026.2"


class FileSystem(Protocol):
    """What the judge may ask about files; nothing is opened or changed."""

    def is_program(self, path: str) -> bool:
        """Say whether the path leads to a regular file that may be executed."""

    def real_path(self, path: str) -> str:
        """Follow every link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowEntry:
    """One entry of an allowlist, or a standing grant.

    Args:
        pattern: glob over the path of the program, or a bare name.
        arg_pattern: regular expression searched in the arguments joined by blanks; None for any arguments.
        argv: exactly these words, when a grant was for one command only.
        source: who added it; `allow-always` entries count only with arguments.
    """

    pattern: str
    arg_pattern: str | None = None
    argv: tuple[str, ...] | None = None
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """The file that a command would run.

    Args:
        called: the word that named it.
        path: where it was found, absolute; empty when nowhere.
        real_path: the file behind all links.
    """

    called: str
    path: str = ""
    real_path: str = ""

    @property
    def is_found(self) -> bool:
        return bool(self.path)


def find_program(called: str, *, files: FileSystem, cwd: str, search_path: tuple[str, ...]) -> Program:
    """Resolve the first word of a command as `execvp` does, in the given folders only."""
    if "/" in called:
        path = called if called.startswith("/") else f"{cwd.rstrip('/')}/{called}"
        candidates = [path]
    else:
        candidates = [f"{folder.rstrip('/')}/{called}" for folder in search_path] if called else []
    for path in candidates:
        if files.is_program(path):
            return Program(called=called, path=path, real_path=files.real_path(path))
    return Program(called=called)


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
    entries: Iterable[AllowEntry], program: Program, argv: tuple[str, ...], *, dialect: str, home: str
) -> AllowEntry | None:
    """Find the entry that admits a command; one that speaks of the arguments beats one that does not."""
    admitted = None
    for entry in entries:
        if not _admits(entry, program, argv, dialect=dialect, home=home):
            continue
        if entry.arg_pattern is not None or entry.argv is not None:
            return entry
        admitted = admitted or entry
    return admitted


def _admits(entry: AllowEntry, program: Program, argv: tuple[str, ...], *, dialect: str, home: str) -> bool:
    if entry.argv is not None and entry.argv != argv:
        return False
    if entry.pattern == ANY:
        return entry.arg_pattern is None
    if not program.is_found:
        return False
    if dialect == OLD:
        # That release compares the path as called; one that climbs could look like another.
        climbs = ".." in program.path.split("/")
        return not climbs and _path_matches(entry.pattern, program.path, home=home, is_old=True)
    if entry.source == "allow-always" and entry.arg_pattern is None and entry.argv is None:
        return False
    if entry.arg_pattern is not None and not arguments_match(entry.arg_pattern, argv[1:]):
        return False
    if any(mark in entry.pattern for mark in "/\\~"):
        return _path_matches(entry.pattern, program.real_path, home=home, is_old=False)
    return "/" not in program.called and _name_matches(entry.pattern, program.called)


def _name_matches(pattern: str, name: str) -> bool:
    expression = glob_expression(pattern, ignore_case=False, mark_crosses_folders=False)
    return expression.fullmatch(name) is not None


def _path_matches(pattern: str, path: str, *, home: str, is_old: bool) -> bool:
    if not any(mark in pattern for mark in "/\\~"):
        return False
    if pattern == "~" or pattern.startswith("~/"):
        pattern = f"{home.rstrip('/')}{pattern[1:]}"
    expression = glob_expression(pattern, ignore_case=is_old, mark_crosses_folders=is_old)
    return expression.fullmatch(path) is not None
