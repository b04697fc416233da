"""Cuts a JSON value to a size and says so at the place where it ends."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.redaction.masks import MASK, MASK_START

REST: Final = "…"
"""The member that holds the statement where an object was cut."""
ROOM_FOR_STATEMENT: Final = 100


@dataclass(frozen=True, slots=True)
class Cut:
    """A value of which only the beginning is left. Sizes are in the units it was cut by.

    Args:
        size: of the whole.
        kept: of what is left, without the statement.
    """

    value: Any
    size: int
    kept: int

    @property
    def is_cut(self) -> bool:
        return self.kept < self.size


def characters_of(value: Any) -> int:
    """Count the code points of every text, name, number and truth value in a JSON value."""
    return _CHARACTERS.size(value)


def bytes_of(value: Any) -> int:
    """Count the same in bytes of UTF-8."""
    return _BYTES.size(value)


def cut_value(value: Any, limit: int, *, size: int | None = None, states: bool = True, go_on: str = "") -> Cut:
    """Keep the beginning of a JSON value, in the order in which it is written.

    Where it ends stands one statement of how much is shown, and nothing follows: in a text at its end, in a list as
    the last item, in an object as the member `…`. The statement counts as part of what is kept.

    Args:
        limit: code points, at least 1.
        size: of the whole, when the value is only the beginning of it.
        states: False leaves the statement out, for a copy that is cut again.
        go_on: what the statement adds: how to get what follows.
    """
    whole = characters_of(value) if size is None else size
    return _cut(value, limit, whole, _CHARACTERS, states=states, go_on=go_on)


def cut_to_bytes(value: Any, limit: int, *, size: int | None = None) -> Cut:
    """Do the same by bytes of UTF-8, for what is stored."""
    return _cut(value, limit, bytes_of(value) if size is None else size, _BYTES, states=True)


def _cut(value: Any, limit: int, size: int, unit: "_Unit", *, states: bool, go_on: str = "") -> Cut:
    if size <= limit:
        return Cut(value, size, size)
    stated = ROOM_FOR_STATEMENT + unit.measure(go_on)
    room = limit - stated if states and limit > 2 * stated else limit
    kept = min(room, unit.size(value))
    statement = f"[cut: the first {kept:,} of {size:,} {unit.name} are shown]" if states else ""
    if statement and go_on:
        statement += f" {go_on}"
    cutter = _Cutter(room, unit.measure, statement)
    shown = cutter.walk(value)
    return Cut(shown if cutter.is_over or not states else _stated(shown, statement), size, kept)


def _stated(value: Any, statement: str) -> Any:
    """Say at the end of a whole value that it is only the beginning of something."""
    if isinstance(value, list):
        return [*value, statement]
    if isinstance(value, Mapping):
        content = value.get("content")
        if isinstance(content, list):
            return {**value, "content": [*content, {"type": "text", "text": statement}]}
        return {**value, REST: statement}
    return f"{value}\n\n{statement}" if isinstance(value, str) else statement


class _Cutter:
    """One walk through one value, which ends where its room does."""

    def __init__(self, room: int, measure: Callable[[str], int], statement: str) -> None:
        self._left = room
        self._measure = measure
        self._statement = statement
        self.is_over = False

    def walk(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return self._mapping(value)
        if isinstance(value, list | tuple):
            return self._list(value)
        if isinstance(value, str):
            return value if self._takes(value) else self._text(value)
        return value if value is None or self._takes(str(value)) else self._end()

    def _takes(self, text: str) -> bool:
        size = self._measure(text)
        if size > self._left:
            return False
        self._left -= size
        return True

    def _end(self) -> str:
        self.is_over = True
        return self._statement

    def _text(self, text: str) -> str:
        head = _head(text, self._left, self._measure)
        masks = head.rfind(MASK_START)
        mask = MASK.match(text, masks) if masks >= 0 else None
        if mask is not None and mask.end() > len(head):
            head = head[:masks]  # half a mask would be told of as if it stood there
        return f"{head}\n\n{self._end()}" if head and self._statement else head + self._end()

    def _mapping(self, mapping: Mapping[str, Any]) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for name, value in mapping.items():
            if not self._takes(name):
                statement = self._end()
                return kept | ({REST: statement} if statement else {})
            kept[name] = self.walk(value)
            if self.is_over:
                break
        return kept

    def _list(self, items: Iterable[Any]) -> list[Any]:
        kept: list[Any] = []
        for item in items:
            kept.append(self.walk(item))
            if self.is_over:
                break
        return kept


def _head(text: str, room: int, measure: Callable[[str], int]) -> str:
    if measure is len:
        return text[:room]
    return text.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class _Unit:
    """What sizes are counted in."""

    name: str
    measure: Callable[[str], int]

    def size(self, value: Any) -> int:
        total, left = 0, [value]
        while left:
            each = left.pop()
            if isinstance(each, str):
                total += self.measure(each)
            elif isinstance(each, Mapping):
                total += sum(map(self.measure, each))
                left.extend(each.values())
            elif isinstance(each, list | tuple):
                left.extend(each)
            elif each is not None:
                total += self.measure(str(each))
        return total


_CHARACTERS: Final = _Unit("characters", len)
_BYTES: Final = _Unit("bytes", _bytes)
