"""Takes the lines with news out of what the program `host.py` writes; what remains is the answer."""

import json
from typing import Final

from apps.firewall.tools.progress import read_progress, reporter

NEWS: Final = b'{"progress": '
LINE_LIMIT_BYTES: Final = 32 * 1024


class NewsSift:
    """One stream of one run."""

    def __init__(self) -> None:
        self._report = reporter()
        self._line = b""  # as far as it is not known, or known to be news
        self._is_answer = False

    def watch(self, stream: str, part: bytes) -> bytes:
        """Take a part, report the news in it and give on the rest."""
        if stream != "stdout":
            return part
        kept = []
        for piece in part.splitlines(keepends=True):
            kept.append(self._piece(piece))
        return b"".join(kept)

    def _piece(self, piece: bytes) -> bytes:
        if self._is_answer:
            self._is_answer = not piece.endswith(b"\n")
            return piece
        self._line += piece
        if not NEWS.startswith(self._line[: len(NEWS)]) or len(self._line) > LINE_LIMIT_BYTES:
            line, self._line = self._line, b""
            self._is_answer = not line.endswith(b"\n")
            return line
        if self._line.endswith(b"\n"):
            self._tell(self._line)
            self._line = b""
        return b""

    def _tell(self, line: bytes) -> None:
        try:
            news = read_progress(json.loads(line).get("progress"))
        except (ValueError, RecursionError, AttributeError):
            return  # authors' code wrote it itself; it is no answer either
        if news is not None:
            self._report(news)
