"""What a command said: both streams in the order in which they came, as text, and of that the end."""

import codecs
import time
from typing import Final

LIMIT: Final = 100_000
"""Characters of a command's output that are held."""

OVERLAP: Final = 8_192
"""Held before that, so that a secret at the beginning is seen whole before its mask is cut."""

ROOM: Final = 2 * LIMIT


class Transcript:
    """The end of an output.

    Escape sequences are data like everything else; bytes that are no UTF-8, and NUL, become U+FFFD.
    """

    def __init__(self) -> None:
        self._decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")}
        self._parts: list[str] = []
        self._held = 0
        self._added_at = time.monotonic()
        self.total = 0

    @property
    def idle_s(self) -> float:
        """How long it has been silent."""
        return time.monotonic() - self._added_at

    def add(self, stream: str, part: bytes) -> None:
        """Take what a stream said."""
        self._add(self._decoders[stream].decode(part))

    def close(self) -> None:
        """Take what is left of characters that did not come whole: nothing will follow."""
        for decoder in self._decoders.values():
            self._add(decoder.decode(b"", final=True))

    def _add(self, text: str) -> None:
        if not text:
            return
        self._parts.append(text.replace("\0", "\ufffd"))
        self._held += len(text)
        self._added_at = time.monotonic()
        self.total += len(text)
        if self._held > ROOM:
            self.text()

    def text(self) -> str:
        """Give what is held: the end, with some more before it where there was more."""
        kept = "".join(self._parts)[-(LIMIT + OVERLAP) :]
        self._parts, self._held = [kept], len(kept)
        return kept
