"""What the runtime hands to approvals, and what a runner gets back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from apps.approvals.models import Approval
from apps.approvals.states import Decision
from apps.audit.drafts import EntryDecision
from apps.firewall.engine.exec_policy import Part
from apps.firewall.engine.exec_policy.reads import Unbound
from apps.firewall.identifiers import new_id
from apps.registry.models import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalDraft:
    """One action that needs a person.

    Args:
        action: the JSON value that will run (tool, params, argv, real path, cwd, env keys, agent, session …); sealed
            as it is, and bound by SHA-256 over its canonical form.
        approval_id: of the new request, so that whoever asks can wait for it before it is there.
        kind: "exec" or "tool".
        command, argv, params: as the agent sent them; a masked copy is kept for showing.
        resolved_path: real path of the binary, for the grant that "always" would make.
        evidence: risk hints, each a mapping that the page knows to draw.
        unbound: what an answer is not bound to.
        parts: the commands of a line as the engine judged them, with their places in `command`.
        asked: the decision that led here: layer, rule and why it asks.
        actor: whose credential made the call ("token:…", "user:…").
        requester: actor of the person behind that credential, or the credential's where no person is.
        question: what makes two requests the same question; None where a repeat cannot be told from a second wish.
        given_id: the requesting program's own id of the request; empty for none.
        runs_here: the firewall runs the action once it is allowed; else whoever asks runs it.
        decisions: what may be answered, for example without "allow-always" for inline code.
        sensitive_fields: names of params that the tool declares secret.
        fallback_rule: the setting that lets it run when nobody answers in time; empty: silence denies.
        context: what the ledger keeps of the call's context.
    """

    environment: Environment
    call_id: UUID
    kind: str
    tool: str
    action: Mapping[str, Any]
    approval_id: UUID = field(default_factory=new_id)
    agent: str = ""
    session_key: str = ""
    channel: str = ""
    sender: str = ""
    sender_name: str = ""
    sender_is_owner: bool | None = None
    actor: str = ""
    requester: str = ""
    question: Mapping[str, Any] | None = None
    given_id: str = ""
    runs_here: bool = True
    title: str = ""
    severity: str = ""
    command: str = ""
    argv: Sequence[str] = ()
    resolved_path: str = ""
    cwd: str = ""
    host: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    evidence: Sequence[Mapping[str, Any]] = ()
    parts: Sequence[Part] = ()
    warnings: Sequence[str] = ()
    unbound: Sequence[Unbound] = ()
    asked: EntryDecision | None = None
    snapshot_digest: str = ""
    trace_id: str = ""
    decisions: Sequence[str] = tuple(Decision)
    sensitive_fields: tuple[str, ...] = ()
    fallback_rule: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)


GRANT_DAYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantScope:
    """How far an "always" reaches. Without one: the exact argv (or params), for this agent, for 30 days.

    Args:
        arg_pattern: regular expression over the arguments joined by blanks; anchored with ^ and $.
        every_agent: True for all agents of the environment.
        days: after how many days the grant ends; None for never, which somebody has to say.
    """

    arg_pattern: str = ""
    every_agent: bool = False
    days: int | None = GRANT_DAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The right to run an approved action, given to one runner."""

    approval: Approval
    action: dict[str, Any]
