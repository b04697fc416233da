"""Outcomes of tools in values that every door and every record can carry."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import orjson

from apps.firewall.tools.running import ToolOutcome

DEPTH_LIMIT: Final = 100
SMALLEST, LARGEST = -(2**63), 2**64 - 1


def sendable(outcome: ToolOutcome) -> ToolOutcome:
    """Replace what a tool put into its answer that JSON in UTF-8 cannot carry.

    Halves of characters become U+FFFD, numbers beyond 64 bits and numbers without an end their text. A result that is
    nested too deep, or holds anything that is no JSON, makes the call a failed one.
    """
    if _is_fit(outcome):
        return outcome
    try:
        error = None if outcome.error is None else {name: _text(each) for name, each in outcome.error.items()}
        return replace(outcome, result=_copied(outcome.result, DEPTH_LIMIT), error=error)
    except ValueError as exc:
        return ToolOutcome(ended="failed", error={"code": "result_not_json", "message": f"the result {exc}"})


def _is_fit(outcome: ToolOutcome) -> bool:
    try:
        orjson.dumps(outcome.error)
        # What JSON has no number for would go out as null: where there is none, nobody need look.
        return b"null" not in orjson.dumps(outcome.result) or not _is_odd(outcome.result)
    except TypeError:
        return False


def _is_odd(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, Mapping):
        return any(map(_is_odd, value.values()))
    return isinstance(value, list | tuple) and any(map(_is_odd, value))


def _copied(value: Any, depth: int) -> Any:
    if depth == 0:
        raise ValueError(f"is nested deeper than {DEPTH_LIMIT} levels")
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return {_text(str(name)): _copied(each, depth - 1) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(each, depth - 1) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and not SMALLEST <= value <= LARGEST:
        return hex(value)  # as decimal digits it may be longer than Python writes
    if value is None or isinstance(value, bool | int | float):
        return value
    raise ValueError(f"holds a `{type(value).__name__}`, which is no JSON")


def _text(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
