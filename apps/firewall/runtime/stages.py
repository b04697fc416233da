"""The stages of a call, in the order in which they must pass. A stage returns, or refuses."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from apps.firewall.engine.decide import decide
from apps.firewall.engine.exec_policy import ExecVerdict, Where, exec_rules, judge
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.source import ToolEntry
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.call import NOT_FOUND, Action, Asked, Call, Judgement, RefusedError
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.runtime.facts import facts_of
from apps.firewall.runtime.ports import ApprovalRequest, Note, Ports
from apps.firewall.shell import read_line
from apps.firewall.tools.builtin.exec import PATH
from apps.firewall.tools.mistakes import in_order
from apps.firewall.tools.parameters import FAILED, Prepared, may_take_long, needs_folders, prepare_params, sensitive_of
from apps.firewall.tools.running import ToolOutcome
from apps.firewall.tools.sensitive import sent_places

COMMAND_TOOL = "exec"


@dataclass(slots=True)
class Run:
    """One call on its way; each stage fills in what it found."""

    call: Call
    ports: Ports
    started: float
    phases: dict[str, int] = field(default_factory=dict)
    snapshot: Snapshot | None = None
    tool: ToolEntry | None = None
    judgement: Judgement = field(default_factory=lambda: Judgement(verdict="deny", reason="nothing was decided"))
    verdict: ExecVerdict | None = None
    action: Action | None = None
    approved: Action | None = None
    approval_id: UUID | None = None
    asked: Asked | None = None
    is_intended: bool = False
    outcome: ToolOutcome | None = None
    warnings: list[dict[str, str]] = field(default_factory=list)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Name the params that nobody but the tool may see, also those of a tool that the agent was refused."""
        known = self.tool
        if known is None and self.snapshot is not None:
            known = self.snapshot.tool(self.call.tool)
        if known is None:
            return ()
        try:
            places = sensitive_of(definition_of(known))
        except FirewallError:  # nobody can tell which they are
            places = (*known.sensitive, *self.call.params)
        return sent_places(places, self.call.params)

    @property
    def tool_name(self) -> str:
        return self.call.tool if self.tool is None else self.tool.name

    def note(self, kind: Any, status: str, **more: Any) -> Note:
        return Note(
            kind=kind,
            call=self.call,
            tool=self.tool_name,
            status=status,
            judgement=self.judgement,
            snapshot_digest="" if self.snapshot is None else self.snapshot.digest,
            approval_id=self.approval_id,
            sensitive=self.sensitive,
            **more,
        )

    def refuse(self, code: str, message: str, details: list[dict[str, str]] | None = None, **why: str) -> RefusedError:
        """Make the refusal of a tool that the agent may see."""
        judgement = Judgement(verdict="deny", reason=message, **why)
        return RefusedError(code, message, judgement, details)


async def decide_stage(run: Run) -> None:
    """Cut to the agent's set first: a tool outside it is answered exactly like one that does not exist."""
    snapshot = run.ports.snapshots.live(run.call.environment)
    if snapshot is None:
        raise run.refuse("no_publication", "nothing was published for this environment", layer="no_publication")
    run.snapshot = snapshot
    decision = decide(snapshot, run.call.context, run.call.tool)
    run.judgement = Judgement(
        verdict="allow" if decision.allowed else "deny",
        layer=decision.layer or "",
        label=decision.label or "",
        rule=decision.rule or "",
        reason=decision.reason,
    )
    if decision.allowed:
        run.tool = snapshot.tool(decision.tool)
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


