"""Fingerprints of what fails of a guardrail: equal exactly where the same fails, so that an acceptance can name it."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import compress
from typing import Final

from apps.firewall.engine.columns import numbers_of
from apps.firewall.engine.diff_boxes import Box, Frame

_ENCODE: Final = json.JSONEncoder(separators=(",", ":")).encode
_ENCODE_LINES: Final = json.JSONEncoder(separators=("\n", ":")).encode
_BITS: Final = bytes.maketrans(b"01", b"\0\1")


class Fingerprints:
    """Digests of what fails. Each conversation and voice of a frame is written once for all guardrails."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    @cached_property
    def _conversations(self) -> list[str]:
        return _written(self._frame.conversations)

    @cached_property
    def _voices(self) -> list[str]:
        senders = _written([sender for _, sender in self._frame.voices])
        where = self._conversations
        return [f"[{where[at]},{sender}]" for at, sender in zip(self._frame.voice_at, senders, strict=True)]

    def of(self, tools: tuple[str, ...], agents: tuple[str, ...], classes: int, boxes: list[Box]) -> str:
        """Return a digest of what fails: for whom, where, and in how many contexts."""
        groups, silent, voices = 0, 0, 0
        for box in boxes:
            groups, silent, voices = groups | box.groups, silent | box.silent, voices | box.voices
        speakers = (sender for number in numbers_of(groups) for sender, _ in self._frame.groups[number].speakers)
        told = [tools, agents, classes, sorted({state for box in boxes for state in box.states}, key=str)]
        pieces = [
            *map(_ENCODE, told),
            _ENCODE(sorted(speakers)),
            _list(_chosen(self._conversations, silent)),
            _list(_chosen(self._voices, voices) if voices else ()),
        ]
        return hashlib.sha256(_list(pieces).encode()).hexdigest()


def _written(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Write rows of texts as JSON, each by itself; all texts at once, for no text of JSON holds the end of a line."""
    if not rows:
        return []
    texts = iter(_ENCODE_LINES([text for row in rows for text in row])[1:-1].split("\n"))
    return [f"[{','.join(parts)}]" for parts in zip(*[texts] * len(rows[0]), strict=True)]


def _chosen(pieces: Sequence[str], mask: int) -> Iterable[str]:
    """Return the pieces whose bits are in a mask."""
    return compress(pieces, format(mask, "b")[::-1].encode().translate(_BITS))


def _list(pieces: Iterable[str]) -> str:
    return f"[{','.join(pieces)}]"
