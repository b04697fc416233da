"""The run of an intended call: from an equal call's result, once, or again while a failure may pass."""

from functools import partial

from apps.firewall.runtime.definitions import definition_of
from apps.firewall.runtime.limits.remembering import may_be_kept, result_key
from apps.firewall.runtime.limits.retries import run_repeatedly
from apps.firewall.runtime.stages.run import Run
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.running import ToolOutcome


async def perform(run: Run) -> ToolOutcome:
    """Run the action of a call whose intent is on record."""
    assert run.tool is not None and run.action is not None  # noqa: S101 - the stages before
    if run.call.host is not None:
        return await run.ports.executor.run(run.action, run.tool)  # no result of ours takes the place of its run
    definition = definition_of(run.tool)
    key = result_key(run.call, definition)
    if key is not None:
        kept = await run.ports.limits.recall(run.call, key)
        if kept is not None:
            run.is_remembered = True
            run.warnings.append({"path": "", "code": "remembered", "message": kept.message})
            return ToolOutcome(result=kept.result)
    outcome = await _run(run, definition)
    if key is not None and definition.cache is not None and may_be_kept(outcome):
        await run.ports.limits.keep(run.call, key, definition, outcome)
    return outcome


async def _run(run: Run, definition: Definition) -> ToolOutcome:
    """Run it; again only where its author says that twice is as good as once."""
    assert run.action is not None and run.tool is not None  # noqa: S101 - the stages before
    attempt = partial(run.ports.executor.run, run.action, run.tool)
    if not definition.idempotent or definition.retry is None:
        return await attempt()
    outcome, runs = await run_repeatedly(attempt, definition.retry)
    if runs > 1:
        run.warnings.append({"path": "", "code": "retried", "message": f"it ran {runs} times until this answer"})
    return outcome
