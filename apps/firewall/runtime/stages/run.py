"""One call on its way: what the stages found so far."""

from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from apps.firewall.engine.exec_policy import ExecVerdict
from apps.firewall.engine.exec_policy.reads import Reads
from apps.firewall.engine.recorded import record_context
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.source import ToolEntry
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.abort import Abort
from apps.firewall.runtime.call import Action, Asked, Call, Judgement, RefusedError
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.runtime.hooks import ApprovalWish
from apps.firewall.runtime.ports import Note, Ports
from apps.firewall.runtime.results import Settled
from apps.firewall.runtime.sessions import InSession
from apps.firewall.tools.parameters import sensitive_of
from apps.firewall.tools.running import ToolOutcome
from apps.firewall.tools.sensitive import sent_places

JOINED: Final = "call_joined"
"""The code of a call that only repeats one which waits for a person: nobody denied it."""


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
    joined: UUID | None = None
    is_intended: bool = False
    is_queued: bool = False
    is_remembered: bool = False
    abort: Abort = field(default_factory=Abort)
    outcome: ToolOutcome | None = None
    settled: Settled | None = None
    warnings: list[dict[str, str]] = field(default_factory=list)
    wish: ApprovalWish | None = None
    fallback_rule: str = ""
    hook_changes: list[dict[str, Any]] = field(default_factory=list)
    filtered: list[dict[str, Any]] = field(default_factory=list)
    is_rewritten: bool = False
    reads: Reads | None = None
    named: tuple[str, ...] = ()
    session: InSession | None = None

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
    def is_handed_over(self) -> bool:
        """Say whether the call waits, for a person or in the queue, and ends elsewhere than on this way."""
        return self.asked is not None or self.is_queued

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
            changes=self._changes(kind),
            **more,
        )

    def _changes(self, kind: Any) -> dict[str, Any] | None:
        """Gather what happened to the call on its way; the entry that ends it says what its caller was warned of.

        The entry that tells how it was decided keeps the context, so that the same question can be asked again.
        """
        warnings = [] if kind == "call_intent" else [dict(warning) for warning in self.warnings]
        bridge = {} if self.call.bridge is None else self.call.bridge.shown()
        found = {
            "run": self.call.run,
            "tool_search": bridge,
            "hooks": self.hook_changes,
            "filters": self.filtered,
            "warnings": warnings,
        }
        asked = {} if kind == "call_outcome" else record_context(self.call.context)
        return asked | {name: value for name, value in found.items() if value} or None

    def refuse(self, code: str, message: str, details: list[dict[str, str]] | None = None, **why: str) -> RefusedError:
        """Make the refusal of a tool that the agent may see."""
        judgement = Judgement(verdict="deny", reason=message, **why)
        return RefusedError(code, message, judgement, details)
