"""Writes files: as a whole, so that readers see the old or the new one and never a part, or at their end."""

import contextlib
import os
import secrets
import stat
from typing import Any

from apps.firewall.tools.files.beneath import (
    FILE_LIMIT_BYTES,
    check_regular,
    check_size,
    file_parts,
    folder_beneath,
    stamp_of,
)
from apps.firewall.tools.files.refusals import RefusedError

DRAFT_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
APPEND_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
NEW_MODE = 0o600


def write(root: str, path: str, content: str) -> dict[str, Any]:
    """Replace a text file as a whole, or make it."""
    body = body_of(content, path)
    parts = file_parts(path, root)
    with folder_beneath(root, parts[:-1], make=True) as folder:
        mode = existing_mode(folder, parts[-1], path)
        replace_file(folder, parts[-1], body, NEW_MODE if mode is None else mode)
    return {"path": path, "bytes": len(body), "created": mode is None}


def append(root: str, path: str, content: str) -> dict[str, Any]:
    """Add to the end of a text file, or make it; what could not be written whole is taken off again."""
    body = body_of(content, path)
    parts = file_parts(path, root)
    with folder_beneath(root, parts[:-1], make=True) as folder:
        is_new = existing_mode(folder, parts[-1], path) is None
        descriptor = os.open(parts[-1], APPEND_FLAGS, NEW_MODE, dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        check_regular(status, path)
        check_room(status.st_size + len(body), path)
        _add(descriptor, body, status.st_size)
    finally:
        os.close(descriptor)
    return {"path": path, "bytes": len(body), "created": is_new, "size": status.st_size + len(body)}


def check_room(size: int, path: str) -> None:
    if size > FILE_LIMIT_BYTES:
        raise RefusedError("file_too_large", f"`{path}` would be larger than {FILE_LIMIT_BYTES} bytes")


def _add(descriptor: int, body: bytes, size: int) -> None:
    try:
        if os.write(descriptor, body) < len(body):
            raise RefusedError("file_error", "the disk is full: nothing was added")
        os.fsync(descriptor)
    except (OSError, RefusedError):
        os.ftruncate(descriptor, size)
        raise


def existing_mode(folder: int, name: str, path: str) -> int | None:
    """Tell the mode of the file that is about to be replaced; None when there is none."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(status.st_mode):
        raise RefusedError("symbolic_link", f"`{path}` is a symbolic link")
    if not stat.S_ISREG(status.st_mode):
        raise RefusedError("not_a_file", f"`{path}` is not a regular file")
    return stat.S_IMODE(status.st_mode) & 0o777


def replace_file(folder: int, name: str, body: bytes, mode: int) -> None:
    """Put a file of this content in the place of whatever has the name."""
    draft = draft_file(folder, body, mode)
    try:
        os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        discard(folder, draft)
        raise


def draft_file(folder: int, body: bytes, mode: int) -> str:
    """Write a file under a name that nobody else has, and give the name."""
    draft = draft_name()
    descriptor = os.open(draft, DRAFT_FLAGS, NEW_MODE, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
    except BaseException:
        discard(folder, draft)
        raise
    return draft


def draft_name() -> str:
    return f".{secrets.token_hex(8)}.draft"


def discard(folder: int, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def check_unchanged(folder: int, name: str, stamp: tuple[int, int, int], path: str) -> None:
    """Refuse to write over what somebody else wrote since it was read."""
    try:
        now = stamp_of(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        now = None
    if now != stamp:
        raise RefusedError("changed_meanwhile", f"`{path}` has changed since it was read: read it again")


def body_of(content: str, path: str) -> bytes:
    """Give a text as it is stored."""
    try:
        body = content.encode()
    except UnicodeEncodeError as exc:
        raise RefusedError("not_text", f"the content for `{path}` holds half a character") from exc
    check_size(body, path)
    return body
