"""The folders that a source opens to the file tools, besides each agent's workspace."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apps.firewall.errors import FirewallError
from apps.firewall.tools.connections import Connection
from apps.firewall.tools.paths import is_within


class FolderRefusedError(FirewallError):
    """A path that leads into no folder which may be used so."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder: as it is written, and its real path."""

    written: str
    real: str
    is_writable: bool


def choose_folder(path: str, workspace: str, connection: Connection, *, writes: bool) -> tuple[Folder, str]:
    """Find the folder that a path leads into, and the path within it.

    Args:
        path: relative to the workspace, or absolute.
    Raises:
        FolderRefusedError: it leads into none, or into one that may only be read.
    """
    own = Folder(workspace, workspace, is_writable=True)
    if not path.startswith("/"):
        return own, path
    folders = (own, *folders_of(connection))
    found = [
        (folder, path[len(base) :].lstrip("/") or ".")
        for folder in folders
        for base in {folder.written, folder.real}
        if is_within(path, base)
    ]
    if not found:
        names = ", ".join(["the workspace", *(f"`{folder.written}`" for folder in folders[1:])])
        raise FolderRefusedError("path_outside_folders", f"`{path}` is in no folder that may be used: {names}")
    folder, rest = max(found, key=lambda each: (len(each[0].real), each[0].is_writable))
    if writes and not folder.is_writable:
        raise FolderRefusedError("folder_read_only", f"files in `{folder.written}` may be read, not written")
    return folder, rest


def folders_of(connection: Connection) -> Iterator[Folder]:
    """List the folders of a source; keys and records of the installation are never among them."""
    for name, is_writable in (("write_folders", True), ("read_folders", False)):
        for written in connection.settings.get(name) or ():
            plain = written.rstrip("/")
            real = os.path.realpath(plain)
            if not is_closed(real, connection.closed):
                yield Folder(plain, real, is_writable)


def is_closed(folder: str, closed: Sequence[str]) -> bool:
    """Say whether a folder lies in a closed one, or around one."""
    real = [os.path.realpath(each) for each in closed]
    return any(is_within(folder, each) or is_within(each, folder) for each in real)


def unusable_folder(connection: Connection) -> str:
    """Say which folder of a source cannot be used, and why; empty when all can."""
    for name in ("write_folders", "read_folders"):
        for written in connection.settings.get(name) or ():
            if not os.path.isdir(written):  # noqa: PTH112 - as the rest of this module
                return f"`{written}` is no folder"
            if is_closed(os.path.realpath(written), connection.closed):
                return f"`{written}` lies in or around the folders of this installation"
    return ""
