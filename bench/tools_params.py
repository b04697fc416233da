"""Params of a call made ready, beside the reference validator on the same calls."""

import copy
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import jsonschema

from apps.firewall.tools.definition import Definition
from apps.firewall.tools.mistakes import keyword_of
from apps.firewall.tools.parameters import check_params, prepare_params
from apps.firewall.tools.validators import errors_of, validator_of
from bench.figures import Figure, percentile, shown, timed

ROUNDS, CALLS = 40, 500
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1, "maxLength": 200},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "sort": {"type": "string", "enum": ["newest", "oldest"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 10},
        "exact": {"type": "boolean"},
        "score": {"type": "number", "minimum": 0},
    },
    "required": ["query"],
    "additionalProperties": False,
}
VALID: dict[str, Any] = {
    "query": "weather in Beijing",
    "limit": 5,
    "sort": "newest",
    "tags": ["a", "b"],
    "exact": True,
    "score": 0.5,
}
INVALID: tuple[dict[str, Any], ...] = (
    {"limit": 5},
    {"query": "", "limit": 0, "sort": "random"},
    {"query": "x" * 201, "tags": [1, "a", None], "score": -1},
    {"query": 5, "exact": "maybe", "other": 1, "more": 2},
    {"query": "a", "tags": ["t"] * 11, "limit": 101},
)
MENDED = {**VALID, "limit": "5", "tags": "a,b", "exact": "yes"}


def measure() -> Iterable[Figure]:
    """Compare a valid call of six params, then show what a call costs that has to be mended."""
    reference = jsonschema.Draft202012Validator(SCHEMA)
    definition = Definition(name="search_pages", parameters=SCHEMA)
    answers_agree(reference)
    assert prepare_params(definition, VALID).problems == []
    baseline, checked, prepared = interleaved(
        partial(reference.is_valid, VALID),
        partial(check_params, SCHEMA, VALID, digest=definition.schema_digest),
        partial(prepare_params, definition, VALID),
    )
    yield _ratio("a valid call of 6 params, prepared", prepared, baseline)
    yield _ratio("a valid call of 6 params, checked", checked, baseline)
    mended = timed(lambda: prepare_params(definition, copy.deepcopy(MENDED)), rounds=CALLS)
    assert prepare_params(definition, MENDED).params == VALID
    yield Figure("three of 6 params coerced", f"p50 {shown(percentile(mended, 0.5))}")


def _repeat(call: Callable[[], object]) -> None:
    for _ in range(CALLS):
        call()


def interleaved(*calls: Callable[[], object]) -> list[float]:
    """Give the median seconds of one call of each, taken in turns so that the machine's moods hit all alike."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, taken in zip(calls, times, strict=True):
            taken.append(timed(partial(_repeat, call), rounds=1)[0] / CALLS)
    return [percentile(taken, 0.5) for taken in times]


def answers_agree(reference: jsonschema.Draft202012Validator) -> None:
    """Stop when the two do not name the same places and keywords of invalid calls."""
    own = validator_of(SCHEMA)
    for params in INVALID:
        ours = {(tuple(error.instance_path), keyword_of(error)) for error in errors_of(own, params, limit=100)}
        theirs = {(tuple(error.absolute_path), error.validator) for error in reference.iter_errors(params)}
        assert ours == theirs, (params, ours, theirs)
        assert check_params(SCHEMA, params)


def _ratio(what: str, seconds: float, baseline: float) -> Figure:
    times = baseline / seconds
    value = f"{shown(seconds)}, the reference {shown(baseline)}: {times:.0f}x"
    return Figure(what, value, "≥ 40x", times >= 40)
