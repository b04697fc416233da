"""Which file a command's first word leads to.

Source: conformance README, `exec_approval.jsonl`, kind `command`.
"""

import posixpath
from dataclasses import dataclass
from typing import Protocol

from apps.firewall.engine.exec_policy.tables import Tables
from apps.firewall.engine.exec_policy.where import Where
from apps.firewall.engine.names import trim


class FileSystem(Protocol):
    """What the judge may ask about files; nothing is opened or changed."""

    def is_program(self, path: str) -> bool:
        """Say whether the path leads to a regular file that may be executed."""

    def real_path(self, path: str) -> str:
        """Follow every link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """The file that a command would run.

    Args:
        called: the word that named it.
        path: where it was found, absolute; empty when nowhere.
        real_path: the file behind all links.
        candidate: what patterns are compared with: also of a path at which no program was found; empty for none.
    """

    called: str
    path: str = ""
    real_path: str = ""
    candidate: str = ""

    @property
    def is_found(self) -> bool:
        return bool(self.path)

    @property
    def is_called_by_name(self) -> bool:
        return bool(self.called) and "/" not in self.called and "\\" not in self.called

    @property
    def name(self) -> str:
        """The last part of its path; of one that was not found, what it was called."""
        return self.path.rpartition("/")[2] or self.called


def find_program(called: str, *, files: FileSystem, cwd: str, search_path: tuple[str, ...]) -> Program:
    """Resolve the first word of a command as `execvp` does, in the given folders only."""
    if "/" in called:
        path = called if called.startswith("/") else f"{cwd.rstrip('/')}/{called}"
        candidates = [path]
    else:
        candidates = [f"{folder.rstrip('/')}/{called}" for folder in search_path] if called else []
    for path in candidates:
        if files.is_program(path):
            return Program(called=called, path=path, real_path=files.real_path(path), candidate=path)
    return Program(called=called)


def resolve(called: str, *, files: FileSystem, where: Where, tables: Tables) -> Program:
    """Resolve the first word of a command as a release does: `~` is the home, and a path is taken as it is."""
    called = trim(called)
    expanded = f"{where.home}{called[1:]}" if called == "~" or called.startswith("~/") else called
    if "/" not in expanded and "\\" not in expanded:
        found = find_program(called, files=files, cwd=where.cwd, search_path=where.search_path)
        return _in_release(called, found.path, found.path, files, tables)
    path = expanded
    if tables.matches_real_path or not expanded.startswith("/"):
        path = posixpath.normpath(posixpath.join(where.cwd, expanded))
    return _in_release(called, path if files.is_program(path) else "", path, files, tables)


def _in_release(called: str, path: str, candidate: str, files: FileSystem, tables: Tables) -> Program:
    real = files.real_path(path) if path else ""
    if candidate and tables.matches_real_path:
        candidate = real or files.real_path(candidate)
    return Program(called=called, path=path, real_path=real, candidate=candidate)
