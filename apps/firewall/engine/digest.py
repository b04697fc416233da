"""Canonical JSON and its digest: the same values give the same bytes on any machine."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from apps.firewall.errors import FirewallError


class CanonicalError(FirewallError):
    """A value that has no canonical form; `path` leads to it."""

    code = "not_canonical"

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(message)
        self.path = path


_LEVELS: Final = 5  # down to a single group of a channel
_DEPTH: Final = 64
_TEXT: Final = frozenset({str})
_SCALARS: Final = frozenset({str, int, bool, type(None)})
_ENCODE: Final = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def canonical_json(document: Any) -> bytes:
    """Encode a document as UTF-8 JSON with sorted keys and no white space.

    Args:
        document: objects with text keys, lists, texts, integers, booleans and None. There are no floats: two machines
            may write them differently.
    Raises:
        CanonicalError: something else is in the document.
    """
    if not _is_plain(document):
        _refuse_others(document, "")  # walks once more, to say where
    try:
        return "".join(_pieces(document, _LEVELS)).encode()
    except UnicodeEncodeError as exc:
        raise CanonicalError("a text holds half a surrogate pair", path="") from exc


def read_canonical(content: bytes) -> Any:
    """Decode canonical bytes, piece by piece for the same reason as they are written so.

    Raises:
        ValueError: the bytes are not canonical JSON, or hold a number that is not whole.
    """
    text = content.decode()
    try:
        value, end = _read(text, 0, _LEVELS)
    except IndexError as exc:
        raise ValueError("the text ends too early") from exc
    if end != len(text):
        raise ValueError("something follows the document")
    return value


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of canonical bytes in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _pieces(value: Any, levels: int) -> Iterator[str]:
    """Encode the upper levels one member at a time: no other thread may run while the encoder is at work."""
    if levels and value and isinstance(value, dict):
        mark = "{"
        for key in sorted(value):
            yield f"{mark}{_ENCODE(key)}:"
            yield from _pieces(value[key], levels - 1)
            mark = ","
        yield "}"
    elif levels and value and isinstance(value, list | tuple):
        mark = "["
        for member in value:
            yield mark
            yield from _pieces(member, levels - 1)
            mark = ","
        yield "]"
    else:
        yield _ENCODE(value)


def _read(text: str, at: int, levels: int) -> tuple[Any, int]:
    """Decode the value that begins here, and return where it ends."""
    mark = text[at]
    if not levels or mark not in "{[" or text[at + 1] in "}]":
        return _DECODER.raw_decode(text, at)
    members: list[Any] = []
    keys: list[str] = []
    while text[at] not in "}]":
        if text[at] not in "{[,":
            raise ValueError(f"no member ends at {at}")
        at += 1
        if mark == "{":
            key, at = _DECODER.raw_decode(text, at)
            if not isinstance(key, str) or text[at] != ":":
                raise ValueError(f"no member begins at {at}")
            keys.append(key)
            at += 1
        member, at = _read(text, at, levels - 1)
        members.append(member)
    return (dict(zip(keys, members, strict=True)) if mark == "{" else members), at + 1


def _refuse_number(text: str) -> NoReturn:
    raise ValueError(f"the number `{text}` is not whole")


_DECODER: Final = json.JSONDecoder(parse_float=_refuse_number, parse_constant=_refuse_number)


def _is_plain(document: Any) -> bool:
    """Say whether a document of ordinary depth holds nothing but what has a canonical form, of exactly those kinds."""
    level = [document]
    for _ in range(_DEPTH):
        below: list[Any] = []
        for value in level:
            if type(value) is dict:
                if not _TEXT.issuperset(map(type, value)):
                    return False
                value = value.values()
            elif type(value) is not list and type(value) is not tuple:
                return type(value) in _SCALARS and value is document
            if not _SCALARS.issuperset(map(type, value)):
                below.extend(member for member in value if type(member) not in _SCALARS)
        if not below:
            return True
        level = below
    return False


def _refuse_others(value: Any, path: str) -> None:
    if isinstance(value, str | bool | int | None):
        return
    if isinstance(value, dict):
        for key, member in value.items():
            if not isinstance(key, str):
                raise CanonicalError(f"a key of `{path or '/'}` is not a text", path=path)
            _refuse_others(member, f"{path}/{key}")
    elif isinstance(value, list | tuple):
        for position, member in enumerate(value):
            _refuse_others(member, f"{path}/{position}")
    else:
        kind = "a float" if isinstance(value, float) else f"of kind {type(value).__name__}"
        raise CanonicalError(f"the value at `{path}` is {kind}", path=path)
