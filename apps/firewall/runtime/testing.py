"""Fakes of every port, for our own tests and for authors who want to run a tool as production does."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from apps.firewall.engine.exec_policy import AllowEntry
from apps.firewall.engine.exec_policy.allowlist import FileSystem
from apps.firewall.engine.exec_policy.reads import Bound, Reads
from apps.firewall.engine.inheritance import inheritable_context
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.source import ToolEntry
from apps.firewall.errors import FirewallError
from apps.firewall.identifiers import new_id
from apps.firewall.runtime.call import Action, Asked, Call, JsonObject
from apps.firewall.runtime.clock import SystemClock
from apps.firewall.runtime.halts.matching import Halt, aim_of, halt_for
from apps.firewall.runtime.hooks import Hook, HookReport, Rewrites
from apps.firewall.runtime.ports import ApprovalRequest, Note, Ports, Standing, StandingGrant
from apps.firewall.runtime.sessions import SessionName, SessionPlace, SessionState
from apps.firewall.tools.background.ports import KeptCommand
from apps.firewall.tools.own_formats import Texts
from apps.firewall.tools.running import ToolOutcome

T = TypeVar("T")


class LedgerDownError(FirewallError):
    """What a ledger raises that stores nothing."""

    code = "audit_unavailable"


@dataclass
class FakeSnapshots:
    """Gives one snapshot for every environment; None for nothing published."""

    snapshot: Snapshot | None = None

    def live(self, environment: str) -> Snapshot | None:  # noqa: ARG002
        return self.snapshot


@dataclass
class FakeLedger:
    """Keeps notes in memory. `refuses` names the kinds it cannot store."""

    refuses: set[str] = field(default_factory=set)
    notes: list[Note] = field(default_factory=list)
    kept: list[Note] = field(default_factory=list)

    async def record(self, note: Note) -> None:
        if note.kind in self.refuses:
            raise LedgerDownError(f"the ledger does not store `{note.kind}`")
        self.notes.append(replace(note, phases=None if note.phases is None else dict(note.phases)))

    async def keep(self, note: Note) -> None:
        self.kept.append(note)

    @property
    def kinds(self) -> list[tuple[str, str]]:
        return [(note.kind, note.status) for note in self.notes]


@dataclass
class FakeApprovals:
    """Asks nobody: keeps the questions, and gives the standing answers it was made with.

    `always` lists what was answered so of other tools than commands: tool, params, and the plugin that asks; `joins` is
    the call whose request every question repeats.
    """

    entries: Sequence[AllowEntry] = ()
    asked: list[ApprovalRequest] = field(default_factory=list)
    used: list[AllowEntry] = field(default_factory=list)
    always: list[tuple[str, JsonObject, str]] = field(default_factory=list)
    joins: UUID | None = None
    drifts: list[tuple[UUID, list[str]]] = field(default_factory=list)

    async def grants(self, call: Call, tool: str) -> Sequence[StandingGrant]:  # noqa: ARG002
        return [StandingGrant(entry) for entry in self.entries]

    async def covering(self, call: Call, tool: str, params: JsonObject, asker: str) -> StandingGrant | None:  # noqa: ARG002
        return StandingGrant(AllowEntry(pattern="")) if (tool, params, asker) in self.always else None

    async def use(self, grant: StandingGrant, call: Call) -> None:  # noqa: ARG002
        self.used.append(grant.entry)

    async def ask(self, request: ApprovalRequest) -> Asked:
        self.asked.append(request)
        return Asked(id=new_id(), expires_at=datetime.now(UTC) + timedelta(minutes=30), call_id=self.joins)

    async def check(self, call: Call) -> None:
        """Let every call through."""

    async def drifted(self, approval_id: UUID, parts: Sequence[str]) -> None:
        self.drifts.append((approval_id, list(parts)))


@dataclass
class FakeFiles:
    """A file system that holds only programs: path to real path."""

    programs: Mapping[str, str] = field(default_factory=lambda: {"/bin/ls": "/bin/ls", "/bin/bash": "/bin/bash"})

    def is_program(self, path: str) -> bool:
        return path in self.programs

    def real_path(self, path: str) -> str:
        return self.programs[path]


@dataclass
class FakeExecutor:
    """Runs nothing: keeps the actions and answers `answer`, or raises it."""

    answer: ToolOutcome | BaseException | Callable[[Action], ToolOutcome] = field(
        default_factory=lambda: ToolOutcome(result={"ok": True})
    )
    tools: frozenset[str] = frozenset({"read", "write", "exec"})
    files: FileSystem = field(default_factory=FakeFiles)
    content: str = "sha256:0"
    actions: list[Action] = field(default_factory=list)
    commands: dict[str, KeptCommand] = field(default_factory=dict)

    def runs(self, tool: ToolEntry) -> bool:
        return tool.name in self.tools

    def check(self, tool: ToolEntry) -> None:
        """Have every sandbox that a tool may need."""

    async def check_formats(self, call: Call, tool: ToolEntry, texts: Texts) -> Sequence[bool]:  # noqa: ARG002
        return [True] * len(texts)

    async def check_space(self, call: Call, tool: ToolEntry) -> None:
        """Have room for whatever is written."""

    def workspace(self, call: Call) -> str:  # noqa: ARG002
        return "/desk"

    def workdir(self, call: Call, params: JsonObject) -> str:  # noqa: ARG002
        return "/desk"

    def identities(self, executable: str, argv: Sequence[str], cwd: str) -> dict[str, str]:  # noqa: ARG002
        return {executable: self.content}

    def bound(
        self,
        action: Action,
        words: Sequence[str],  # noqa: ARG002
        reads: Reads,
        recorded: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> Bound:
        return Bound({action.executable: self.content}, reads.unbound)

    async def command_kept(self, call: Call, session_id: str) -> KeptCommand | None:  # noqa: ARG002
        return self.commands.get(session_id)

    async def run(self, action: Action, tool: ToolEntry) -> ToolOutcome:  # noqa: ARG002
        self.actions.append(action)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer(action) if callable(self.answer) else self.answer


@dataclass
class FakeQueue:
    """Keeps the actions that would be run later, and the calls that people are asked about."""

    waiting: list[Action] = field(default_factory=list)
    asked: list[Call] = field(default_factory=list)

    async def wait(self, call: Call, tool: str) -> None:  # noqa: ARG002
        self.asked.append(call)

    async def put(self, call: Call, action: Action, sensitive: tuple[str, ...]) -> None:  # noqa: ARG002
        self.waiting.append(action)


@dataclass
class FakeToolStates:
    """Tells of tools by name, in every environment."""

    standings: dict[str, Standing] = field(default_factory=dict)

    def standing(self, environment: str, tool: str) -> Standing | None:  # noqa: ARG002
        return self.standings.get(tool)


@dataclass
class FakeHooks:
    """Asks the handlers it was made with about every tool; masks by replacing the values of sensitive members.

    What is done later has been done once `settle` returns.

    Args:
        lenient: environments where the older release is taken as recorded.
    """

    asked: Sequence[Hook] = ()
    told: Sequence[Hook] = ()
    lenient: frozenset[str] = frozenset()
    rewrites: Rewrites = field(default_factory=Rewrites)
    reports: list[HookReport] = field(default_factory=list)
    _later: set[asyncio.Task[None]] = field(default_factory=set)

    def before(self, environment: str, tool: str) -> Sequence[Hook]:  # noqa: ARG002
        return self.asked

    def after(self, environment: str, tool: str) -> Sequence[Hook]:  # noqa: ARG002
        return self.told

    def is_strict(self, environment: str) -> bool:
        return environment not in self.lenient

    async def report(self, call: Call, tool: str, reports: Sequence[HookReport]) -> None:  # noqa: ARG002
        self.reports += reports

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        self._later.add(asyncio.ensure_future(work))

    def masked(self, value: Any, sensitive: tuple[str, ...]) -> Any:
        return {name: "***" if name in sensitive else each for name, each in value.items()}

    async def settle(self) -> None:
        """Wait for what was left for later."""
        await asyncio.gather(*self._later)


@dataclass
class FakeSessions:
    """Keeps sessions in memory. `fails` is what every step raises."""

    states: dict[SessionName, SessionState] = field(default_factory=dict)
    spawns: dict[SessionName, Mapping[str, Any]] = field(default_factory=dict)
    contexts: dict[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)
    loop_key: bytes = b"key"
    fails: Exception | None = None

    async def state(self, place: SessionPlace, *, at: datetime) -> SessionState:
        return self.states.get(place.name) or SessionState(started_at=at)

    async def change(
        self,
        place: SessionPlace,
        change: Callable[[SessionState], tuple[SessionState, T]],
        *,
        at: datetime,
        is_call: bool,
    ) -> T:
        if self.fails is not None:
            raise self.fails
        self.states[place.name], answer = change(await self.state(place, at=at))
        if place.spawn is not None:
            self.spawns.setdefault(place.name, place.spawn)
        if is_call:
            self.contexts[place.name.key] = (place.name.agent, inheritable_context(place.call.context))
        return answer

    async def spawn(self, name: SessionName) -> Mapping[str, Any] | None:
        return self.spawns.get(name)

    async def last_context(self, environment: str, key: str) -> tuple[str, Mapping[str, Any]] | None:  # noqa: ARG002
        return self.contexts.get(key)

    async def spawned(self, place: SessionPlace, *, at: datetime) -> None:  # noqa: ARG002
        if place.spawn is not None:
            self.spawns[place.name] = place.spawn


@dataclass
class FakePeople:
    """Knows the roles of people by their actors."""

    roles: dict[str, str] = field(default_factory=dict)

    gone: dict[str, str] = field(default_factory=dict)

    async def role(self, requester: str) -> str:
        return self.roles.get(requester, "")

    async def ended(self, call: Call) -> str:
        return self.gone.get(call.actor, "")


@dataclass
class FakeHalts:
    """The port `Halts`: nothing is stopped before `after` calls of it were let pass."""

    halts: tuple[Halt, ...] = ()
    after: int = 0
    release: str = "2026.9"

    def meeting(self, call: Call, tool: str) -> Halt | None:
        self.after -= 1
        aim = aim_of(call.context, agent=call.agent, tool=tool, release=self.release)
        return halt_for(self.halts, aim) if self.after < 0 else None


@dataclass
class FakeWorld:
    """Every port at once: `FakeWorld(snapshot).ports`."""

    snapshot: Snapshot | None
    ledger: FakeLedger = field(default_factory=FakeLedger)
    approvals: FakeApprovals = field(default_factory=FakeApprovals)
    executor: FakeExecutor = field(default_factory=FakeExecutor)
    tool_states: FakeToolStates = field(default_factory=FakeToolStates)
    people: FakePeople = field(default_factory=FakePeople)
    hooks: FakeHooks = field(default_factory=FakeHooks)
    queue: FakeQueue = field(default_factory=FakeQueue)
    sessions: FakeSessions = field(default_factory=FakeSessions)
    halts: FakeHalts = field(default_factory=FakeHalts)

    @property
    def ports(self) -> Ports:
        return Ports(
            snapshots=FakeSnapshots(self.snapshot),
            ledger=self.ledger,
            approvals=self.approvals,
            executor=self.executor,
            clock=SystemClock(),
            tool_states=self.tool_states,
            people=self.people,
            hooks=self.hooks,
            queue=self.queue,
            sessions=self.sessions,
            halts=self.halts,
        )


def call_of(tool: str, *, call_id: UUID | None = None, **params: object) -> Call:
    """Make a call of the agent `bot` in `production`."""
    return Call(environment="production", agent="bot", tool=tool, params=params, id=call_id or new_id())
