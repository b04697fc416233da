"""Before a call and after it: what the runtime does with a session's history."""

from dataclasses import dataclass, replace
from typing import Any

from apps.firewall.runtime.loops.detectors import Finding, detect
from apps.firewall.runtime.loops.history import LoopCall, LoopHistory, with_call, with_outcome, with_warning
from apps.firewall.runtime.loops.outcomes import REFUSED, outcome_of_error, outcome_of_result
from apps.firewall.runtime.loops.rules import WARNING_BUCKET, LoopSettings


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether a call may run, and the history to keep from now on."""

    history: LoopHistory
    finding: Finding | None = None

    @property
    def is_refused(self) -> bool:
        """Whether the call must not run."""
        return self.finding is not None and self.finding.level == "critical"


def check(settings: LoopSettings, history: LoopHistory, call: LoopCall) -> Admission:
    """Look for a loop without recording the call; only that a warning was told is remembered.

    Raises:
        NotComparableError: the call's params are no JSON.
    """
    finding = detect(settings, history, call)
    if finding is None or finding.level == "critical":
        return Admission(history, finding)
    bucket = finding.count // WARNING_BUCKET
    if bucket <= dict(history.warned).get(finding.key, 0):
        return Admission(history, finding)
    return Admission(with_warning(history, finding.key, bucket), replace(finding, emit=True))


def admit(settings: LoopSettings, history: LoopHistory, call: LoopCall) -> Admission:
    """Look for a loop, and record the call: as one that runs, or as one that was refused.

    Raises:
        NotComparableError: the call's params are no JSON.
    """
    checked = check(settings, history, call)
    if not checked.is_refused:
        return replace(checked, history=with_call(settings, checked.history, call))
    if not settings.rules.keeps_refusals:
        return checked
    return replace(checked, history=with_outcome(settings, checked.history, call, REFUSED))


def record_result(settings: LoopSettings, history: LoopHistory, call: LoopCall, result: Any) -> LoopHistory:
    """Record what a call returned: `{content, details}`, or any JSON.

    Raises:
        NotComparableError: the call's params or the result are no JSON.
    """
    return with_outcome(settings, history, call, outcome_of_result(settings, call.tool, call.params, result))


def record_error(settings: LoopSettings, history: LoopHistory, call: LoopCall, error: Any) -> LoopHistory:
    """Record how a call failed: a text, or any JSON.

    Raises:
        NotComparableError: the call's params or the error are no JSON.
    """
    return with_outcome(settings, history, call, outcome_of_error(settings, error))
