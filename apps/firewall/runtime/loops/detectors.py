"""The detectors: each reads the same view of a history, and says something or nothing.

Source: conformance README, `loop_detection.jsonl`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from apps.firewall.runtime.loops.fingerprints import digest
from apps.firewall.runtime.loops.history import LoopCall, LoopHistory, Record, record_of
from apps.firewall.runtime.loops.outcomes import is_polling
from apps.firewall.runtime.loops.rules import UNKNOWN_TOOL_THRESHOLD, Level, LoopSettings
from apps.firewall.runtime.loops.streaks import PingPong, Streak, churn, no_progress, ping_pong, unknown_tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A call seems to lead nowhere.

    Args:
        level: a critical one refuses the call.
        count: calls that speak for it.
        message: for the model.
        key: what a warning is about, so that it is told once in ten calls.
        paired_tool: the other tool of an alternation.
        is_churn: the arguments go round, too.
        emit: a warning is to be told now.
    """

    level: Level
    detector: str
    count: int
    message: str
    key: str
    paired_tool: str = ""
    is_churn: bool = False
    emit: bool = False


class View:
    """What a history tells about one call; counted when a detector asks for it."""

    def __init__(self, settings: LoopSettings, history: LoopHistory, call: LoopCall) -> None:
        self.settings = settings
        self.call = call
        self.now: Record = record_of(settings, call)
        self.records = [
            record for record in history.records if not settings.rules.by_run or record.run_id == self.now.run_id
        ]

    @cached_property
    def streak(self) -> Streak:
        return no_progress(self.records, self.now)

    @cached_property
    def unknown(self) -> tuple[int, str]:
        return unknown_tool(self.records, self.now)

    @cached_property
    def alternation(self) -> PingPong:
        return ping_pong(self.records, self.now)

    @cached_property
    def churned(self) -> int:
        return churn(self.records, self.now)

    @cached_property
    def repeats(self) -> int:
        same = (self.now.tool, self.now.signature)
        return sum((record.tool, record.signature) == same for record in self.records)

    @cached_property
    def polls(self) -> bool:
        return is_polling(self.call.tool, self.call.params)

    @property
    def is_churn(self) -> bool:
        churns = any(name == "argument_churn" for name, _ in self.settings.detectors)
        return churns and self.churned >= self.settings.warning

    def threshold(self, level: Level) -> int:
        return self.settings.critical if level == "critical" else self.settings.warning

    def finding(self, detector: str, level: Level, count: int, message: str, *about: str) -> Finding:
        key = digest([self.now.run_id, detector, *about], self.settings.key)
        return Finding(level=level, detector=detector, count=count, message=message, key=key)


Detector = Callable[[View, Level], Finding | None]


def _unknown_tool(view: View, level: Level) -> Finding | None:
    count, name = view.unknown
    if count < UNKNOWN_TOOL_THRESHOLD:
        return None
    message = f"the tool `{name}` does not exist, and was asked for {count} times: go on without it"
    return view.finding("unknown_tool_repeat", level, count, message, view.now.tool, name)


def _breaker(view: View, level: Level) -> Finding | None:
    count = view.streak.count
    if count < view.settings.breaker:
        return None
    message = f"`{view.call.tool}` came to the same end {count} times: it does not run again in this session"
    return view.finding("global_circuit_breaker", level, count, message, view.now.signature, view.streak.equal)


def _polling(view: View, level: Level) -> Finding | None:
    count = view.streak.count
    if not view.polls or count < view.threshold(level):
        return None
    message = f"`{view.call.tool}` was asked {count} times and nothing changed: wait longer, or report that it is stuck"
    found = view.finding("known_poll_no_progress", level, count, message, view.now.signature, view.streak.equal)
    return _with_churn(view, found)


def _ping_pong(view: View, level: Level) -> Finding | None:
    turns = view.alternation
    if turns.other is None or turns.count < view.threshold(level) or (level == "critical" and not turns.is_stuck):
        return None
    message = (
        f"`{view.call.tool}` and `{turns.other.tool}` have taken turns for {turns.count} calls: "
        "stop, and report what does not work"
    )
    pair = sorted((view.now.signature, turns.other.signature))
    found = view.finding("ping_pong", level, turns.count, message, *pair)
    return _with_churn(view, found, paired_tool=turns.other.tool)


def _repeat(view: View, level: Level) -> Finding | None:
    count = view.streak.count if level == "critical" else view.repeats
    if view.polls or count < view.threshold(level):
        return None
    message = f"`{view.call.tool}` was called {count} times with the same parameters: if it does not help, stop"
    return view.finding("generic_repeat", level, count, message, view.now.signature)


def _churn(view: View, level: Level) -> Finding | None:
    if view.churned < view.threshold(level):
        return None
    message = f"`{view.call.tool}` went round between the same parameters for {view.churned} calls and got nowhere"
    return _with_churn(view, view.finding("argument_churn", level, view.churned, message, view.now.tool))


def _with_churn(view: View, found: Finding, *, paired_tool: str = "") -> Finding:
    is_churn = found.level == "warning" and view.is_churn
    return Finding(
        level=found.level,
        detector=found.detector,
        count=found.count,
        message=found.message,
        key=found.key,
        paired_tool=paired_tool,
        is_churn=is_churn,
    )


DETECTORS: Final[Mapping[str, Detector]] = {
    "unknown_tool_repeat": _unknown_tool,
    "global_circuit_breaker": _breaker,
    "known_poll_no_progress": _polling,
    "ping_pong": _ping_pong,
    "generic_repeat": _repeat,
    "argument_churn": _churn,
}


def detect(settings: LoopSettings, history: LoopHistory, call: LoopCall) -> Finding | None:
    """Return what the first detector finds that finds something; None when all is well or nobody looks.

    Raises:
        NotComparableError: the call's params are no JSON.
    """
    if not settings.enabled:
        return None
    view = View(settings, history, call)
    for name, level in settings.detectors:
        found = DETECTORS[name](view, level)
        if found is not None:
            return found
    return None
