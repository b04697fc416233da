"""What exactly would run, and whether a person is asked first."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Final

from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.exec_policy import judge
from apps.firewall.engine.exec_policy.reads import Unbound, reads_of
from apps.firewall.engine.exec_policy.unanswered import runs_unanswered
from apps.firewall.engine.source import ToolEntry
from apps.firewall.identifiers import show_id
from apps.firewall.runtime.call import Action, Judgement
from apps.firewall.runtime.completion import complete_first
from apps.firewall.runtime.hooks import ApprovalWish
from apps.firewall.runtime.ports import ApprovalRequest
from apps.firewall.runtime.stages import command_input, halt
from apps.firewall.runtime.stages.at_host import judge_at_host, workdir_at_host
from apps.firewall.runtime.stages.background import command_timing
from apps.firewall.runtime.stages.binding import changed_parts, policy_digest
from apps.firewall.runtime.stages.command_lists import check_command_lists, takes_command
from apps.firewall.runtime.stages.command_rules import command_rules
from apps.firewall.runtime.stages.host_env import asked_variables, command_environment
from apps.firewall.runtime.stages.place import place_of_command
from apps.firewall.runtime.stages.run import JOINED, Run
from apps.firewall.shell import read_line

ASKERS: Final = {each.ASKER: each.LAYER for each in (command_input, halt)}
"""Who asks beside plugins -> the layer that it speaks for."""


async def approval_stage(run: Run) -> None:
    """Fix what would run, and put it to a person where a rule says so."""
    assert run.tool is not None  # noqa: S101 - the stage before
    if not run.ports.executor.runs(run.tool):
        raise run.refuse("no_executor", f"the tool `{run.tool.name}` cannot run here", layer="executor")
    if takes_command(run.tool) and run.call.host is not None:
        _judge_at_host(run, run.tool)
    elif takes_command(run.tool):
        await _judge_command(run, run.tool)
    else:
        run.action = _action(run)
    if run.approved is not None:
        await _check_caller(run)
        await check_drift(run, run.approved)
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
    where = place_of_command(executor, call)
    variables = asked_variables(call.params)
    # Who said "always" to a command saw no variables, which may make another command of it.
    grants = [] if variables else await run.ports.approvals.grants(call, tool.name)
    rules = command_rules(run, tool, [grant.entry for grant in grants])
    env = command_environment(dialect_named(run.snapshot.dialect), call.params, where.workspace)
    passed = [name for name in variables if name in env]
    line = read_line(call.params["command"])
    verdict = judge(line, rules, files=executor.files, where=where, variables=passed)
    if verdict.outcome == "deny":
        raise run.refuse(verdict.reason, verdict.message, layer="exec_policy", rule=rules.security_from)
    check_command_lists(run, tool, verdict)
    run.verdict = replace(verdict, may_be_remembered=False) if variables else verdict
    run.fallback_rule = rules.ask_fallback_from if runs_unanswered(verdict, rules) and not variables else ""
    # In a thread: reading whole files must not hold up other calls.
    words = (*verdict.argv, *verdict.bound)
    files = await asyncio.to_thread(executor.identities, verdict.executable, words, where.cwd)
    run.reads = reads_of(line, cwd=where.cwd, home=where.workspace)
    run.named = (*verdict.bound, *(value for value in variables.values() if isinstance(value, str)))
    timing = command_timing(run)
    run.action = _action(
        run, argv=list(verdict.argv), executable=verdict.executable, cwd=where.cwd, files=files, env=env, timing=timing
    )
    if verdict.is_granted and verdict.outcome == "run" and call.deferral is None:  # else it counts when it is taken
        for grant in grants:
            if grant.entry == verdict.matched:
                await run.ports.approvals.use(grant, call)
                break


def _judge_at_host(run: Run, tool: ToolEntry) -> None:
    verdict = run.verdict = judge_at_host(run)
    check_command_lists(run, tool, verdict)
    run.action = _action(run, argv=list(verdict.argv), cwd=workdir_at_host(run))


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
        host=None if call.host is None else asdict(call.host),
        bridge=None if call.bridge is None else call.bridge.to_json(),
        **command,
    )


async def _check_caller(run: Run) -> None:
    """Refuse a call that waited, when whoever made it may not make it any more."""
    ended = await run.ports.people.ended(run.call)
    if ended:
        raise run.refuse("caller_ended", f"it waited, and meanwhile {ended}", layer="approval")


async def check_drift(run: Run, approved: Action) -> None:
    """Compare what was allowed with what would run now; whatever differs is named, and it does not run.

    An action from the queue that nobody was asked about may find other files: nobody has looked at them.
    """
    await _bind_files(run, approved.files)
    now = _bound(run) if approved.policy else run.action
    assert now is not None  # noqa: S101 - the caller made it
    if run.approval_id is None:
        approved = replace(approved, files=now.files)
    changed = changed_parts(approved, now)
    if not changed:
        return
    if run.approval_id is not None:
        await run.ports.approvals.drifted(run.approval_id, changed)
    is_asked = run.approval_id is not None
    message = f"what was {'approved' if is_asked else 'queued'} has changed since: {', '.join(changed)}"
    then = "a person was asked" if is_asked else "it was queued"
    details = [{"path": part, "code": "changed", "message": f"it is not as it was when {then}"} for part in changed]
    raise run.refuse("action_changed", message, details, layer="approval")


async def _bind_files(run: Run, recorded: Mapping[str, str] | None = None) -> tuple[Unbound, ...]:
    """Bind a command that a person is asked about to all that it reads, and tell to what it is not bound.

    Args:
        recorded: what was found when a person was asked; None when that is now.
    """
    if run.call.host is not None:
        return (Unbound("other_machine"),) if run.verdict is not None else ()
    if run.reads is None or run.action is None:
        return (Unbound("tool_reads", run.tool_name),)
    if recorded is not None and run.approval_id is None:  # from the queue: nobody was asked
        return ()
    # In a thread: reading whole files must not hold up other calls.
    bound = await asyncio.to_thread(run.ports.executor.bound, run.action, run.named, run.reads, recorded)
    run.action = replace(run.action, files=bound.files)
    return (*run.reads.unbound, *bound.unbound)


def _bound(run: Run) -> Action:
    """Bind an action to what the snapshot says of it."""
    assert run.action is not None and run.snapshot is not None and run.tool is not None  # noqa: S101
    policy = policy_digest(run.snapshot, run.tool, run.call.agent, is_command=run.verdict is not None)
    return replace(run.action, policy=policy)


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
    await _ask(run, Judgement(verdict="ask", layer=ASKERS.get(wish.plugin, "hooks"), rule=wish.plugin, reason=reason))


async def _ask(run: Run, judgement: Judgement) -> None:
    assert run.action is not None and run.snapshot is not None and run.tool is not None  # noqa: S101
    run.judgement = judgement
    unbound = await _bind_files(run)
    request = ApprovalRequest(
        call=run.call,
        action=_bound(run),
        verdict=run.verdict,
        judgement=run.judgement,
        snapshot=run.snapshot,
        wish=run.wish,
        fallback_rule="" if run.wish is not None else run.fallback_rule,
        sensitive=run.sensitive,
        unbound=unbound,
    )
    await complete_first(_put_to_person(run, request))


async def _put_to_person(run: Run, request: ApprovalRequest) -> None:
    if run.call.deferral is not None:
        await run.ports.queue.wait(run.call, run.tool_name)
    asked = await run.ports.approvals.ask(request)
    if asked.call_id is None or asked.call_id == run.call.id:
        run.asked = asked
        return
    run.joined = asked.call_id
    message = "it repeats a call that waits for a person: that one is answered, and runs once"
    details = [{"path": "call", "code": JOINED, "message": show_id("call", asked.call_id)}]
    raise run.refuse(JOINED, message, details, layer="approval")
