"""Whether the agent has the tool in this context, and whether it was withdrawn since."""

from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.call import NOT_FOUND, Judgement, RefusedError
from apps.firewall.runtime.deciding import decided
from apps.firewall.runtime.stages.run import Run


async def decide_stage(run: Run) -> None:
    """Cut to the agent's set first: a tool outside it is answered exactly like one that does not exist."""
    snapshot = run.ports.snapshots.live(run.call.environment)
    if snapshot is None:
        raise run.refuse("no_publication", "nothing was published for this environment", layer="no_publication")
    run.snapshot = snapshot
    decision, run.tool = decided(snapshot, run.call)
    run.judgement = Judgement(
        verdict="allow" if decision.allowed else "deny",
        layer=decision.layer or "",
        label=decision.label or "",
        rule=decision.rule or "",
        reason=decision.reason,
    )
    if run.tool is None:
        raise RefusedError(NOT_FOUND, f"no tool named `{run.call.tool}`", run.judgement)
    _check_standing(run, run.tool)


def _check_standing(run: Run, tool: ToolEntry) -> None:
    """Refuse what was withdrawn since the publication; say of what is deprecated that it is."""
    standing = run.ports.tool_states.standing(run.call.environment, tool.name)
    if standing is None:
        return
    if standing.code:
        raise run.refuse(standing.code, standing.message, layer="tool_state")
    run.warnings.append({"path": "", "code": "tool_deprecated", "message": standing.message})
