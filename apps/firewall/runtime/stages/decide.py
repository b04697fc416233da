"""Whether the agent has the tool in this context, and whether it was withdrawn since."""

from dataclasses import replace

from apps.firewall.engine.answers import Decision
from apps.firewall.engine.decide import remark_on
from apps.firewall.engine.resolve import CONTEXT_CODES, GroupUnprovenError
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.source import ToolEntry
from apps.firewall.engine.unknown_facts import FactUnknownError
from apps.firewall.runtime.call import NOT_FOUND, Call, Judgement, RefusedError
from apps.firewall.runtime.deciding import LAYER, decided
from apps.firewall.runtime.sessions import held_to_parent
from apps.firewall.runtime.stages.run import Run


def group_warning(remark: str) -> dict[str, str]:
    """Tell a caller that what it said of a group did not count."""
    return {"path": "context", "code": GroupUnprovenError.code, "message": remark}


async def decide_stage(run: Run) -> None:
    """Cut to the agent's set first: a tool outside it is answered exactly like one that does not exist."""
    snapshot = run.ports.snapshots.live(run.call.environment)
    if snapshot is None:
        raise run.refuse("no_publication", "nothing was published for this environment", layer="no_publication")
    run.snapshot = snapshot
    run.call = await _held(run, snapshot)
    decision, run.tool = decided(snapshot, run.call)
    run.judgement = Judgement(
        verdict="allow" if decision.allowed else "deny",
        layer=decision.layer or "",
        label=decision.label or "",
        rule=decision.rule or "",
        reason=decision.reason,
    )
    if (
        decision.layer in CONTEXT_CODES
    ):  # the caller's own words, whatever the policy says and whichever tools there are
        raise run.refuse(decision.layer, decision.reason, layer=decision.layer)
    if decision.layer == FactUnknownError.code:
        raise _fact_unknown(run, decision)
    remark = remark_on(snapshot, run.call.context)
    if remark:
        run.warnings.append(group_warning(remark))
    if run.tool is None:
        _check_absent(run, decision)
        bridge = run.call.bridge
        asked = run.call.tool if bridge is None else bridge.asked or run.call.tool
        raise RefusedError(NOT_FOUND, f"no tool named `{asked}`", run.judgement)
    _check_standing(run, run.tool)


async def _held(run: Run, snapshot: Snapshot) -> Call:
    """Hold a call to what the session that spawned its own might do, whether its caller says so or not."""
    call = run.call
    context = await held_to_parent(run.ports.sessions, snapshot, call.environment, call.agent, call.context)
    return call if context is call.context else replace(call, context=context)


def _fact_unknown(run: Run, decision: Decision) -> RefusedError:
    code = FactUnknownError.code
    detail = {"path": f"context.{decision.rule}", "code": code, "message": decision.reason}
    return run.refuse(code, decision.reason, [detail], layer=code, label=decision.label or "", rule=decision.rule or "")


def _check_standing(run: Run, tool: ToolEntry) -> None:
    """Refuse what was withdrawn since the publication; say of what is deprecated that it is."""
    standing = run.ports.tool_states.standing(run.call.environment, tool.name)
    if standing is None:
        return
    if standing.code:
        raise run.refuse(standing.code, standing.message, layer="tool_state")
    run.warnings.append({"path": "", "code": "tool_deprecated", "message": standing.message})


def _check_absent(run: Run, decision: Decision) -> None:
    """Say of a tool that the policy permits, and a run does not offer, that it was withdrawn: as to a direct call."""
    if decision.layer != LAYER:
        return
    standing = run.ports.tool_states.standing(run.call.environment, decision.tool)
    if standing is not None and standing.code:
        raise run.refuse(standing.code, standing.message, layer="tool_state")
