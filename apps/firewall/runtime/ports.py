"""What the runtime needs from the world. `gateway/wiring.py` fills these; `testing.py` fakes them."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, TypeVar
from uuid import UUID

from apps.firewall.engine.exec_policy import AllowEntry, ExecVerdict
from apps.firewall.engine.exec_policy.allowlist import FileSystem
from apps.firewall.engine.exec_policy.reads import Bound, Reads, Unbound
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.source import ToolEntry
from apps.firewall.errors import FirewallError
from apps.firewall.redaction import MaskNote
from apps.firewall.runtime.call import Action, Asked, Call, JsonObject, Judgement
from apps.firewall.runtime.halts.port import Halts, NoHalts
from apps.firewall.runtime.hooks import ApprovalWish, Hook, HookReport, Rewrites
from apps.firewall.runtime.limits.port import Limits, NoLimits
from apps.firewall.runtime.results import ResultRules
from apps.firewall.runtime.sessions import SessionName, SessionPlace, SessionState, Spawns
from apps.firewall.runtime.skills import NoSkills, Skills
from apps.firewall.tools.background.ports import KeptCommand
from apps.firewall.tools.own_formats import Texts
from apps.firewall.tools.progress import Progress
from apps.firewall.tools.running import Cause, ToolOutcome

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One entry for the ledger: a refusal, an intent just before a run, or an outcome before the answer.

    Args:
        masked: what was masked in `result`; None for a result that still is as the tool gave it.
        changes: what became of the call on its way, such as `{"hooks": […]}`, and of its result, `{"result": {…}}`,
            where the record keeps less than all of it; None for nothing.
    """

    kind: Literal["denial", "call_intent", "call_outcome"]
    call: Call
    tool: str
    status: str
    judgement: Judgement
    result: JsonObject | None = None
    error: JsonObject | None = None
    duration_ms: int | None = None
    phases: dict[str, int] | None = None
    snapshot_digest: str = ""
    approval_id: UUID | None = None
    sensitive: tuple[str, ...] = ()
    masked: tuple[MaskNote, ...] | None = None
    changes: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A question to a person.

    Args:
        verdict: how a command was judged; None for other tools.
        wish: of a plugin that wants a person asked.
        sensitive: names of params that the tool declares secret.
        fallback_rule: the setting that lets a command run when nobody answers in time; empty: it is denied then.
        unbound: what an answer is not bound to.
    """

    call: Call
    action: Action
    verdict: ExecVerdict | None
    judgement: Judgement
    snapshot: Snapshot
    wish: ApprovalWish | None = None
    sensitive: tuple[str, ...] = ()
    fallback_rule: str = ""
    unbound: tuple[Unbound, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFailure:
    """What a tool raised, without the secrets that it was given. Models get `code` and a safe sentence alone."""

    environment: str
    tool: str
    call_id: str
    code: str
    cause: Cause


@dataclass(frozen=True, slots=True)
class StandingGrant:
    """An "always" that holds now; `key` is the port's own handle."""

    entry: AllowEntry
    key: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a tool of the live snapshot stands now, where that is not as it was published.

    Args:
        code: of the refusal that calls meet, `tool_disabled` for example; empty when they go on.
        message: why it is refused, or what its callers ought to know.
    """

    message: str
    code: str = ""


class Clock(Protocol):
    """Time."""

    def now(self) -> datetime:
        """Tell the instant, aware and in UTC."""

    def monotonic(self) -> float:
        """Tell seconds that never run backwards."""


class SnapshotSource(Protocol):
    """What is live."""

    def live(self, environment: str) -> Snapshot | None:
        """Give the live snapshot; None when nothing was published."""


class ToolStates(Protocol):
    """What became of tools since they were published: withdrawals act at once."""

    def standing(self, environment: str, tool: str) -> Standing | None:
        """Tell how a tool of the live snapshot stands now; None for one that is as it was published."""


class AsPublished:
    """The port `ToolStates` of whoever has no registry: nothing changes between two publications."""

    def standing(self, environment: str, tool: str) -> Standing | None:  # noqa: ARG002
        return None


class People(Protocol):
    """Who people are."""

    async def role(self, requester: str) -> str:
        """Tell the role that a call's requester has now; empty for none, and for whom nobody knows."""

    async def ended(self, call: Call) -> str:
        """Say why whoever made a call may not make it any more; empty when they still may."""


class NoPeople:
    """The port `People` of whoever knows nobody."""

    async def role(self, requester: str) -> str:  # noqa: ARG002
        return ""

    async def ended(self, call: Call) -> str:  # noqa: ARG002
        return ""


