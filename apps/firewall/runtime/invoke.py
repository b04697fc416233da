"""Take a call through its stages, and record how it ended before anybody hears of it."""

import asyncio
from dataclasses import replace
from typing import Any
from uuid import UUID

from apps.firewall.errors import FirewallError
from apps.firewall.runtime.abort import Abort, CallAbortedError
from apps.firewall.runtime.call import (
    Action,
    Call,
    CallResult,
    JsonObject,
    Judgement,
    RefusedError,
    error_object,
    tool_error,
)
from apps.firewall.runtime.completion import complete
from apps.firewall.runtime.ports import Note, Ports
from apps.firewall.runtime.stages import AFTER, AFTER_REFUSAL, STAGES, Stage
from apps.firewall.runtime.stages.run import JOINED, Run
from apps.firewall.runtime.stages.session import turned_away
from apps.firewall.tools.running import ToolOutcome, failed

RETRY_OUTCOME_S = (0.2, 1.0, 3.0)
STOPPING = "stopping"


async def invoke(call: Call, ports: Ports, *, abort: Abort | None = None) -> CallResult:
    """Run a call, or say why not.

    Never raises for anything that goes wrong with the call: before the run an error is a denial that says so, after
    the intent was written it is an outcome. Cancelling ends the call's processes, in whatever stage it is, and records
    that. A call whose refusal, question or place in the queue is being written when it is cancelled has that answer.

    Raises:
        CallAbortedError: its task was cancelled; it carries the result that is on record.
    """
    return await _go(Run(call=call, ports=ports, started=ports.clock.monotonic(), abort=abort or Abort()))


async def resume(action: Action, *, approval_id: UUID | None, ports: Ports, abort: Abort | None = None) -> CallResult:
    """Run a call that a person allowed, or that waited in the queue and needed nobody's answer.

    Everything is decided and compared again: a tool that the live policy no longer gives, or an action that is no
    longer the approved one, does not run.
    """
    run = Run(call=action.call(), ports=ports, started=ports.clock.monotonic(), abort=abort or Abort())
    run.approved, run.approval_id = action, approval_id
    return await _go(run)


async def _go(run: Run) -> CallResult:
    try:
        for stage in STAGES:
            await _timed(run, stage)
            if run.asked is not None:
                break
    except asyncio.CancelledError as exc:
        if not run.is_handed_over:
            raise CallAbortedError(await complete(_cancelled(run))) from exc
    except RefusedError as exc:
        return await complete(_refused(run, exc))
    except FirewallError as exc:
        return await complete(_troubled(run, exc.code, exc.message))
    except Exception as exc:  # noqa: BLE001 - fail closed: whatever went wrong, the agent hears a refusal
        return await complete(_troubled(run, "internal_error", f"an internal error: {type(exc).__name__}"))
    if run.is_handed_over:
        return _result(run, "queued" if run.asked is None else "awaiting_approval")
    return await complete(_ended(run))


async def _timed(run: Run, stage: Stage) -> None:
    before = run.ports.clock.monotonic()
    try:
        await stage.run(run)
    finally:
        run.phases[stage.name] = _milliseconds(run, before)


async def _refused(run: Run, refusal: RefusedError) -> CallResult:
    refusal = await turned_away(run, refusal)
    run.judgement = refusal.judgement
    error = error_object(refusal.code, refusal.message, refusal.details)
    status = "joined" if refusal.code == JOINED else "denied"
    note = run.note("denial", status, error=error, duration_ms=_elapsed(run), phases=run.phases)
    try:
        await run.ports.ledger.record(note)
    except FirewallError as exc:
        await run.ports.ledger.keep(note)
        error = error_object(exc.code, exc.message)  # it does not run either way; that nobody knows of it is worse
    run.outcome = failed(error["code"], error["message"])
    for stage in AFTER_REFUSAL:
        await _followed(run, stage)
    return _result(run, "denied", error=error)


async def _troubled(run: Run, code: str, message: str) -> CallResult:
    """An error of ours: before the intent the call is denied, after it the outcome says so."""
    if run.is_intended:
        run.outcome = ToolOutcome(ended="failed", error={"code": code, "message": message})
        return await _ended(run)
    return await _refused(run, RefusedError(code, message, Judgement(verdict="deny", layer="error", reason=message)))


async def _cancelled(run: Run) -> CallResult:
    """Record the end of a call that was cancelled: by somebody who asked for it, or because its process ends."""
    if run.abort.is_asked:
        run.outcome = ToolOutcome(ended="cancelled", error=run.abort.error)
        return await _ended(run)
    if run.is_intended:
        error = {"code": "cancelled", "message": "the call was ended before it finished"}
        run.outcome = ToolOutcome(ended="failed", error=error)
        return await _ended(run)
    return await _troubled(run, STOPPING, "the server stopped before the call ran: it did not run")


async def _followed(run: Run, stage: Stage) -> None:
    """Take an outcome through one stage of `AFTER`: unless that only observes, its failure is the outcome."""
    try:
        await _timed(run, stage)
    except FirewallError as exc:
        error = {"code": exc.code, "message": exc.message}
    except Exception as exc:  # noqa: BLE001 - nothing leaves that a stage could not look at
        error = {"code": "internal_error", "message": f"an internal error: {type(exc).__name__}"}
    else:
        return
    if not stage.observes:
        run.outcome, run.settled = ToolOutcome(ended="failed", error=error), None


async def _ended(run: Run) -> CallResult:
    for stage in AFTER:
        await _followed(run, stage)
    outcome = run.outcome
    assert outcome is not None  # noqa: S101 - the last stage
    error = None if outcome.error is None else tool_error(outcome.error)
    note = _outcome_note(run, outcome, error)
    for pause_s in (*RETRY_OUTCOME_S, None):
        try:
            await run.ports.ledger.record(note)
            break
        except FirewallError as exc:
            if pause_s is None:
                await run.ports.ledger.keep(note)
                message = f"the call ran, and its outcome could not be recorded: {exc.message}"
                return _result(run, "unknown", error=error_object(exc.code, message))
            await asyncio.sleep(pause_s)
    status: Any = outcome.ended
    facts = {} if run.settled is None else run.settled.facts
    return _result(run, status, result=outcome.result, error=error, facts=facts)


def _outcome_note(run: Run, outcome: ToolOutcome, error: JsonObject | None) -> Note:
    note = run.note("call_outcome", outcome.ended, error=error, duration_ms=_elapsed(run), phases=run.phases)
    settled = run.settled
    if settled is None or outcome.result is None:
        return replace(note, result=outcome.result)
    facts = {"result": dict(settled.facts)} if settled.is_less else {}
    changes = {**(note.changes or {}), **facts} or None
    return replace(note, result=settled.kept, masked=settled.notes, changes=changes)


def _result(run: Run, status: Any, **more: Any) -> CallResult:
    return CallResult(
        call_id=run.call.id,
        status=status,
        duration_ms=_elapsed(run),
        judgement=run.judgement,
        phases=run.phases,
        asked=run.asked,
        joined=run.joined,
        warnings=tuple(run.warnings),
        **more,
    )


def _milliseconds(run: Run, since: float) -> int:
    return int((run.ports.clock.monotonic() - since) * 1000)


def _elapsed(run: Run) -> int:
    return _milliseconds(run, run.started)
