"""Paths in params: what they really lead to, and whether that lies in an allowed folder."""

import os
import stat
from collections.abc import Sequence

from apps.firewall.errors import FirewallError

PATH_LIMIT = 4096


class PathRefusedError(FirewallError):
    """A path that leads nowhere or where it may not."""

    code = "path_refused"


def real_file(text: str, folders: Sequence[str]) -> str:
    """Give the real path of a readable regular file inside one of the folders.

    Args:
        text: absolute, or relative to the first folder.
        folders: absolute paths.
    Raises:
        PathRefusedError: it is none, also when a link leads out of the folders.
    """
    path, status = _look(text, folders)
    if not stat.S_ISREG(status.st_mode):
        raise PathRefusedError("is not a regular file")
    if status.st_nlink > 1:
        raise PathRefusedError("has another name, which may lie outside the allowed folders")
    if not os.access(path, os.R_OK):
        raise PathRefusedError("cannot be read")
    return path


def real_directory(text: str, folders: Sequence[str]) -> str:
    """Give the real path of a readable folder that is one of the folders or inside one.

    Raises:
        PathRefusedError: it is none, also when a link leads out of the folders.
    """
    path, status = _look(text, folders)
    if not stat.S_ISDIR(status.st_mode):
        raise PathRefusedError("is not a folder")
    if not os.access(path, os.R_OK | os.X_OK):
        raise PathRefusedError("cannot be read")
    return path


def _look(text: str, folders: Sequence[str]) -> tuple[str, os.stat_result]:
    """Resolve first and look whether it is allowed before anything is said about what is there."""
    if not text or "\0" in text or text.startswith("~") or len(text) > PATH_LIMIT:
        raise PathRefusedError("is not a path")
    if not folders:
        raise PathRefusedError("is outside the allowed folders")
    try:
        path = os.path.realpath(os.path.join(folders[0], text))  # noqa: PTH118 - Path would drop a trailing slash
        if not any(is_within(path, os.path.realpath(folder)) for folder in folders):
            raise PathRefusedError("is outside the allowed folders")
        return path, os.stat(path, follow_symlinks=False)  # noqa: PTH116 - nothing may be followed any more
    except FileNotFoundError as exc:
        raise PathRefusedError("does not exist") from exc
    except (OSError, ValueError) as exc:
        raise PathRefusedError("cannot be read") from exc


def is_within(path: str, folder: str) -> bool:
    """Say whether a real path is a folder or lies beneath it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
