"""What exactly would run, and whether a person is asked first."""

import asyncio
from pathlib import Path
from typing import Any

from apps.firewall.engine.exec_policy import Where, exec_rules, judge
from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.call import Action, Judgement
from apps.firewall.runtime.hooks import ApprovalWish
from apps.firewall.runtime.ports import ApprovalRequest
from apps.firewall.runtime.stages.command_lists import check_command_lists, takes_command
from apps.firewall.runtime.stages.run import Run
from apps.firewall.shell import read_line
from apps.firewall.tools.builtin.exec import PATH


async def approval_stage(run: Run) -> None:
    """Fix what would run, and put it to a person where a rule says so."""
    assert run.tool is not None  # noqa: S101 - the stage before
    if not run.ports.executor.runs(run.tool):
        raise run.refuse("no_executor", f"the tool `{run.tool.name}` cannot run here", layer="executor")
    if takes_command(run.tool):
        await _judge_command(run, run.tool)
    else:
        run.action = _action(run)
    if run.approved is not None:
        _check_drift(run, run.approved)
        _check_asked(run)
    elif run.verdict is not None and run.verdict.outcome == "ask":
        await _ask(
            run, Judgement(verdict="ask", layer="exec_policy", rule=run.verdict.reason, reason=run.verdict.message)
        )
    elif run.wish is not None:
        await _ask_for_plugin(run, run.wish)


async def _judge_command(run: Run, tool: ToolEntry) -> None:
    assert run.snapshot is not None  # noqa: S101 - the stage before
    call, executor = run.call, run.ports.executor
    cwd = executor.workdir(call, call.params)
    grants = await run.ports.approvals.grants(call, tool.name)
    settings = run.snapshot.exec_settings(call.agent)
    rules = exec_rules(settings, dialect=run.snapshot.dialect, grants=[grant.entry for grant in grants])
    where = Where(
        cwd=cwd,
        workspace=executor.workspace(call),
        home=str(Path.home()),
        search_path=tuple(PATH.split(":")),
    )
    verdict = judge(read_line(call.params["command"]), rules, files=executor.files, where=where)
    if verdict.outcome == "deny":
        raise run.refuse(verdict.reason, verdict.message, layer="exec_policy", rule=rules.security_from)
    check_command_lists(run, tool, verdict)
    run.verdict = verdict
    # In a thread: reading whole files must not hold up other calls.
    files = await asyncio.to_thread(executor.identities, verdict.executable, verdict.argv, cwd)
    run.action = _action(run, argv=list(verdict.argv), executable=verdict.executable, cwd=cwd, files=files)
    if verdict.is_granted and verdict.outcome == "run" and call.deferral is None:  # else it counts when it is taken
        for grant in grants:
            if grant.entry == verdict.matched:
                await run.ports.approvals.use(grant, call)
                break


def _action(run: Run, **command: Any) -> Action:
    call = run.call
    return Action(
        call_id=str(call.id),
        environment=call.environment,
        agent=call.agent,
        actor=call.actor,
        requester=call.requester,
        trace_id=call.trace_id,
        tool=run.tool_name,
        params=dict(call.params),
        context=call.context.to_json(),
        snapshot="" if run.snapshot is None else run.snapshot.digest,
        warnings=[dict(warning) for warning in run.warnings],
        hook_changes=run.hook_changes,
        filtered=run.filtered,
        run=call.run,
        **command,
    )


def _check_drift(run: Run, approved: Action) -> None:
    """Compare what was allowed with what would run now; a newer snapshot is no drift, it has just decided again."""
    now = run.action
    assert now is not None  # noqa: S101 - the caller made it
    kept = ("tool", "params", "argv", "executable", "cwd", "files", "agent", "environment")
    changed = [name for name in kept if getattr(now, name) != getattr(approved, name)]
    if changed:
        message = f"what was approved has changed since: {', '.join(changed)}"
        raise run.refuse("action_changed", message, layer="approval")


def _check_asked(run: Run) -> None:
    """Refuse an action from the queue that by now a person would have to allow: nobody was asked."""
    if run.approval_id is None and run.verdict is not None and run.verdict.outcome == "ask":
        raise run.refuse("action_changed", "since it was queued it needs a person's approval", layer="exec_policy")


async def _ask_for_plugin(run: Run, wish: ApprovalWish) -> None:
    """Ask what a plugin wants asked, unless a person said "always" to exactly that; of a command they never can."""
    if run.verdict is None:
        approvals = run.ports.approvals
        grant = await approvals.covering(run.call, run.tool_name, run.call.params, wish.plugin)
        if grant is not None:
            await approvals.use(grant, run.call)
            return
    reason = wish.description or wish.title or f"the plugin `{wish.plugin}` wants a person asked"
    await _ask(run, Judgement(verdict="ask", layer="hooks", rule=wish.plugin, reason=reason))


async def _ask(run: Run, judgement: Judgement) -> None:
    assert run.action is not None and run.snapshot is not None and run.tool is not None  # noqa: S101
    run.judgement = judgement
    request = ApprovalRequest(
        call=run.call,
        action=run.action,
        verdict=run.verdict,
        judgement=run.judgement,
        snapshot=run.snapshot,
        wish=run.wish,
        sensitive=run.sensitive,
    )
    if run.call.deferral is not None:
        await run.ports.queue.wait(run.call, run.tool_name)
    run.asked = await run.ports.approvals.ask(request)