async def validate_stage(run: Run) -> None:
    """Make the params ready for the tool: what comes out is what is approved, run and recorded."""
    assert run.tool is not None  # noqa: S101 - the stage before
    if run.call.unreadable:
        problem = {"path": "", "code": "malformed_arguments", "message": run.call.unreadable}
        message = f"the parameters of `{run.tool.name}` cannot be read"
        raise run.refuse(FAILED, message, [problem], layer="parameters")
    prepared = await _prepare(run, run.tool)
    if prepared.problems:
        count = len(prepared.problems)
        message = f"the parameters of `{run.tool.name}` have {count} mistake{'s' * (count > 1)}"
        # An unknown field is often what a missing one was meant to be.
        unknown = [warning for warning in prepared.warnings if warning["code"] == "unknown_field"]
        raise run.refuse(FAILED, message, in_order([*prepared.problems, *unknown]), layer="parameters")
    earlier = [] if run.approved is None else run.approved.warnings
    run.warnings += [each for each in (*earlier, *prepared.warnings) if each not in run.warnings]
    run.call = replace(run.call, params=prepared.params)


async def _prepare(run: Run, tool: ToolEntry) -> Prepared:
    assert run.snapshot is not None  # noqa: S101 - the stage before
    definition = definition_of(tool)
    facts = facts_of(run.call) if definition.context_mappings else None
    prepare = partial(prepare_params, definition, run.call.params, release=run.snapshot.dialect, facts=facts)
    has_paths = needs_folders(definition)
    if not has_paths and not may_take_long(run.call.params):
        return prepare()
    # In a thread: neither looking at files nor a list of thousands may hold up other calls.
    folders = (run.ports.executor.workspace(run.call),) if has_paths else ()
    return await asyncio.to_thread(prepare, folders=folders)


async def approval_stage(run: Run) -> None:
    """Fix what would run, and put it to a person where a rule says so."""
    assert run.tool is not None  # noqa: S101 - the stage before
    if not run.ports.executor.runs(run.tool):
        raise run.refuse("no_executor", f"the tool `{run.tool.name}` cannot run here", layer="executor")
    if run.tool.name != COMMAND_TOOL:
        run.action = _action(run)
    else:
        await _judge_command(run)
    if run.approved is not None:
        _check_drift(run, run.approved)
    elif run.verdict is not None and run.verdict.outcome == "ask":
        await _ask(run, run.verdict)


async def _judge_command(run: Run) -> None:
    assert run.snapshot is not None  # noqa: S101 - the stage before
    call, executor = run.call, run.ports.executor
    cwd = executor.workdir(call, call.params)
    grants = await run.ports.approvals.grants(call, COMMAND_TOOL)
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
    run.verdict = verdict
    # In a thread: reading whole files must not hold up other calls.
    files = await asyncio.to_thread(executor.identities, verdict.executable, verdict.argv, cwd)
    run.action = _action(run, argv=list(verdict.argv), executable=verdict.executable, cwd=cwd, files=files)
    if verdict.is_granted and verdict.outcome == "run":
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


async def _ask(run: Run, verdict: ExecVerdict) -> None:
    assert run.action is not None and run.snapshot is not None and run.tool is not None  # noqa: S101
    run.judgement = Judgement(verdict="ask", layer="exec_policy", rule=verdict.reason, reason=verdict.message)
    request = ApprovalRequest(
        call=run.call,
        action=run.action,
        verdict=verdict,
        judgement=run.judgement,
        snapshot=run.snapshot,
        sensitive=run.sensitive,
    )
    run.asked = await run.ports.approvals.ask(request)


async def execute_stage(run: Run) -> None:
    """Write down that it will run, then run it."""
    assert run.action is not None and run.tool is not None  # noqa: S101 - the stages before
    await run.ports.ledger.record(run.note("call_intent", "started"))
    run.is_intended = True
    run.outcome = await run.ports.executor.run(run.action, run.tool)


@dataclass(frozen=True, slots=True)
class Stage:
    """One part of a call's run; its name is the phase in the record."""

    name: str
    run: Callable[[Run], Awaitable[None]]


STAGES: tuple[Stage, ...] = (
    Stage("decide", decide_stage),
    Stage("validate", validate_stage),
    Stage("approval", approval_stage),
    Stage("execute", execute_stage),
)
