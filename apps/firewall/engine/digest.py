"""Canonical JSON and its digest: the same values give the same bytes on any machine."""

import hashlib
import json
from typing import Any

from apps.firewall.errors import FirewallError


class CanonicalError(FirewallError):
    """A value that has no canonical form; `path` leads to it."""

    code = "not_canonical"

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(message)
        self.path = path


def canonical_json(document: Any) -> bytes:
    """Encode a document as UTF-8 JSON with sorted keys and no white space.

    Args:
        document: objects with text keys, lists, texts, integers, booleans and None. There are no floats: two machines
            may write them differently.
    Raises:
        CanonicalError: something else is in the document.
    """
    _refuse_others(document, "")
    return _encoded(document)


def canonical_json_checked(document: Any) -> bytes:
    """Encode a document whose every value is known to be of the kinds that `canonical_json` accepts."""
    return _encoded(document)


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of canonical bytes in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _encoded(document: Any) -> bytes:
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError as exc:
        raise CanonicalError("a text holds half a surrogate pair", path="") from exc


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
