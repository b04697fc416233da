"""File work that cannot leave one folder; also the program that the file tools run in a process of their own.

Standard library only: it starts as `python -I -S confined.py`, takes one order as JSON on stdin and answers with
one JSON object. A path is walked from the folder's descriptor one part at a time and no part may be a symbolic
link, so nothing that changes between a check and its use can lead outside.
"""

import contextlib
import errno
import json
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from typing import Any

FILE_LIMIT_BYTES = 10 * 1024 * 1024
TEXT_LIMIT_BYTES = 256 * 1024
DEFAULT_LINES = 2000
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
DRAFT_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class RefusedError(Exception):
    """The order asks for something the folder's rules do not give."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def parts_of(path: str) -> list[str]:
    """Split a relative path.

    Raises:
        RefusedError: it is absolute, climbs, or holds a NUL.
    """
    if path.startswith(("/", "~")):
        raise RefusedError("path_outside_workspace", f"`{path}` is not relative to the workspace")
    if "\0" in path:
        raise RefusedError("path_invalid", "a path cannot hold a NUL character")
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if ".." in parts:
        raise RefusedError("path_outside_workspace", f"`{path}` climbs with `..`")
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


def read_bytes(root: str, path: str) -> bytes:
    parts = parts_of(path)
    if not parts:
        raise RefusedError("not_a_file", f"`{path}` is a folder")
    with folder_beneath(root, parts[:-1]) as folder:
        descriptor = os.open(parts[-1], READ_FLAGS, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        check_regular(status, path)
        content = file.read(FILE_LIMIT_BYTES + 1)
    if len(content) > FILE_LIMIT_BYTES:
        raise RefusedError("file_too_large", f"`{path}` is larger than {FILE_LIMIT_BYTES} bytes")
    return content


def read(root: str, path: str, offset: int = 1, limit: int = DEFAULT_LINES) -> dict[str, Any]:
    """Read lines of a text file; what did not fit is stated, never silently dropped."""
    try:
        lines = read_bytes(root, path).decode("utf-8").splitlines(keepends=True)
    except UnicodeDecodeError as exc:
        raise RefusedError("not_text", f"`{path}` is not text in UTF-8") from exc
    kept: list[str] = []
    size = 0
    for line in lines[offset - 1 : offset - 1 + limit]:
        size += len(line.encode())
        if size > TEXT_LIMIT_BYTES:
            break
        kept.append(line)
    if not kept and offset <= len(lines):
        raise RefusedError("line_too_long", f"line {offset} of `{path}` is longer than {TEXT_LIMIT_BYTES} bytes")
    return {
        "path": path,
        "content": "".join(kept),
        "first_line": offset,
        "lines": len(kept),
        "total_lines": len(lines),
        "truncated": offset - 1 + len(kept) < len(lines),
    }


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


def write(root: str, path: str, content: str) -> dict[str, Any]:
    """Replace a text file as a whole: readers see the old or the new one, never a part."""
    body = content.encode()
    if len(body) > FILE_LIMIT_BYTES:
        raise RefusedError("file_too_large", f"the content is larger than {FILE_LIMIT_BYTES} bytes")
    parts = parts_of(path)
    if not parts:
        raise RefusedError("not_a_file", f"`{path}` is a folder")
    with folder_beneath(root, parts[:-1], make=True) as folder:
        mode = existing_mode(folder, parts[-1], path)
        draft = f".{secrets.token_hex(8)}.draft"
        descriptor = os.open(draft, DRAFT_FLAGS, 0o600, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(body)
                file.flush()
                os.fchmod(file.fileno(), 0o600 if mode is None else mode)
                os.fsync(file.fileno())
            os.replace(draft, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=folder)
            raise
    return {"path": path, "bytes": len(body), "created": mode is None}


ORDERS: dict[str, Callable[..., dict[str, Any]]] = {"read": read, "write": write}
CODES = {
    "FileNotFoundError": ("not_found", "`{path}` does not exist"),
    "NotADirectoryError": ("not_a_folder", "`{path}` goes through something that is not a folder"),
    "IsADirectoryError": ("not_a_file", "`{path}` is a folder"),
    "PermissionError": ("permission_denied", "`{path}` may not be used: permission denied"),
}


def refusal(exc: OSError, path: str) -> dict[str, str]:
    """Say what the system said, by path and code."""
    if exc.errno == errno.ELOOP:  # O_NOFOLLOW met a link
        return {"code": "symbolic_link", "message": f"`{path}` is or goes through a symbolic link"}
    code, message = CODES.get(type(exc).__name__, ("file_error", f"`{{path}}`: {exc.strerror}"))
    return {"code": code, "message": message.format(path=path)}


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """Carry out one order: `{"do", "root", "params"}` -> `{"result"}` or `{"error": {"code", "message"}}`."""
    try:
        return {"result": ORDERS[order["do"]](order["root"], **order["params"])}
    except RefusedError as exc:
        return {"error": {"code": exc.code, "message": exc.message}}
    except OSError as exc:
        return {"error": refusal(exc, str(order["params"].get("path", "")))}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(answer(json.load(sys.stdin)), ensure_ascii=True))
