"""How often in a row: the counts that the detectors compare with their thresholds.

Every function takes records, oldest first, that are the only ones to be looked at.
Source: conformance README, "Rules" of `loop_detection`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from apps.firewall.runtime.loops.history import Record
from apps.firewall.runtime.loops.rules import CHURN_CALLS_PER_VARIANT

COMMAND_TOOL = "exec"


@dataclass(frozen=True, slots=True)
class Streak:
    """Calls without progress. `equal` is the outcome they share; empty when there is none."""

    count: int = 0
    equal: str = ""


@dataclass(frozen=True, slots=True)
class PingPong:
    """Two calls in turn. `other` is the one that the present call answers; None when there is no alternation."""

    count: int = 0
    other: Record | None = None
    is_stuck: bool = False


def no_progress(records: Sequence[Record], now: Record) -> Streak:
    """Count calls without progress: the same one with the same outcome, or commands that fail the same way."""
    same_call = _same_outcome([record for record in records if _is_same_call(record, now)])
    if now.tool != COMMAND_TOOL:
        return same_call
    failing = _failing_commands(records, now)
    return failing if failing.count > same_call.count else same_call


def _is_same_call(record: Record, now: Record) -> bool:
    return (record.tool, record.signature) == (now.tool, now.signature)


def _same_outcome(records: Sequence[Record]) -> Streak:
    """Count from the newest back until a different outcome; refusals count between equal outcomes, or alone."""
    count = refusals = 0
    equal = ""
    for record in reversed(records):
        if record.kind == "refused":
            refusals += 1
        elif record.equal:
            if equal and record.equal != equal:
                break
            equal = record.equal
            count += refusals + 1
            refusals = 0
    return Streak(count if equal else refusals, equal)


def _failing_commands(records: Sequence[Record], now: Record) -> Streak:
    """Count commands in a row that failed the same way, whatever their arguments.

    Coming back to the present arguments after others is another, older row.
    """
    count = refusals = 0
    newest: Record | None = None
    left_present = False
    for record in reversed(records):
        if record.tool != now.tool:
            break
        if record.kind == "refused":
            refusals += 1
            continue
        if not record.equal:
            continue
        is_present = record.signature == now.signature
        if record.kind != "command_failed" or (newest is not None and left_present and is_present):
            break
        if newest is not None and record.equal != newest.equal and record.failure != newest.failure:
            break
        newest = newest or record
        left_present = left_present or not is_present
        count += refusals + 1
        refusals = 0
    return Streak(count, newest.equal) if newest is not None else Streak()


def unknown_tool(records: Sequence[Record], now: Record) -> tuple[int, str]:
    """Count the newest calls of a tool that failed because one and the same tool does not exist; return its name."""
    name = ""
    count = 0
    for record in reversed(records):
        if record.tool != now.tool or not record.unknown_tool or (name and record.unknown_tool != name):
            break
        name = record.unknown_tool
        count += 1
    return count, name


def ping_pong(records: Sequence[Record], now: Record) -> PingPong:
    """Count two calls in strict alternation that the present call goes on with, itself included."""
    if not records:
        return PingPong()
    last = records[-1]
    if now.signature == last.signature:
        return PingPong()
    pair = (last.signature, now.signature)
    tail: list[Record] = []
    for record in reversed(records):
        if record.signature != pair[len(tail) % 2]:
            break
        tail.append(record)
    if len(tail) < 2:
        return PingPong()
    outcomes = {(record.signature, record.equal) for record in tail}
    is_stuck = len(outcomes) == 2 and all(equal for _, equal in outcomes)
    return PingPong(len(tail) + 1, last, is_stuck)


def churn(records: Sequence[Record], now: Record) -> int:
    """Count the newest calls of a tool that go round between a few sets of params and get nowhere.

    0 unless there are at least two sets with three or more calls each and no others, all with the same outcome, and
    the present params are among them.
    """
    calls: Counter[str] = Counter()
    outcomes: dict[str, str] = {}
    for record in reversed(records):
        if record.tool != now.tool:
            break
        if not record.equal:
            continue
        if not record.stuck or outcomes.setdefault(record.signature, record.equal) != record.equal:
            break
        calls[record.signature] += 1
    is_round = len(calls) > 1 and now.signature in calls and min(calls.values()) >= CHURN_CALLS_PER_VARIANT
    return calls.total() if is_round and len({outcomes[each] for each in calls}) == 1 else 0
