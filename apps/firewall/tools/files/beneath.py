"""Opens what lies beneath a folder, and nothing else."""

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from apps.firewall.tools.files.refusals import RefusedError

FILE_LIMIT_BYTES = 10 * 1024 * 1024
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Seen(NamedTuple):
    """A file as it was read; `stamp` tells later whether it is still that one."""

    content: bytes
    mode: int
    stamp: tuple[int, int, int]


def parts_of(path: str, root: str = "") -> list[str]:
    """Split a path that is relative to the folder, or absolute and beneath `root`.

    Raises:
        RefusedError: it leads elsewhere, climbs, or holds a NUL.
    """
    if root and (path == root or path.startswith(root.rstrip("/") + "/")):
        path = path[len(root) :].lstrip("/")
    if path.startswith(("/", "~")):
        raise RefusedError("path_outside_workspace", f"`{path}` is not relative to the workspace")
    if "\0" in path:
        raise RefusedError("path_invalid", "a path cannot hold a NUL character")
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if ".." in parts:
        raise RefusedError("path_outside_workspace", f"`{path}` climbs with `..`")
    return parts


def file_parts(path: str, root: str) -> list[str]:
    """Split a path that must name a file."""
    parts = parts_of(path, root)
    if not parts:
        raise RefusedError("not_a_file", f"`{path}` is a folder")
    return parts


@contextlib.contextmanager
def folder_beneath(root: str, parts: list[str], *, make: bool = False) -> Iterator[int]:
    """Open the folder that the parts name, as a descriptor, making missing ones when asked."""
    current = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=current)
            deeper = os.open(part, FOLDER_FLAGS, dir_fd=current)
            os.close(current)
            current = deeper
        yield current
    finally:
        os.close(current)


def check_regular(status: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise RefusedError("not_a_file", f"`{path}` is not a regular file")
    if status.st_nlink > 1:
        raise RefusedError("path_outside_workspace", f"`{path}` has another name, which may lie outside the workspace")


def stamp_of(status: os.stat_result) -> tuple[int, int, int]:
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def see(root: str, path: str) -> Seen:
    """Read a whole file."""
    parts = file_parts(path, root)
    with folder_beneath(root, parts[:-1]) as folder:
        descriptor = os.open(parts[-1], READ_FLAGS, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        check_regular(status, path)
        content = file.read(FILE_LIMIT_BYTES + 1)
    check_size(content, path)
    return Seen(content, stat.S_IMODE(status.st_mode) & 0o777, stamp_of(status))


def see_text(root: str, path: str) -> tuple[Seen, str]:
    """Read a whole file that must be text in UTF-8; line ends and a mark at its beginning stay as they are."""
    seen = see(root, path)
    try:
        return seen, seen.content.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise RefusedError("not_text", f"`{path}` is not text in UTF-8") from exc


def check_size(content: bytes, path: str) -> None:
    if len(content) > FILE_LIMIT_BYTES:
        raise RefusedError("file_too_large", f"`{path}` is larger than {FILE_LIMIT_BYTES} bytes")
