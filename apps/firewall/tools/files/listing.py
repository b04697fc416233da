"""Lists folders: what is there, by kind, size and time, and never through a link."""

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any

from apps.firewall.tools.files.beneath import FOLDER_FLAGS, folder_beneath, parts_of
from apps.firewall.tools.files.denying import is_denied

ENTRIES_LIMIT = 1_000
VISITED_LIMIT = 20_000
DEPTH_LIMIT = 32
KINDS = ((stat.S_ISREG, "file"), (stat.S_ISDIR, "folder"), (stat.S_ISLNK, "link"))


def list_folder(
    root: str,
    path: str = ".",
    pattern: str = "",
    recursive: bool = False,
    denied: tuple[str, ...] = (),
) -> dict[str, Any]:
    """List a folder, or all that lies below it, in the order of names; what was left out is stated.

    Args:
        pattern: of names, or of paths below the folder when it holds a `/`; `**` stands for any folders.
        denied: patterns of what is not even shown.
    """
    parts = parts_of(path, root)
    with folder_beneath(root, parts) as folder:
        walk = _Walk("/".join(parts), pattern, list(denied), deep=recursive)
        walk.go(folder, [])
    shown = sorted(walk.found, key=lambda entry: str(entry["path"]))
    return {"path": path, "entries": shown, "count": len(shown), "truncated": walk.is_cut}


class _Walk:
    def __init__(self, above: str, pattern: str, denied: list[str], *, deep: bool) -> None:
        self.found: list[dict[str, Any]] = []
        self.is_cut = False
        self._above = above
        self._pattern = pattern
        self._denied = denied
        self._deep = deep
        self._visited = 0

    def go(self, folder: int, parts: list[str]) -> None:
        for name in _names(folder):
            self._visited += 1
            if self._visited > VISITED_LIMIT or len(self.found) >= ENTRIES_LIMIT:
                self.is_cut = True
                return
            self._meet(folder, [*parts, name])

    def _meet(self, folder: int, parts: list[str]) -> None:
        path = "/".join(parts)
        if self._denied and is_denied(f"{self._above}/{path}", self._denied):
            return
        try:
            status = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return  # it went while we looked
        if matches(parts, self._pattern):
            self.found.append(_entry(path, status))
        if self._deep and stat.S_ISDIR(status.st_mode):
            self._deeper(folder, parts)

    def _deeper(self, folder: int, parts: list[str]) -> None:
        if len(parts) >= DEPTH_LIMIT:
            self.is_cut = True
            return
        try:
            below = os.open(parts[-1], FOLDER_FLAGS, dir_fd=folder)
        except (PermissionError, FileNotFoundError, NotADirectoryError):
            return  # it may not be entered, or something else has its name by now
        try:
            self.go(below, parts)
        finally:
            os.close(below)


def _names(folder: int) -> Iterator[str]:
    """Give the names in a folder, in order; of a very large one only as many as anybody looks at."""
    names: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            names.append(entry.name)
            if len(names) > VISITED_LIMIT:
                break
    yield from sorted(names)


def _entry(path: str, status: os.stat_result) -> dict[str, Any]:
    kind = next((kind for holds, kind in KINDS if holds(status.st_mode)), "other")
    changed = datetime.fromtimestamp(int(status.st_mtime), UTC).isoformat().replace("+00:00", "Z")
    entry = {"path": path.encode("utf-8", "replace").decode(), "kind": kind, "modified": changed}
    return entry | {"size": status.st_size} if kind == "file" else entry


def matches(parts: list[str], pattern: str) -> bool:
    """Say whether a pattern means a path; without a `/` it goes by the name alone."""
    if not pattern:
        return True
    if "/" not in pattern:
        return fnmatchcase(parts[-1], pattern)
    return _fits(parts, [each for each in pattern.split("/") if each])


def _fits(parts: list[str], wanted: list[str]) -> bool:
    """Compare part by part, from every place at once that `**` leaves open."""
    places = {0}
    for pattern in wanted:
        if pattern == "**":
            places = set(range(min(places, default=len(parts) + 1), len(parts) + 1))
        else:
            places = {at + 1 for at in places if at < len(parts) and fnmatchcase(parts[at], pattern)}
    return len(parts) in places
