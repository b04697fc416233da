"""The files that an approval is bound to: those that a command names, and the folders that it reads by itself.

Folders are walked within bounds: so many files each by itself, more as one digest a folder, and what lies beyond is
named, so that whoever is asked knows. Before the run the same is looked at in the same way as it was on record.
"""

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from apps.firewall.engine.exec_policy.reads import Bound, Reads, Unbound, expanded
from apps.firewall.runtime.executors.identifying import (
    FileUnreadableError,
    TooManyFilesError,
    identities,
    identity,
    lies_in,
    of_kernel,
)

FILES_LIMIT: Final = 4_000
WALKED_LIMIT: Final = 20_000
BYTES_LIMIT: Final = 32 * 1024 * 1024
FILE_BYTES_LIMIT: Final = 1024 * 1024
TIME_LIMIT_S: Final = 5.0
AGAIN_LIMIT_S: Final = 60.0
OUTSIDE_FILES_LIMIT: Final = 2_000
LEFT_OUT: Final = "left out"
HISTORY: Final = frozenset([".git/objects", ".git/logs"])
"""What Git keeps of the past: objects are named by their content, and no log is read by a command."""


@dataclass(slots=True)
class _Walk:
    """One look at the folders of a command, within its bounds.

    Args:
        recorded: what was found when a person was asked; None when that is now.
    """

    recorded: Mapping[str, str] | None
    deadline: float
    files: dict[str, str] = field(default_factory=dict)
    unbound: list[Unbound] = field(default_factory=list)
    walked: int = 0
    hashed_bytes: int = 0

    def folder(self, root: str, limit: int) -> None:
        """Look at a folder: its own files, then each folder in it."""
        own, inner = _listed(root)
        self._add(root, f"{root}/*", [Path(root, name) for name in own], limit)
        for name in inner:
            folder = str(Path(root, name))
            self._add(root, f"{folder}/**", _beneath(folder), limit)

    def _add(self, root: str, whole: str, paths: Iterable[Path], limit: int) -> None:
        before = None if self.recorded is None else self.recorded.get(whole)
        taken = None if before == LEFT_OUT or of_kernel(root) else self._taken(paths, limit)
        if taken is None:
            if self.recorded is not None and before != LEFT_OUT:
                raise TooManyFilesError(f"`{whole}` is too much to look at again before the run")
            self.files[whole] = LEFT_OUT
            self.unbound.append(Unbound("too_much", whole))
        elif before is not None or (self.recorded is None and len(taken) + len(self.files) > FILES_LIMIT):
            listed = "\n".join(f"{_text(path)}\0{_at(path, self._by_status)}" for path in taken)
            self.files[whole] = f"folder:{len(taken)}:{hashlib.sha256(listed.encode()).hexdigest()}"
        else:
            found = ((_text(path), _at(path, lambda path: self._identity(path, root))) for path in taken)
            self.files |= {path: what for path, what in found if what}

    def _taken(self, paths: Iterable[Path], limit: int) -> list[Path] | None:
        """Take what is to be looked at; None when that is too much."""
        taken: list[Path] = []
        for path in paths:
            taken.append(path)
            self.walked += 1
            if time.monotonic() > self.deadline or (self.recorded is None and self.walked > limit):
                return None
        return taken

    def _identity(self, path: Path, root: str) -> str:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            return self._link(path, root)
        before = None if self.recorded is None else self.recorded.get(_text(path), "")
        takes_content = stat.S_ISREG(status.st_mode) and status.st_size <= FILE_BYTES_LIMIT
        if before is None:
            takes_content = takes_content and self.hashed_bytes + status.st_size <= BYTES_LIMIT
        elif before.startswith("stat:"):
            takes_content = False
        if not takes_content:
            return self._by_status(path)
        self.hashed_bytes += status.st_size
        try:
            return f"{identity(path)} {stat.S_IMODE(status.st_mode):o}"
        except FileUnreadableError:
            return self._by_status(path)

    def _link(self, path: Path, root: str) -> str:
        """Identify a link by where it leads, and by what is there."""
        target = f"link {_text(path.readlink())}"
        if not path.is_dir():
            return f"{target} {identity(path) or 'nothing'}"
        if not lies_in(os.path.realpath(path), os.path.realpath(root)):
            self.unbound.append(Unbound("linked_folder", _text(path)))
        return target

    def _by_status(self, path: Path) -> str:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            return f"link {_text(path.readlink())}"
        if not stat.S_ISREG(status.st_mode):
            return f"special:{stat.S_IFMT(status.st_mode):o}"
        return f"stat:{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"


