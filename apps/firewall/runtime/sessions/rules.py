"""What a call meets in its session: an end, an empty budget, a loop; and what the session remembers of the call."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from apps.firewall.runtime.loops import (
    Admission,
    Finding,
    LoopCall,
    LoopSettings,
    admit,
    record_error,
    record_result,
)
from apps.firewall.runtime.sessions.naming import SessionPlace
from apps.firewall.runtime.sessions.outcomes import LoopOutcome
from apps.firewall.runtime.sessions.state import SessionState

SESSION_LAYER: Final = "session"
LOOP_LAYER: Final = "loop_detection"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCall:
    """A call, as its session sees it.

    Args:
        loops: how loops are looked for.
        is_resumed: a person allowed it meanwhile: it was counted and looked at before.
    """

    loop_call: LoopCall
    loops: LoopSettings
    is_resumed: bool = False


@dataclass(slots=True)
class InSession:
    """A call on its way through its session.

    Args:
        is_counted: its session has let it in, or refused it.
        is_stopped: its session refused it.
    """

    place: SessionPlace
    call: SessionCall
    is_counted: bool = False
    is_stopped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why a session takes a call no further.

    Args:
        rule: the budget or the detector that says so.
        count: calls that speak for it.
    """

    code: str
    message: str
    layer: str
    rule: str = ""
    count: int = 0


@dataclass(frozen=True, slots=True)
class Entrance:
    """What a call is told when it enters: why it must not, or a warning."""

    stop: Stop | None = None
    warning: Finding | None = None


def enter(state: SessionState, call: SessionCall, at: datetime) -> tuple[SessionState, Entrance]:
    """Let a call into its session, or say why not; either way it is counted, once.

    Raises:
        NotComparableError: the call's params are no JSON.
    """
    if call.is_resumed:
        stop = _ended(state)
        return _with_denial(state, stop), Entrance(stop)
    stop = _ended(state) or _spent(state, at)
    state = replace(state, calls=state.calls + 1)
    if stop is not None:
        return _with_denial(state, stop), Entrance(stop)
    state, entrance = _look_for_loop(state, call)
    return _with_denial(state, entrance.stop), entrance


def leave(state: SessionState, call: SessionCall, outcome: LoopOutcome) -> SessionState:
    """Remember how a call ended, where loops are looked for.

    Raises:
        NotComparableError: the call's params or its result are no JSON.
    """
    if not call.loops.enabled:
        return state
    record: Callable[..., Any] = record_error if outcome.is_error else record_result
    return replace(state, history=record(call.loops, state.history, call.loop_call, outcome.value))


def turn_away(
    state: SessionState, call: SessionCall, refusal: str, *, is_counted: bool, is_denial: bool = True
) -> tuple[SessionState, Entrance]:
    """Remember that a call was refused outside the session; hammering at a closed door is a loop, too.

    Args:
        refusal: what the caller was told.
        is_counted: the call entered the session before it was refused.
        is_denial: something denied it; it does not only repeat a call that waits.
    Returns:
        The session, and what else the call is told: a stop takes the place of the refusal.
    Raises:
        NotComparableError: the call's params are no JSON.
    """
    entrance = Entrance()
    state = replace(state, denied=state.denied + is_denial)
    if not is_counted:
        state, entrance = _look_for_loop(replace(state, calls=state.calls + 1), call)
    if entrance.stop is None:
        state = leave(state, call, LoopOutcome(value=refusal, is_error=True))
    return state, entrance


def _look_for_loop(state: SessionState, call: SessionCall) -> tuple[SessionState, Entrance]:
    if not call.loops.enabled:
        return state, Entrance()
    admission = admit(call.loops, state.history, call.loop_call)
    return replace(state, history=admission.history), Entrance(_loop(admission), _warning(admission))


def _with_denial(state: SessionState, stop: Stop | None) -> SessionState:
    return state if stop is None else replace(state, denied=state.denied + 1)


def _ended(state: SessionState) -> Stop | None:
    if state.end_reason is None:
        return None
    why = f": {state.end_reason}" if state.end_reason else ""
    return Stop(code="session_ended", message=f"this session was ended{why}", layer=SESSION_LAYER, rule="ended")


def _spent(state: SessionState, at: datetime) -> Stop | None:
    """Find the first budget that is used up."""
    budgets, lasted = state.budgets, at - state.started_at
    if budgets.max_calls is not None and state.calls >= budgets.max_calls:
        return _budget("max_calls", f"its {budgets.max_calls} calls are made", state.calls)
    if budgets.max_denied is not None and state.denied >= budgets.max_denied:
        return _budget("max_denied", f"{state.denied} of its calls were refused", state.denied)
    if budgets.max_duration_s is not None and lasted >= timedelta(seconds=budgets.max_duration_s):
        return _budget("max_duration_s", f"its {budgets.max_duration_s} seconds are over", int(lasted.total_seconds()))
    return None


def _budget(rule: str, why: str, count: int) -> Stop:
    message = f"the budget of this session is used up: {why}"
    return Stop(code="session_budget_spent", message=message, layer=SESSION_LAYER, rule=rule, count=count)


def _loop(admission: Admission) -> Stop | None:
    finding = admission.finding
    if finding is None or not admission.is_refused:
        return None
    return Stop(
        code="loop_detected", message=finding.message, layer=LOOP_LAYER, rule=finding.detector, count=finding.count
    )


def _warning(admission: Admission) -> Finding | None:
    """Give the warning that is due: each is told once in ten calls."""
    finding = admission.finding
    return finding if finding is not None and finding.emit else None
