"""When an own answer agrees with a recorded one.

Source: conformance README, "Comparison".
"""

import base64
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

WHOLE: Final = "result"
_ABSENT: Final = object()
_FACTS: Final = frozenset({"agentIdError"})
_MASKS: Final = re.compile("…redacted…|\\*\\*\\*|…")
_WINDOW: Final = 6
_LEAD: Final = 8


@dataclass(frozen=True, slots=True)
class Failure:
    """The function refused the input; only that fact is compared."""

    kind: str


@dataclass(frozen=True, slots=True)
class Difference:
    """One member that does not agree."""

    member: str
    expected: Any
    actual: Any


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one member compares; `difference` None when it agrees."""

    required: bool
    difference: Difference | None


Judge = Callable[[Mapping[str, Any], Any, Any], Iterator[Verdict]]
"""Takes a row's input, its expectation and the own answer."""


def recorded_failure(expected: Any) -> bool:
    """Say whether a recording means that the function failed."""
    return isinstance(expected, Mapping) and isinstance(expected.get("error"), str | Mapping)


def members(required: Sequence[str] = (), detail: Sequence[str] = ()) -> Judge:
    """Return the judge of answers whose members count one by one; without members the whole answer counts.

    Args:
        required, detail: paths such as `sources.*.key`; `*` stands for every member at that place.
    """

    def judge(_input: Mapping[str, Any], expected: Any, actual: Any) -> Iterator[Verdict]:
        if recorded_failure(expected) or isinstance(actual, Failure):
            yield _failure_verdict(expected, actual)
            return
        for counts, paths in ((True, required or ("",)), (False, detail)):
            for path in paths:
                wanted, got = _at(expected, path), _at(actual, path)
                if wanted is _ABSENT and not counts:
                    continue
                agrees = same(wanted, got, facts=counts)
                yield Verdict(counts, None if agrees else Difference(path or WHOLE, _shown(wanted), _shown(got)))

    return judge


def _failure_verdict(expected: Any, actual: Any) -> Verdict:
    if recorded_failure(expected) and isinstance(actual, Failure):
        return Verdict(True, None)
    shown = {"error": actual.kind} if isinstance(actual, Failure) else actual
    return Verdict(True, Difference("error", expected, shown))


def _at(value: Any, path: str) -> Any:
    """Return what stands at a path; a `*` gives a mapping of everything that stands there."""
    if not path:
        return value
    head, _, rest = path.partition(".")
    if head == "*":
        return {key: _at(each, rest) for key, each in value.items()} if isinstance(value, Mapping) else _ABSENT
    return _at(value[head], rest) if isinstance(value, Mapping) and head in value else _ABSENT


def _shown(value: Any) -> Any:
    return "(absent)" if value is _ABSENT else value


def same(expected: Any, actual: Any, *, facts: bool = True) -> bool:
    """Compare JSON values: objects in any order, arrays in order, numbers by value, everything else exactly.

    Args:
        facts: compare members such as `agentIdError` by their presence only.
    """
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return expected.keys() == actual.keys() and all(
            (facts and key in _FACTS) or same(expected[key], actual[key], facts=facts) for key in expected
        )
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        return len(expected) == len(actual) and all(
            same(one, other, facts=facts) for one, other in zip(expected, actual, strict=True)
        )
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    return bool(expected == actual)


_EVENT: Final = ("at", "level", "detector", "count", "emit")
_EVENT_DETAIL: Final = ("pairedToolName", "livenessSignal")
_LENGTH: Final = members(("historyLength",))


def loop_events(given: Mapping[str, Any], expected: Any, actual: Any) -> Iterator[Verdict]:
    """Judge the findings of a session: of each event some members are required, and two are details."""
    yield from _LENGTH(given, expected, actual)
    if recorded_failure(expected) or isinstance(actual, Failure):
        return
    for required, names in ((True, _EVENT), (False, _EVENT_DETAIL)):
        wanted, got = (_picked(side["events"], names) for side in (expected, actual))
        yield Verdict(required, None if same(wanted, got) else Difference("events", wanted, got))


def _picked(events: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    return [{name: event[name] for name in names if name in event} for event in events]


_ROUND: Final = members(("called", "paramsSeen", "outcome.blocked", "outcome.params"))
_REASON: Final = "outcome.reason"


def as_the_hooks_said(given: Mapping[str, Any], expected: Any, actual: Any) -> Iterator[Verdict]:
    """Judge a round of hooks: a reason is required where a hook gave it, and a detail where the wording is our own."""
    yield from _ROUND(given, expected, actual)
    wanted, got = _at(expected, _REASON), _at(actual, _REASON)
    if wanted is _ABSENT:
        return
    answers = [hook.get("returns") for hook in given["hooks"]]
    said = [each.get("blockReason") for each in answers if isinstance(each, Mapping)]
    yield Verdict(wanted in said, None if same(wanted, got) else Difference(_REASON, wanted, _shown(got)))


def at_least_as_strict(_input: Mapping[str, Any], expected: Any, actual: Any) -> Iterator[Verdict]:
    """Judge a masked text: nothing that the recorded output removed may remain in ours; equality is a detail."""
    if recorded_failure(expected) or isinstance(actual, Failure):
        yield _failure_verdict(expected, actual)
        return
    original, recorded, own = (_decoded(each) for each in (_input, expected, actual))
    left = remaining_secret(original, recorded, own)
    yield Verdict(True, None if left is None else Difference("text", recorded, own))
    yield Verdict(False, None if own == recorded else Difference("text", recorded, own))


def _decoded(holder: Mapping[str, Any]) -> str:
    return base64.b64decode(holder["text_base64"]).decode()


def remaining_secret(original: str, recorded: str, own: str) -> str | None:
    """Return a text that the recording removed from the original and that our output still shows; None when none."""
    if original == recorded:
        return None
    literals = _MASKS.split(recorded)
    found = re.fullmatch("(.+?)".join(map(re.escape, literals)), original, re.DOTALL)
    # A pattern of an installation may match the empty text: then the recording is not the original with pieces taken
    # out, and counts as one that removed all that it does not show.
    removed = [(0, len(original))] if found is None else [found.span(group) for group in range(1, len(literals))]
    for start, end in removed:
        if end - start >= _WINDOW:
            pieces = {original[at : at + _WINDOW] for at in range(start, end - _WINDOW + 1)}
        else:
            pieces = {original[max(0, start - _LEAD) : end]}
        for piece in sorted(pieces):
            if _occurrences(piece, own) > _occurrences(piece, recorded):
                return piece
    return None


def _occurrences(piece: str, text: str) -> int:
    """Count overlapping occurrences."""
    return sum(text.startswith(piece, at) for at in range(len(text) - len(piece) + 1))
