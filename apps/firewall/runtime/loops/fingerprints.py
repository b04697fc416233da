"""Digests of JSON values: equal values give equal ones, in whatever order their members stand."""

import hashlib
import json
from typing import Any, Final

from apps.firewall.errors import FirewallError

_ENCODE: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode
_DIGEST_BYTES: Final = 16


class NotComparableError(FirewallError):
    """A value of a call or an outcome is no JSON, or too deep to be read."""

    code = "not_comparable"


def canonical(value: Any) -> str:
    """Write a JSON value so that equal ones are the same text; numbers count by value.

    Raises:
        NotComparableError: it is no JSON, or too deep.
    """
    try:
        return _ENCODE(_by_value(value))
    except (TypeError, ValueError, RecursionError) as exc:
        raise NotComparableError(f"the value cannot be compared: {type(exc).__name__}") from exc


def _by_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _by_value(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_by_value(member) for member in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def digest(value: Any, key: bytes) -> str:
    """Return the digest of a JSON value under a key of at most 64 bytes, in hexadecimal.

    Raises:
        NotComparableError: it is no JSON, or too deep.
    """
    return hashlib.blake2b(canonical(value).encode(), key=key, digest_size=_DIGEST_BYTES).hexdigest()
