"""Adapter of the area `shell_bleed`: the files of a vector lie in a folder of their own."""

import posixpath
from collections.abc import Mapping
from typing import Any, Final

from apps.firewall.engine.dialect import Dialect
from apps.firewall.shell.bleed import Unread, preflight

_FOLDER: Final = "/work-folder"


class _RecordedScripts:
    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = {posixpath.join(_FOLDER, path): text for path, text in files.items()}

    def read(self, path: str) -> bytes | Unread:
        text = self._files.get(posixpath.normpath(posixpath.join(_FOLDER, path)))
        return Unread.MISSING if text is None else text.encode()


def run(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a row."""
    bleed = preflight(dialect, given["command"], _RecordedScripts(given["files"])).bleed
    if bleed is None:
        return {"ok": True}
    answer: dict[str, Any] = {"ok": False, "kind": bleed.kind}
    if bleed.kind == "shell_variable":
        answer |= {"token": bleed.token, "line": bleed.line, "language": bleed.language, "file": bleed.file}
    return answer
