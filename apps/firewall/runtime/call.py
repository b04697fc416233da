"""A tool call, what became of it, and the action that a person may be asked about."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.subjects import kept_name
from apps.firewall.errors import FirewallError
from apps.firewall.identifiers import new_id
from apps.firewall.runtime.bridge import Bridge

JsonObject = Mapping[str, Any]
Status = Literal["completed", "failed", "denied", "cancelled", "queued", "awaiting_approval", "unknown"]
NOT_FOUND = "tool_not_found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deferral:
    """That a call is run later, by whoever has room, and who is told of its end.

    Args:
        callback_url: where its end is told; empty for nowhere.
        callback_secret: the shared key of that message; without one it is signed with the installation's key.
    """

    callback_url: str = ""
    callback_secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """Another machine that runs a call once we allow it, such as an OpenClaw Gateway.

    Args:
        id: as people and the ledger know it.
        wait_s: how long it waits for a person.
        known: facts that it knows of the call's context, also those of which it knows that there is none; what is
            neither there nor in the context it never heard of.
        spawners: in whose name the call's session was spawned, the nearest first: the call may no more than they.
            Each `{"context", "known"}`.
    """

    id: str
    name: str = ""
    wait_s: int = 0
    known: list[str] = field(default_factory=list)
    spawners: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request of an agent to run one tool.

    Args:
        agent: normal id of the agent that calls.
        actor: whose credential made the call, as audit names it (`token:tok_…`).
        requester: the person behind that credential, who may not be the one that approves.
        unreadable: why what a model wrote as params is none, in words for it; such a call is refused once it is known
            that the tool may be seen.
        run: the caller's own name for the turn or task within the session that the call belongs to; empty for none.
        deferral: set when it is not to run here and now; it passes every stage before the run first.
        host: set when another machine runs it; its paths are not ours, and what it says of the call are its claims.
        bridge: set when it came out of a run's tool search.
    """

    environment: str
    agent: str
    tool: str
    params: JsonObject
    context: CallContext = field(default_factory=CallContext)
    actor: str = ""
    requester: str = ""
    trace_id: str = ""
    unreadable: str = ""
    run: str = ""
    deferral: Deferral | None = None
    host: Host | None = None
    bridge: Bridge | None = None
    id: UUID = field(default_factory=new_id)

    @property
    def channel(self) -> str:
        """The channel as records keep it; empty where the caller names none."""
        return kept_name("channel", self.context.channel) if self.context.channel else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What was decided about a call, and by what; for the record and for people, not for agents."""

    verdict: Literal["allow", "ask", "deny"]
    layer: str = ""
    label: str = ""
    rule: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request that waits for a person.

    Args:
        call_id: of the call that asked first, when this one only repeats it; None when the request is its own.
    """

    id: UUID
    expires_at: datetime
    call_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """The answer to a call.

    Args:
        error: `{"code", "message", "details"}`, when there is one.
        judgement: not for agents when the tool is outside their set.
        phases: milliseconds by stage.
        asked: set while the call waits for a person.
        joined: the call that waits for a person already, which this one repeats and does not run beside.
        warnings: what the caller ought to know although the call went on, as `{"path", "code", "message"}`.
        facts: of the result, as `results.Settled` has them.
    """

    call_id: UUID
    status: Status
    result: JsonObject | None = None
    error: Mapping[str, Any] | None = None
    duration_ms: int = 0
    judgement: Judgement | None = None
    phases: Mapping[str, int] = field(default_factory=dict)
    asked: Asked | None = None
    joined: UUID | None = None
    warnings: tuple[Mapping[str, str], ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


class RefusedError(FirewallError):
    """A call that will not run. `details` lists mistakes in its params."""

    code = "refused"

    def __init__(
        self, code: str, message: str, judgement: Judgement, details: list[dict[str, str]] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.judgement = judgement
        self.details = details or []


TOOL_ERROR_STATUS: Final[Mapping[str, int]] = {"tool_input_invalid": 400, "tool_authorization_denied": 403}
"""Errors of tools that say whose mistake it was -> the status that HTTP has for it."""


def error_object(code: str, message: str, details: list[dict[str, str]] | None = None) -> dict[str, Any]:
    """Write an error in the one shape of all doors."""
    return {"code": code, "message": message, "details": details or []}


def tool_error(error: Mapping[str, str]) -> dict[str, Any]:
    """Write what a tool said went wrong, with a status where it says whose mistake it was."""
    status = TOOL_ERROR_STATUS.get(error["code"])
    return error_object(error["code"], error["message"]) | ({} if status is None else {"status": status})


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Exactly what will run: what a person allows, and what is compared again before it does.

    Args:
        argv, executable, cwd: of a command; None and empty for other tools.
        files: identity of the program and of the files among its arguments, by path.
        policy: digest of what the snapshot says of the action; set where a person is asked, else empty.
        env: the whole environment of a command; empty for other tools.
        timing: how long a command may take, and whether it may run on (`stages/background.py`).
        warnings: what the caller is told beside the result, each `{"path", "code", "message"}`.
        hook_changes: how before-hooks rewrote the params, as a diff.
        filtered: what content filters found in the params.
        host: the machine that runs it, when that is another one.
        bridge: how it came out of a run's tool search, when it did.
    """

    call_id: str
    environment: str
    agent: str
    actor: str
    requester: str
    trace_id: str
    tool: str
    params: JsonObject
    context: JsonObject
    snapshot: str
    argv: list[str] | None = None
    executable: str = ""
    cwd: str = ""
    files: dict[str, str] = field(default_factory=dict)
    policy: str = ""
    env: dict[str, str] = field(default_factory=dict, repr=False)
    timing: dict[str, Any] = field(default_factory=dict)
    warnings: list[dict[str, str]] = field(default_factory=list)
    hook_changes: list[dict[str, Any]] = field(default_factory=list)
    filtered: list[dict[str, Any]] = field(default_factory=list)
    run: str = ""
    host: JsonObject | None = None
    bridge: JsonObject | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: JsonObject) -> "Action":
        return cls(**values)

    def call(self) -> Call:
        """Give back the call it came from."""
        return Call(
            id=UUID(self.call_id),
            environment=self.environment,
            agent=self.agent,
            actor=self.actor,
            requester=self.requester,
            trace_id=self.trace_id,
            tool=self.tool,
            params=self.params,
            context=CallContext.from_json(self.context),
            run=self.run,
            host=None if self.host is None else Host(**self.host),
            bridge=None if self.bridge is None else Bridge.from_json(self.bridge),
        )