class Ledger(Protocol):
    """The record of every call."""

    async def record(self, note: Note) -> None:
        """Store an entry; return when it is durable.

        Raises:
            FirewallError: it could not be stored; what it tells of must not happen.
        """

    async def keep(self, note: Note) -> None:
        """Keep the end of a call that could not be stored, to store it as soon as that works."""


class Approvals(Protocol):
    """People who answer."""

    async def grants(self, call: Call, tool: str) -> Sequence[StandingGrant]:
        """Give the standing answers that hold for the call's agent now."""

    async def covering(self, call: Call, tool: str, params: JsonObject, asker: str) -> StandingGrant | None:
        """Give the standing answer to what a plugin asks about exactly these params."""

    async def use(self, grant: StandingGrant, call: Call) -> None:
        """Count that a call runs because of a grant."""

    async def check(self, call: Call) -> None:
        """Let through a call about which people may be asked now.

        Raises:
            RefusedError: nobody is asked for its agent at present.
        """

    async def ask(self, request: ApprovalRequest) -> Asked:
        """Put a question to people, or join the same one that waits already; the same call asks once."""

    async def drifted(self, approval_id: UUID, parts: Sequence[str]) -> None:
        """Keep what of an allowed action had changed before it was to run."""


class Executor(Protocol):
    """Where tools run."""

    @property
    def files(self) -> FileSystem:
        """What a judge may ask about files."""

    def runs(self, tool: ToolEntry) -> bool:
        """Say whether this tool can run here."""

    def check(self, tool: ToolEntry) -> None:
        """Let through a tool that can have the sandbox it needs.

        Raises:
            SandboxRefusedError: it cannot.
        """

    async def check_space(self, call: Call, tool: ToolEntry) -> None:
        """Let through a tool that writes nothing, or for which there is room.

        Raises:
            SpaceRefusedError: there is none.
        """

    def workspace(self, call: Call) -> str:
        """Give the folder of the call's agent, made when missing."""

    def workdir(self, call: Call, params: JsonObject) -> str:
        """Give the folder a command starts in.

        Raises:
            FirewallError: it is not a folder of the workspace.
        """

    def identities(self, executable: str, argv: Sequence[str], cwd: str) -> dict[str, str]:
        """Identify the program and every file among its arguments, by path.

        Raises:
            FirewallError: one of them cannot be read.
        """

    def bound(
        self, action: Action, words: Sequence[str], reads: Reads, recorded: Mapping[str, str] | None = None
    ) -> Bound:
        """Look at everything that a command names and reads by itself: what an answer to it is bound to.

        Args:
            words: what may name files besides the words of the action.
            recorded: what was found when a person was asked; None when that is now.
        Raises:
            FirewallError: there is something that cannot be looked at.
        """

    async def command_kept(self, call: Call, session_id: str) -> KeptCommand | None:
        """Find a background command that a call may see; None where there is none."""

    async def check_formats(self, call: Call, tool: ToolEntry, texts: Texts) -> Sequence[bool]:
        """Say of each text whether it has its format, one of a tool author's own.

        Raises:
            FormatUncheckedError: nothing here can tell.
        """

    async def run(self, action: Action, tool: ToolEntry) -> ToolOutcome:
        """Run an action of a tool; cancelling it ends every process of it first."""


class ToolFailures(Protocol):
    """Where authors read what their tools raised."""

    async def raised(self, failure: ToolFailure) -> None:
        """Keep it for the tool's author; never raises, and never holds up a call for long."""


class NoToolFailures:
    """The port `ToolFailures` of whoever keeps none."""

    async def raised(self, failure: ToolFailure) -> None:
        """Forget it."""


class ProgressBoard(Protocol):
    """Where the latest news of running calls hang."""

    def report(self, call: Call, news: Progress) -> None:
        """Take the place of the news before; returns at once and never raises."""

    def ended(self, call: Call) -> None:
        """Take the news of a call down; returns at once and never raises."""


class NoBoard:
    """The port `ProgressBoard` of whoever shows no news."""

    def report(self, call: Call, news: Progress) -> None:
        """Drop the news."""

    def ended(self, call: Call) -> None:
        """Have nothing to take down."""


class QueueMissingError(FirewallError):
    """Nobody runs calls later."""

    code = "queue_missing"


class Queue(Protocol):
    """Where calls wait that are run later."""

    async def wait(self, call: Call, tool: str) -> None:
        """Keep a call before a person is asked about it; their yes queues it.

        Raises:
            FirewallError: it could not be kept; nobody must be asked.
        """

    async def put(self, call: Call, action: Action, sensitive: tuple[str, ...]) -> None:
        """Keep an action until somebody takes it; return when it is durable.

        Raises:
            FirewallError: it could not be kept; it will not run.
        """


