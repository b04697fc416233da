"""Say what would become of a call: the same stages, up to the run.

`verdict_of` answers agents and stops where the call would; `rehearse` tells administrators all that is wrong with it.
Nothing runs, nobody is asked (no person, and no hook), nothing is recorded.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeVar
from uuid import UUID

from apps.firewall.engine.source import ToolEntry
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.call import Asked, Call, JsonObject, Judgement, RefusedError
from apps.firewall.runtime.hooks.handlers import in_order
from apps.firewall.runtime.limits.port import Counting, Limited, Limits, NoLimits
from apps.firewall.runtime.ports import ApprovalRequest, Approvals, Ports, Sessions, StandingGrant
from apps.firewall.runtime.sessions import SessionName, SessionPlace, SessionState
from apps.firewall.runtime.stages import STAGES
from apps.firewall.runtime.stages.decide import decide_stage
from apps.firewall.runtime.stages.run import Run
from apps.firewall.runtime.stages.validate import validate_stage
from apps.firewall.tools.definition import Definition

T = TypeVar("T")
Problem = dict[str, str]
Verdict = Literal["allow", "ask", "deny"]
NOBODY = UUID(int=0)
NOT_REHEARSED: Final = frozenset({"before_hooks", "check_again", "execute"})
"""Stages that leave traces elsewhere, or follow from those."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """What would become of a call.

    Args:
        allowed: the agent has the tool in this context, and nothing withdrew it.
        judgement: what decided, or what would ask a person.
        problems: mistakes in the params, each `{"path", "code", "message"}`; looked for whether it is allowed or not.
        warnings: what would be changed or left out.
        refusal: why it would not run although it is allowed and its params fit; None when it would.
        asks: a person would be asked first.
        params: as the tool would get them.
    """

    allowed: bool
    judgement: Judgement
    problems: Sequence[Problem] = ()
    warnings: Sequence[Problem] = ()
    refusal: RefusedError | None = None
    asks: bool = False
    params: JsonObject = field(default_factory=dict)
    duration_ms: int = 0

    @property
    def runs(self) -> bool:
        """Say whether the call would run, at once or after a person allowed it."""
        return self.allowed and not self.problems and self.refusal is None


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedVerdict:
    """What a call would be answered now.

    Args:
        stage: which said so; `execute` where nothing stands against the run.
        code, message, details: of the refusal; of a question its reason.
    """

    verdict: Verdict
    stage: str
    tool: str
    judgement: Judgement
    code: str = ""
    message: str = ""
    details: Sequence[Problem] = ()
    warnings: Sequence[Problem] = ()


class _Unasked:
    """The port `Approvals` of a rehearsal: standing answers hold and are not counted, no question is put."""

    def __init__(self, approvals: Approvals) -> None:
        self._approvals = approvals

    async def grants(self, call: Call, tool: str) -> Sequence[StandingGrant]:
        return await self._approvals.grants(call, tool)

    async def covering(self, call: Call, tool: str, params: JsonObject, asker: str) -> StandingGrant | None:
        return await self._approvals.covering(call, tool, params, asker)

    async def use(self, grant: StandingGrant, call: Call) -> None:
        """Count nothing."""

    async def check(self, call: Call) -> None:
        await self._approvals.check(call)

    async def ask(self, request: ApprovalRequest) -> Asked:
        await self.check(request.call)
        return Asked(id=NOBODY, expires_at=datetime.max.replace(tzinfo=UTC))

    async def drifted(self, approval_id: UUID, parts: Sequence[str]) -> None:
        """Keep nothing."""


class _Unremembered:
    """The port `Sessions` of a rehearsal: sessions are as they stand, and stay so."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self.loop_key = sessions.loop_key

    async def state(self, place: SessionPlace, *, at: datetime) -> SessionState:
        return await self._sessions.state(place, at=at)

    async def change(
        self,
        place: SessionPlace,
        change: Callable[[SessionState], tuple[SessionState, T]],
        *,
        at: datetime,
        is_call: bool,  # noqa: ARG002
    ) -> T:
        return change(await self.state(place, at=at))[1]

    async def spawn(self, name: SessionName) -> Mapping[str, Any] | None:
        return await self._sessions.spawn(name)

    async def last_context(self, environment: str, key: str) -> tuple[str, Mapping[str, Any]] | None:
        return await self._sessions.last_context(environment, key)

    async def spawned(self, place: SessionPlace, *, at: datetime) -> None:
        """Keep nothing."""