def bound_files(
    executable: str,
    words: Sequence[str],
    reads: Reads,
    *,
    workspace: str,
    recorded: Mapping[str, str] | None = None,
) -> Bound:
    """Look at everything that a command names, and reads by itself.

    Args:
        words: of the command, the program first, and of everything inside it that may name a file.
        recorded: what was found when a person was asked, so that the same is looked at.
    Raises:
        FileUnreadableError: a file that it names cannot be read.
        TooManyFilesError: it names more than can be looked at, or the folders hold far more than before.
    """
    deadline = time.monotonic() + (TIME_LIMIT_S if recorded is None else AGAIN_LIMIT_S)
    walk = _Walk(recorded, deadline)
    if reads.is_open:
        walk.folder(workspace, WALKED_LIMIT)
    for folder in _other_folders(reads, workspace):
        walk.folder(folder, walk.walked + OUTSIDE_FILES_LIMIT)
    settings = [str(Path(workspace, each)) for each in reads.settings]
    for each in settings:
        if Path(each).is_dir() and not reads.is_open:
            walk.folder(each, WALKED_LIMIT)
    named = identities(executable, [*words, *settings], reads.folders[0], folders=reads.folders[1:], home=workspace)
    streams = [Unbound("stream", word) for word in dict.fromkeys(words[1:]) if _is_stream(word, reads.folders)]
    return Bound({**walk.files, **named}, (*streams, *_some(walk.unbound)))


def _other_folders(reads: Reads, workspace: str) -> list[str]:
    """Give the folders that are read besides an open command's workspace, each once, none inside of another."""
    taken = [workspace] if reads.is_open else []
    chosen: list[str] = []
    candidates = list(reads.folders) if reads.is_open else []
    for word in reads.contents:
        values = [word, word.partition("=")[2], word[2:] if word.startswith("-") else ""]
        for base in reads.folders:
            candidates += [str(Path(base, expanded(each, home=workspace, folder=base))) for each in values if each]
    for folder in dict.fromkeys(map(_real, candidates)):
        if folder and Path(folder).is_dir() and not any(lies_in(folder, each) for each in (*taken, *chosen)):
            chosen.append(folder)
    return chosen


def _real(path: str) -> str:
    try:
        return os.path.realpath(path) if "\0" not in path and len(path) <= os.pathconf("/", "PC_PATH_MAX") else ""
    except (OSError, ValueError):
        return ""


def _is_stream(word: str, folders: Sequence[str]) -> bool:
    """Say whether a word names something that gives other bytes each time: a pipe, a terminal, the kernel's own."""
    for folder in folders:
        if any(lies_in(str(Path(folder, word)), each) for each in OPEN_FILES):
            return True
        path = _real(str(Path(folder, word)))
        try:
            mode = os.stat(path).st_mode if path else 0  # noqa: PTH116 - no file of ours
        except (OSError, ValueError):
            continue
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISCHR(mode) and path not in QUIET) or of_kernel(path):
            return True
    return False


OPEN_FILES: Final = ("/dev/fd", "/dev/stdin", "/proc")
QUIET: Final = frozenset(["/dev/null", "/dev/full", "/dev/zero", "/dev/random", "/dev/urandom"])
SHOWN_LIMIT: Final = 20


def _some(unbound: Sequence[Unbound]) -> tuple[Unbound, ...]:
    """Give the first of many; the last says that there are more."""
    once = tuple(dict.fromkeys(unbound))
    if len(once) <= SHOWN_LIMIT:
        return once
    return (*once[:SHOWN_LIMIT], Unbound("too_much", f"+{len(once) - SHOWN_LIMIT}"))


def _listed(folder: str) -> tuple[list[str], list[str]]:
    """List a folder: what is no folder in it, and what is; a folder that may not be read has nothing."""
    own: list[str] = []
    inner: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                (inner if entry.is_dir(follow_symlinks=False) else own).append(entry.name)
    except PermissionError:
        return [], []
    return sorted(own), sorted(inner)


def _beneath(folder: str) -> Iterator[Path]:
    """Give everything beneath a folder that is no folder itself, in one order."""
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        if any(current.endswith(f"/{each}") for each in HISTORY):
            continue
        own, inner = _listed(current)
        yield from (Path(current, name) for name in own)
        waiting += [str(Path(current, name)) for name in reversed(inner)]


def _at(path: Path, identify: Callable[[Path], str]) -> str:
    """Identify what was listed; empty for what has gone since."""
    try:
        return identify(path)
    except FileNotFoundError:
        return ""


def _text(path: str | Path) -> str:
    """Write a path as text that can be stored; bytes that are none stand as `\\xNN`."""
    return os.fsencode(path).decode(errors="backslashreplace")
