"""How much of the disk workspaces use, and how much they may: each by itself, all together, and what stays free.

The kernel counts what one process writes to one file, not what a folder holds. So a folder is measured before a call
that may write there, and again and again while its processes run.
"""

import asyncio
import contextlib
import os
import secrets
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Final, NamedTuple

from apps.firewall.errors import FirewallError
from apps.firewall.sandbox.limits import MEGABYTE

LOOK_S: Final = 0.25
CALM: Final = 10
"""A look at a folder takes at most this share of the time: one that took long is followed by a longer pause."""
FRESH_S: Final = 1.0
OTHERS_FRESH_S: Final = 30.0
BLOCK_BYTES: Final = 512
FREE_SHARE: Final = 100
"""Of the files that a disk can hold, this share stays free, where it counts them."""
REMOVED: Final = ".removed-"
REMOVAL_LIMIT_S: Final = 300.0


class SpaceRefusedError(FirewallError):
    """A call may not write, for lack of space."""

    code = "workspace_full"


class InstallationFullError(SpaceRefusedError):
    """All workspaces together use what they may."""

    code = "workspaces_full"


class DiskReserveError(SpaceRefusedError):
    """The disk has left what is kept for records."""

    code = "disk_reserve"


class Used(NamedTuple):
    """Bytes on disk, and files, folders and links."""

    size_bytes: int = 0
    files: int = 0

    def is_beyond(self, other: "Used") -> bool:
        return self.size_bytes > other.size_bytes or self.files > other.files

    def plus(self, other: "Used") -> "Used":
        return Used(self.size_bytes + other.size_bytes, self.files + other.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """What workspaces may use.

    Args:
        workspace: one of them.
        installation: all together.
        free_bytes: stay free on each disk, so that records can be written whatever calls do.
    """

    workspace: Used
    installation: Used
    free_bytes: int


class WorkspaceUse(NamedTuple):
    """One workspace: its folder's two names, what it uses, and when a call last used it."""

    environment: str
    agent: str
    used: Used
    used_at: float


class _Measured(NamedTuple):
    used: Used
    at: float
    took_s: float
    problem: str = ""


def measure(folder: str, most: Used) -> Used:
    """Count what a folder holds; stop once it is beyond `most`. Other names of one file count as files, not as bytes.

    Raises:
        OSError: a part of it cannot be looked into.
    """
    used, seen, waiting = Used(), set[tuple[int, int]](), [folder]
    while waiting and not used.is_beyond(most):
        for entry in _entries(waiting.pop()):
            try:
                found = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # it went while we looked
                continue
            is_counted = found.st_nlink > 1 and (found.st_dev, found.st_ino) in seen
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            elif found.st_nlink > 1:
                seen.add((found.st_dev, found.st_ino))
            used = used.plus(Used(0 if is_counted else found.st_blocks * BLOCK_BYTES, 1))
            if used.is_beyond(most):
                break
    return used


def _entries(folder: str) -> "list[os.DirEntry[str]]":
    """List a folder, also one whose owner, a tool, has closed it."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        try:
            return list(os.scandir(folder))
        except PermissionError:
            descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                os.chmod(f"/proc/self/fd/{descriptor}", 0o700)  # noqa: PTH101 - by the descriptor: no link is followed
                return list(os.scandir(folder))
            finally:
                os.close(descriptor)
    return []


class Space:
    """Watches over the workspaces below one folder. Its methods may run in threads.

    Args:
        folder: holds a folder for each environment, and these one for each agent.
        disks: further folders whose disks keep the same reserve.
    """

    def __init__(self, folder: Path, quota: Quota, *, disks: Sequence[Path] = ()) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.quota = quota
        self._disks = disks
        self._measured: dict[str, _Measured] = {}
        self._uses = self.folder.with_name(f"{folder.name}-used")

    def owns(self, folder: str) -> bool:
        """Say whether a folder is a workspace."""
        return list(Path(folder).parents[1:2]) == [self.folder]

    def check(self, workspace: str) -> None:
        """Let a call through that may write to a workspace.

        Raises:
            SpaceRefusedError: the workspace, all of them, or the disk has no space for it.
        """
        self.note_use(workspace)
        self._check(workspace, fresh_s=FRESH_S)

    async def watch(self, workspace: str) -> SpaceRefusedError:
        """Wait until a workspace that is written to has no space left, and say why."""
        while True:
            started = time.monotonic()
            try:
                await asyncio.to_thread(self._check, workspace, fresh_s=0.0)
            except SpaceRefusedError as exc:
                return exc
            await asyncio.sleep(max(LOOK_S, CALM * (time.monotonic() - started)))

    def note_use(self, workspace: str) -> None:
        """Remember when a workspace was last used, where no tool can change it."""
        stamp = self._stamp(workspace)
        stamp.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        stamp.touch()

    def uses(self) -> list[WorkspaceUse]:
        """List the workspaces with what they use, the fullest first."""
        found = [
            WorkspaceUse(path.parent.name, path.name, self._use_of(str(path), FRESH_S), self._used_at(path))
            for path in self._workspaces()
        ]
        return sorted(found, key=lambda each: (-each.used.size_bytes, each[:2]))

    def free_bytes(self) -> int:
        """Return what is free on the fullest disk."""
        return min(_free(path)[0] for path in self._places())

    def unused_since(self, instant: float) -> list[WorkspaceUse]:
        """List the workspaces that no call has used since an instant, in seconds of the epoch."""
        return [each for each in self.uses() if each.used_at < instant]

    def remove(self, environment: str, agent: str) -> bool:
        """Remove a workspace with all it holds; say whether it was there."""
        path = self.folder / environment / agent
        aside = self.folder / f"{REMOVED}{secrets.token_hex(8)}"
        if path not in list(self._workspaces()):
            return False
        try:
            path.rename(aside)
        except FileNotFoundError:  # another process was first
            return False
        self._stamp(str(path)).unlink(missing_ok=True)
        self._measured.pop(str(path), None)
        _remove(aside)
        return True

    def clear_removed(self) -> None:
        """Remove what earlier removals left that did not come to their end."""
        for left in self.folder.glob(f"{REMOVED}*"):
            _remove(left)

    def _check(self, workspace: str, *, fresh_s: float) -> None:
        for place in self._places():
            free, is_short = _free(place)
            if free < self.quota.free_bytes or is_short:
                raise DiskReserveError(
                    f"the disk has {free // MEGABYTE} MB free, and {self.quota.free_bytes // MEGABYTE} MB are kept for "
                    "records (DISK_RESERVE_MB): an administrator has to make room"
                )
        used, _, _, problem = self._look(workspace, fresh_s)
        if problem:
            raise SpaceRefusedError(f"the workspace cannot be measured ({problem}): an administrator can empty it")
        if _is_full(used, self.quota.workspace):
            told = _told(used, self.quota.workspace)
            raise SpaceRefusedError(
                f"the workspace is full: it uses {told}; an administrator can empty it, or allow more "
                "(WORKSPACE_QUOTA_MB, WORKSPACE_QUOTA_FILES)"
            )
        others = (self._use_of(str(each), OTHERS_FRESH_S) for each in self._workspaces() if str(each) != workspace)
        total = reduce(Used.plus, others, used)
        if _is_full(total, self.quota.installation):
            told = _told(total, self.quota.installation)
            raise InstallationFullError(
                f"the workspaces are full: all together use {told}; an administrator can empty some, or allow more "
                "(WORKSPACES_QUOTA_MB, WORKSPACES_QUOTA_FILES)"
            )

    def _use_of(self, workspace: str, fresh_s: float) -> Used:
        return self._look(workspace, fresh_s).used

    def _look(self, workspace: str, fresh_s: float) -> _Measured:
        """Measure a workspace, or return what was measured a moment ago; what cannot be measured counts as full."""
        known = self._measured.get(workspace)
        started = time.monotonic()
        if known is not None and fresh_s and started - known.at < max(fresh_s, CALM * CALM * known.took_s):
            return known
        try:
            used, problem = measure(workspace, self.quota.workspace), ""
        except OSError as exc:
            used, problem = self.quota.workspace, exc.strerror or "unknown"
        now = time.monotonic()
        self._measured[workspace] = _Measured(used, now, now - started, problem)
        return self._measured[workspace]

    def _workspaces(self) -> Iterator[Path]:
        with contextlib.suppress(FileNotFoundError):
            for environment in self.folder.iterdir():
                if environment.is_dir() and not environment.name.startswith("."):
                    yield from (each for each in environment.iterdir() if each.is_dir())

    def _places(self) -> Iterator[Path]:
        """Name what lies on the disks that are looked at; a folder that is not made yet is its parent's matter."""
        for path in (self.folder, *self._disks):
            yield next(each for each in (path, *path.parents) if each.exists())

    def _stamp(self, workspace: str) -> Path:
        path = Path(workspace)
        return self._uses / path.parent.name / path.name

    def _used_at(self, workspace: Path) -> float:
        stamp = self._stamp(str(workspace))
        return (stamp if stamp.exists() else workspace).stat().st_mtime


def _is_full(used: Used, quota: Used) -> bool:
    return used.size_bytes >= quota.size_bytes or used.files >= quota.files


def _told(used: Used, quota: Used) -> str:
    return f"{used.size_bytes // MEGABYTE} of {quota.size_bytes // MEGABYTE} MB, {used.files} of {quota.files} files"


def _free(path: Path) -> tuple[int, bool]:
    """Return the free bytes of a disk, and whether it has hardly any room for further files."""
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize, bool(found.f_files) and found.f_favail < found.f_files // FREE_SHARE


def _remove(path: Path) -> None:
    """Remove a folder, however deep it is and whatever modes a tool has given to its parts; no link is followed."""
    for argv in (["chmod", "-R", "u+rwx", "--", str(path)], ["rm", "-rf", "--", str(path)]):
        subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=REMOVAL_LIMIT_S, check=False)