class _Uncounted:
    """The port `Limits` of a rehearsal: a call meets what it would meet, is counted nowhere, and nothing is kept."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    async def admit(
        self,
        call: Call,
        tool: ToolEntry,
        definition: Definition,
        *,
        counting: Counting = "take",  # noqa: ARG002
    ) -> Limited | None:
        return await self._limits.admit(call, tool, definition, counting="look")

    settle = NoLimits.settle
    recall = NoLimits.recall
    keep = NoLimits.keep


async def verdict_of(call: Call, ports: Ports) -> StagedVerdict:
    """Take a call through its stages in their order, as far as it would come before it runs.

    Never raises for anything that is wrong with the call; an error of ours is a denial, as it is for a call.
    """
    run = Run(call=call, ports=_traceless(ports), started=ports.clock.monotonic())
    for stage in STAGES:
        if stage.name == "before_hooks":
            _tell_of_hooks(run)
        if stage.name in NOT_REHEARSED:
            continue
        try:
            refusal = await _refusal_of(run, stage.run)
        except Exception as exc:  # noqa: BLE001 - fail closed, as a call does
            refusal = _trouble("internal_error", f"an internal error: {type(exc).__name__}")
        if refusal is not None:
            return _staged(run, stage.name, "deny", refusal.judgement, refusal)
        if run.asked is not None:
            return _staged(run, stage.name, "ask", run.judgement)
    return _staged(run, STAGES[-1].name, "allow", run.judgement)


def _staged(
    run: Run,
    stage: str,
    verdict: Literal["allow", "ask", "deny"],
    judgement: Judgement,
    refusal: RefusedError | None = None,
) -> StagedVerdict:
    return StagedVerdict(
        verdict=verdict,
        stage=stage,
        tool=run.tool_name,
        judgement=judgement,
        code="" if refusal is None else refusal.code,
        message=judgement.reason if refusal is None else refusal.message,
        details=() if refusal is None else refusal.details,
        warnings=tuple(run.warnings),
    )


def _traceless(ports: Ports) -> Ports:
    return replace(
        ports,
        approvals=_Unasked(ports.approvals),
        limits=_Uncounted(ports.limits),
        sessions=_Unremembered(ports.sessions),
    )


async def rehearse(call: Call, ports: Ports) -> Rehearsal:
    """Take a call through every stage before the run.

    Never raises for anything that is wrong with the call. The params are compared with the tool's schema also when
    the agent does not have the tool: the answer is for administrators, not for agents.
    """
    clock = ports.clock
    run = Run(call=call, ports=_traceless(ports), started=clock.monotonic())
    denial = await _refusal_of(run, decide_stage)
    judgement = run.judgement if denial is None else denial.judgement
    if run.tool is None and run.snapshot is not None:
        run.tool = run.snapshot.tool(call.tool)
    mistakes = None if run.tool is None else await _refusal_of(run, validate_stage)
    trouble = None
    if denial is None and mistakes is None:
        _tell_of_hooks(run)
        trouble = await _first_refusal(run)
        judgement = run.judgement if trouble is None else trouble.judgement
    problems = [] if mistakes is None else mistakes.details
    if mistakes is not None and not problems:
        trouble = mistakes
    return Rehearsal(
        allowed=denial is None,
        judgement=judgement,
        problems=[each for each in problems if each["code"] != "unknown_field"] or problems,
        warnings=[*run.warnings, *(each for each in problems if each["code"] == "unknown_field")],
        refusal=trouble,
        asks=run.asked is not None,
        params=run.call.params,
        duration_ms=max(1, int((clock.monotonic() - run.started) * 1000)),
    )


async def _first_refusal(run: Run) -> RefusedError | None:
    """Take the call through what follows params that are right, as the table has it; give the first refusal."""
    names = [stage.name for stage in STAGES]
    for stage in STAGES[names.index("validate") + 1 :]:
        refusal = None if stage.name in NOT_REHEARSED else await _refusal_of(run, stage.run)
        if refusal is not None:
            return refusal
    return None


def _tell_of_hooks(run: Run) -> None:
    """Say that plugins are asked first: what they answer is theirs, and asking them leaves traces with them."""
    hooks = in_order(run.ports.hooks.before(run.call.environment, run.tool_name))
    if hooks:
        named = ", ".join(f"`{plugin}`" for plugin in dict.fromkeys(hook.plugin for hook in hooks))
        message = f"hooks are asked first, and may block the call, change it or have a person asked: {named}"
        run.warnings.append({"path": "", "code": "hooks_not_asked", "message": message})


async def _refusal_of(run: Run, stage: Callable[[Run], Awaitable[None]]) -> RefusedError | None:
    try:
        await stage(run)
    except RefusedError as exc:
        return exc
    except FirewallError as exc:
        return _trouble(exc.code, exc.message)
    return None


def _trouble(code: str, message: str) -> RefusedError:
    return RefusedError(code, message, Judgement(verdict="deny", layer="error", reason=message))
