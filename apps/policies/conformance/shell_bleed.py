"""Adapter of the area `shell_bleed`: the files of a vector lie in a folder of their own."""

import posixpath
from collections.abc import Mapping
from typing import Any, Final

from apps.firewall.engine.dialect import Dialect
from apps.firewall.shell.bleed import SCRIPT_LIMIT_BYTES, Unread, preflight

_FOLDER: Final = "/work-folder"


class _RecordedScripts:
    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = {posixpath.join(_FOLDER, path): text for path, text in files.items()}

    def read(self, path: str) -> bytes | Unread:
        text = self._files.get(posixpath.normpath(posixpath.join(_FOLDER, path)))
        content = None if text is None else text.encode(errors="replace")
        if content is None:
            return Unread.MISSING
        return Unread.TOO_LARGE if len(content) > SCRIPT_LIMIT_BYTES else content


def run(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a row."""
    bleed = preflight(dialect, given["command"], _RecordedScripts(given["files"])).bleed
    if bleed is None:
        return {"ok": True}
    answer: dict[str, Any] = {"ok": False, "kind": bleed.kind}
    if bleed.kind == "shell_variable":
        answer |= {"token": bleed.token, "line": bleed.line, "language": bleed.language, "file": bleed.file}
    return answer
