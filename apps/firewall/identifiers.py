"""Identifiers: UUIDv7 made here, shown to people as prefix and Crockford base32 (`call_01j9…`)."""

import os
import re
import time
import uuid

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 26
_VALUES = {letter: value for value, letter in enumerate(ALPHABET)}
_SHOWN = re.compile(r"(?P<prefix>[a-z]+)_(?P<body>[0-7][0-9a-hjkmnp-tv-z]{25})")


def new_id(milliseconds: int | None = None) -> uuid.UUID:
    """Make a UUIDv7: 48 bits of milliseconds since the epoch, then 74 random bits.

    Args:
        milliseconds: of another moment than now.
    Source: RFC 9562, section 5.7.
    """
    if milliseconds is None:
        milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds & (2**48 - 1)) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return uuid.UUID(int=value)


def show_id(prefix: str, identifier: uuid.UUID) -> str:
    """Write an identifier for people: prefix, underscore, 26 letters of base32."""
    value = identifier.int
    letters = []
    for _ in range(LENGTH):
        letters.append(ALPHABET[value & 31])
        value >>= 5
    return f"{prefix}_{''.join(reversed(letters))}"


def read_id(prefix: str, shown: str) -> uuid.UUID:
    """Read what `show_id` wrote.

    Raises:
        ValueError: another prefix, or not an identifier.
    """
    match = _SHOWN.fullmatch(shown)
    if match is None or match["prefix"] != prefix:
        raise ValueError(f"not an identifier of kind `{prefix}`")
    value = 0
    for letter in match["body"]:
        value = value << 5 | _VALUES[letter]
    return uuid.UUID(int=value)


def id_range(prefix: str, begun: str) -> tuple[uuid.UUID, uuid.UUID]:
    """Give the first and the last identifier that `show_id` writes with this beginning.

    Raises:
        ValueError: none begins so.
    """
    body = begun.removeprefix(f"{prefix}_")
    first, last = (f"{prefix}_{body.ljust(LENGTH, filler)}" for filler in "0z")
    if body == begun or not body:
        raise ValueError(f"not the beginning of an identifier of kind `{prefix}`")
    return read_id(prefix, first), read_id(prefix, last)


def trace_parent(trace_id: str) -> str:
    """Write the header `traceparent` with which a call goes on elsewhere, under a span of its own.

    Source: W3C Trace Context, version 00.
    """
    return f"00-{trace_id}-{os.urandom(8).hex()}-01"


def trace_headers(trace_id: str) -> dict[str, str]:
    """Give the header that carries a trace on in a request; none where nothing is known of a trace."""
    return {"traceparent": trace_parent(trace_id)} if trace_id else {}
