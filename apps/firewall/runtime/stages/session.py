"""The session of a call: it lets the call in, and remembers how it ended."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.call import NOT_FOUND, JsonObject, RefusedError
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.runtime.loops import Finding, LoopCall, LoopSettings, loop_settings, merged_loop_config
from apps.firewall.runtime.sessions import (
    Entrance,
    InSession,
    LoopOutcome,
    SessionCall,
    SessionState,
    Stop,
    enter,
    leave,
    loop_outcome,
    place_of,
    spawned_by_call,
    turn_away,
)
from apps.firewall.runtime.stages.run import JOINED, Run
from apps.firewall.tools.running import ToolOutcome

T = TypeVar("T")
LOOP_BLOCK = "loopDetection"
NOT_RECORDED = "session_not_recorded"


def loops_for(snapshot: Snapshot, agent: str, key: bytes) -> LoopSettings:
    """Read how loops of an agent are looked for: its own block over that of everybody, as the release lays them.

    Args:
        key: of the digests in a history.
    """
    engine = snapshot.engine
    own = engine.own_settings(agent).get(LOOP_BLOCK)
    merged = merged_loop_config(engine.dialect, engine.settings.get(LOOP_BLOCK), own)
    return loop_settings(engine.dialect, merged, key=key)


async def session_stage(run: Run) -> None:
    """Let a call into its session: one that was ended, spent its budget or goes round in a loop takes no more."""
    within = run.session = _within(run)
    if within is None:
        return
    at = run.ports.clock.now()
    entrance = await _change(run, within, partial(enter, call=within.call, at=at), is_call=not within.is_counted)
    within.is_counted, within.is_stopped = True, entrance.stop is not None
    _warn(run, entrance.warning)
    if entrance.stop is not None:
        raise _refusal(run, entrance.stop)


async def session_end_stage(run: Run) -> None:
    """Remember which session a call spawned, and how it ended, where loops are looked for.

    A session that cannot be written changes no outcome.
    """
    within, outcome = run.session, run.outcome
    if outcome is not None and run.snapshot is not None:
        await _spawned(run, run.snapshot, outcome)
    if within is None or outcome is None or not within.call.loops.enabled:
        return
    change = partial(_left, call=within.call, outcome=loop_outcome(run.tool_name, outcome))
    try:
        await _change(run, within, change, is_call=False)
    except FirewallError as exc:
        _not_recorded(run, exc)


async def _spawned(run: Run, snapshot: Snapshot, outcome: ToolOutcome) -> None:
    child = spawned_by_call(snapshot, run.call, run.tool_name, outcome)
    if child is None:
        return
    try:
        await run.ports.sessions.spawned(child, at=run.ports.clock.now())
    except FirewallError as exc:
        _not_recorded(run, exc)


def _left(state: SessionState, call: SessionCall, outcome: LoopOutcome) -> tuple[SessionState, None]:
    return leave(state, call, outcome), None


async def turned_away(run: Run, refusal: RefusedError) -> RefusedError:
    """Remember a refusal in the call's session. Never raises: the refusal stands whatever becomes of its record.

    Returns:
        The refusal, or what takes its place where refusals have become a loop.
    """
    try:
        entrance = await _turned_away(run, refusal)
    except Exception as exc:  # noqa: BLE001 - told beside the refusal
        _not_recorded(run, exc)
        return refusal
    _warn(run, entrance.warning)
    return refusal if entrance.stop is None else _refusal(run, entrance.stop)


async def _turned_away(run: Run, refusal: RefusedError) -> Entrance:
    within = run.session or _within(run)
    if within is None or within.is_stopped:
        return Entrance()
    said = f"unknown tool: {run.tool_name}" if refusal.code == NOT_FOUND else f"{refusal.code}: {refusal.message}"
    is_denial = refusal.code != JOINED
    change = partial(turn_away, call=within.call, refusal=said, is_counted=within.is_counted, is_denial=is_denial)
    return await _change(run, within, change, is_call=not within.is_counted)


def _within(run: Run) -> InSession | None:
    """Find the session of a call; None where nothing was published, or the call names none."""
    place = None if run.snapshot is None else place_of(run.call, run.snapshot.engine.dialect)
    if run.snapshot is None or place is None:
        return None
    is_resumed = run.approved is not None
    call = SessionCall(
        loop_call=LoopCall(tool=run.tool_name, params=_own_params(run), run_id=run.call.run, call_id=str(run.call.id)),
        loops=loops_for(run.snapshot, run.call.agent, run.ports.sessions.loop_key),
        is_resumed=is_resumed,
    )
    return InSession(place, call, is_counted=is_resumed)


def _own_params(run: Run) -> JsonObject:
    """Give the params that the caller chose: what the firewall fills in differs from call to call."""
    try:
        mapped = {} if run.tool is None else definition_of(run.tool).context_mappings
    except FirewallError:  # such a tool is refused before it runs
        mapped = {}
    return {name: value for name, value in run.call.params.items() if name not in mapped}


async def _change(
    run: Run, within: InSession, change: Callable[[SessionState], tuple[SessionState, T]], *, is_call: bool
) -> T:
    return await run.ports.sessions.change(within.place, change, at=run.ports.clock.now(), is_call=is_call)


def _not_recorded(run: Run, exc: Exception) -> None:
    cause = exc.message if isinstance(exc, FirewallError) else type(exc).__name__
    message = f"the session does not know how this call ended: {cause}"
    run.warnings.append({"path": "", "code": NOT_RECORDED, "message": message})


def _warn(run: Run, finding: Finding | None) -> None:
    if finding is not None:
        message = f"{finding.message} ({finding.detector}, {finding.count} calls)"
        run.warnings.append({"path": "", "code": "loop_suspected", "message": message})


def _refusal(run: Run, stop: Stop) -> RefusedError:
    details = [{"path": "", "code": stop.rule, "message": f"counted {stop.count}"}] if stop.count else []
    return run.refuse(stop.code, stop.message, details, layer=stop.layer, rule=stop.rule)