class NoQueue:
    """The port `Queue` of whoever runs every call at once."""

    async def wait(self, call: Call, tool: str) -> None:  # noqa: ARG002
        raise QueueMissingError("asynchronous calls cannot be made here")

    async def put(self, call: Call, action: Action, sensitive: tuple[str, ...]) -> None:  # noqa: ARG002
        raise QueueMissingError("asynchronous calls cannot be made here")


class Hooks(Protocol):
    """Plugins that are asked before a call and told after it."""

    @property
    def rewrites(self) -> Rewrites:
        """Where rewritten params are, by the id of their call."""

    def is_strict(self, environment: str) -> bool:
        """Say whether the older release's hooks fail closed in an environment, too."""

    def before(self, environment: str, tool: str) -> Sequence[Hook]:
        """Give the hooks that are asked before a call of a tool, in the order in which they were registered."""

    def after(self, environment: str, tool: str) -> Sequence[Hook]:
        """Give the hooks that are told after it."""

    async def report(self, call: Call, tool: str, reports: Sequence[HookReport]) -> None:
        """Count what hooks did, and keep what went wrong with them. Never raises."""

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something without the call waiting for it."""

    def masked(self, value: Any, sensitive: tuple[str, ...]) -> Any:
        """Copy a JSON value without the secrets in it."""


class NoHooks:
    """The port `Hooks` of whoever has no plugins."""

    def __init__(self) -> None:
        self.rewrites = Rewrites()

    def is_strict(self, environment: str) -> bool:  # noqa: ARG002
        return True

    def before(self, environment: str, tool: str) -> Sequence[Hook]:  # noqa: ARG002
        return ()

    def after(self, environment: str, tool: str) -> Sequence[Hook]:  # noqa: ARG002
        return ()

    async def report(self, call: Call, tool: str, reports: Sequence[HookReport]) -> None:
        """Have nothing to count."""

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        work.close()

    def masked(self, value: Any, sensitive: tuple[str, ...]) -> Any:  # noqa: ARG002
        return None


class Sessions(Spawns, Protocol):
    """What is remembered of sessions, whichever process takes their next call."""

    @property
    def loop_key(self) -> bytes:
        """Give the key of the digests in histories, at most 64 bytes."""

    async def state(self, place: SessionPlace, *, at: datetime) -> SessionState:
        """Tell how a session stands."""

    async def change(
        self,
        place: SessionPlace,
        change: Callable[[SessionState], tuple[SessionState, T]],
        *,
        at: datetime,
        is_call: bool,
    ) -> T:
        """Take a session one step on, one caller after the other.

        Args:
            change: a pure function of the state; called once.
            is_call: the step is a new call.
        Returns:
            What `change` gave beside the new state.
        Raises:
            FirewallError: nothing was changed.
        """

    async def spawned(self, place: SessionPlace, *, at: datetime) -> None:
        """Keep who spawned a session that was just begun.

        Raises:
            FirewallError: it was not kept.
        """


class NoSessions:
    """The port `Sessions` of whoever remembers nothing: every call is the first of its session."""

    loop_key = b""

    async def state(self, place: SessionPlace, *, at: datetime) -> SessionState:  # noqa: ARG002
        return SessionState(started_at=at)

    async def change(
        self,
        place: SessionPlace,
        change: Callable[[SessionState], tuple[SessionState, T]],
        *,
        at: datetime,
        is_call: bool,  # noqa: ARG002
    ) -> T:
        return change(await self.state(place, at=at))[1]

    async def spawn(self, name: SessionName) -> Mapping[str, Any] | None:  # noqa: ARG002
        return None

    async def last_context(self, environment: str, key: str) -> tuple[str, Mapping[str, Any]] | None:  # noqa: ARG002
        return None

    async def spawned(self, place: SessionPlace, *, at: datetime) -> None:
        """Keep nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """All of them."""

    snapshots: SnapshotSource
    ledger: Ledger
    approvals: Approvals
    executor: Executor
    clock: Clock
    tool_states: ToolStates = field(default_factory=AsPublished)
    halts: Halts = field(default_factory=NoHalts)
    people: People = field(default_factory=NoPeople)
    hooks: Hooks = field(default_factory=NoHooks)
    results: ResultRules = field(default_factory=ResultRules)
    progress: ProgressBoard = field(default_factory=NoBoard)
    queue: Queue = field(default_factory=NoQueue)
    limits: Limits = field(default_factory=NoLimits)
    sessions: Sessions = field(default_factory=NoSessions)
    skills: Skills = field(default_factory=NoSkills)
