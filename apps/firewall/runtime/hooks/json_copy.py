"""Copies of JSON values, made before they cross to or from somebody else's code."""

import math
from typing import Any, Final

from apps.firewall.errors import FirewallError

DEPTH_LIMIT: Final = 64
_NODE_BYTES: Final = 8


class NotJsonError(FirewallError):
    """A value that is no JSON, too deep or too large."""

    code = "not_json"


class TooLargeError(NotJsonError):
    """A value that takes more room than it may."""


class _Copying:
    """One copy on its way; `left` counts down the room that the value may still take, roughly in bytes.

    Plain types only: a subclass may do anything when it is read.
    """

    def __init__(self, limit_bytes: int | None) -> None:
        self.left = limit_bytes

    def copy(self, value: Any, depth: int) -> Any:
        if depth > DEPTH_LIMIT:
            raise NotJsonError(f"the value is deeper than {DEPTH_LIMIT} levels")
        if type(value) is dict:
            self._take(len(value) * _NODE_BYTES)
            return {self._key(key): self.copy(member, depth + 1) for key, member in value.items()}
        if type(value) is list or type(value) is tuple:
            self._take(len(value) * _NODE_BYTES)
            return [self.copy(member, depth + 1) for member in value]
        return self._scalar(value)

    def _key(self, key: Any) -> str:
        if type(key) is not str:
            raise NotJsonError("a key is not a text")
        self._take(len(key))
        return key

    def _scalar(self, value: Any) -> Any:
        if type(value) is str:
            self._take(len(value))
        elif type(value) is int:
            self._take(value.bit_length() // 3)
        elif type(value) is float:
            if not math.isfinite(value):
                raise NotJsonError(f"`{value}` is no JSON number")
        elif value is not None and type(value) is not bool:
            raise NotJsonError(f"a value of kind {type(value).__name__} is no JSON")
        return value

    def _take(self, size: int) -> None:
        if self.left is None:
            return
        self.left -= size
        if self.left < 0:
            raise TooLargeError("the value is too large")


def json_copy(value: Any, *, limit_bytes: int | None = None) -> Any:
    """Copy a JSON value deeply; nothing of the copy is shared with the original.

    Args:
        limit_bytes: the room it may take, roughly; None for any.
    Raises:
        NotJsonError: the value is no JSON, deeper than `DEPTH_LIMIT` or larger than the limit.
    """
    return _Copying(limit_bytes).copy(value, 0)
