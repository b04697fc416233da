"""Each agent's private folder."""

import hashlib
import os
import re
from pathlib import Path

from apps.firewall.errors import FirewallError
from apps.firewall.runtime.call import Call, JsonObject
from apps.firewall.tools.files.beneath import folder_beneath, parts_of
from apps.firewall.tools.files.refusals import RefusedError

PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class WorkdirError(FirewallError):
    """A command wants to start somewhere that is no folder of its workspace."""

    code = "workdir_invalid"


class HostFiles:
    """The file system of this machine."""

    def is_program(self, path: str) -> bool:
        try:
            return Path(path).is_file() and os.access(path, os.X_OK)
        except PermissionError:  # it lies in a folder that we may not enter
            return False

    def real_path(self, path: str) -> str:
        return os.path.realpath(path)


def folder_name(text: str) -> str:
    """Name a folder after an agent or environment; what is no plain name becomes a hash."""
    return text if PLAIN_NAME.fullmatch(text) else f"x-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


class Workspaces:
    """The private folder of each agent, below one folder of the installation."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def workspace(self, call: Call) -> str:
        """Give the folder of the call's agent, made when missing."""
        path = self._folder / folder_name(call.environment) / folder_name(call.agent)
        for folder in (self._folder, path.parent, path):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.path.realpath(path)

    def workdir(self, call: Call, params: JsonObject) -> str:
        """Give the folder a command starts in.

        Raises:
            WorkdirError: it is not a folder of the workspace.
        """
        root = self.workspace(call)
        wanted = params.get("workdir")
        if wanted is None:
            return root
        try:
            parts = parts_of(wanted, root)
            with folder_beneath(root, parts):
                return str(Path(root, *parts))
        except RefusedError as exc:
            raise WorkdirError(exc.message) from exc
        except OSError as exc:
            raise WorkdirError(f"`{wanted}` is no folder of the workspace") from exc
