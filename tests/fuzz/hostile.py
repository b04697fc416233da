"""Values that no client of ours sends, and JSON that holds one of them somewhere."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

DEEP = 980
"""Levels that the reader of JSON takes and that recursion over what it read would not."""


def nested(depth: int, core: Any) -> Any:
    """Put a value into lists in lists."""
    for _ in range(depth):
        core = [core]
    return core


VALUES: list[Any] = [
    None, True, False, 0, -1, 2**31, 2**63, 2**64, 10**30, -(10**400), 1e-320, 0.1, "", " ", "\x00", "a\x00b", "\ud83d",
    "\udc00\ud800", "\u202e\ufeff", "x" * 70_000, "9" * 5000, "nan", "0000-01-01T00:00:00Z", "10000-01-01",
    "9999-12-31T23:59:59+23:59", "2026-02-30", "%s%(x)s", "((((", "[", "../..", "agent:bot:main", "group:fs", "*",
    "ap_00000000000000000000000000", "call_1", [], {}, [[]], [None], ["\x00"], ["x"] * 2000, {"": ""}, {"\x00": 1},
    {"\ud800": 1}, {"__proto__": {}}, nested(70, 1), nested(300, 1),
]  # fmt: skip
SINGLE = "0123456789" * 3
TEXTS: list[str] = [
    "", "{", "[", '"', "nul", "NaN", "Infinity", "1e400", "-", "\ufeff{}", '{"a": 1, "a": 2}', "[" * 100_000,
    f"[{SINGLE}]", "[" * DEEP + SINGLE + "]" * DEEP, '{"a":' * DEEP + SINGLE + "}" * DEEP, '"\\ud800"', "\x00", "true",
]  # fmt: skip
"""What is sent where JSON is read: none, other JSON than an object, and numbers too exact at any depth."""


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give the way to each member of JSON, however deep it lies, and to the whole of it."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inner:
        yield from places(each, (*path, name))


def replaced(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    """Give JSON in which one member is another value."""
    if not path:
        return other
    changed = deepcopy(value)
    place = changed
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = other
    return changed


@st.composite
def spoiled(draw: st.DrawFn, value: Any) -> Any:
    """Replace one member of JSON by a hostile value."""
    return replaced(value, draw(st.sampled_from(list(places(value)))), draw(st.sampled_from(VALUES)))


def text_of(value: Any) -> str:
    """Write JSON as a client would that checks nothing: surrogates as escapes, numbers however large."""
    return json.dumps(value)
