"""What other rooms hand to the ledger, and what they get back."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from apps.firewall.redaction import MaskNote


class EntryKind(StrEnum):
    """What an entry says. Stored as text: a new kind needs no migration."""

    CALL_INTENT = "call_intent"
    CALL_OUTCOME = "call_outcome"
    DENIAL = "denial"
    APPROVAL_ASKED = "approval_asked"
    APPROVAL_ANSWERED = "approval_answered"
    APPROVAL_EXPIRED = "approval_expired"
    APPROVAL_CANCELLED = "approval_cancelled"
    APPROVAL_SUPERSEDED = "approval_superseded"
    APPROVAL_REFUSED = "approval_refused"
    APPROVAL_VOICE = "approval_voice"
    APPROVAL_ESCALATED = "approval_escalated"
    ANSWER_CHANGE = "answer_change"
    NOTIFICATION_CHANGE = "notification_change"
    GRANT_CREATED = "grant_created"
    GRANT_USED = "grant_used"
    GRANT_REVOKED = "grant_revoked"
    POLICY_CHANGE = "policy_change"
    PUBLISH = "publish"
    ROLLBACK = "rollback"
    SIGN_IN = "sign_in"
    TOKEN = "token"  # noqa: S105 - the name of a kind
    EXPORT = "export"
    SEARCH = "search"
    PURGE = "purge"
    ERASURE = "erasure"
    HOLD_CHANGE = "hold_change"
    RETENTION_CHANGE = "retention_change"
    BACKUP = "backup"
    STREAM_CHANGE = "stream_change"
    VERIFICATION = "verification"
    WITNESS_CHANGE = "witness_change"
    USER_CHANGE = "user_change"
    IMPORT = "import"
    TOOL_CHANGE = "tool_change"
    SOURCE_CHANGE = "source_change"
    LIMIT_CHANGE = "limit_change"
    HOOK_CHANGE = "hook_change"
    SESSION_CHANGE = "session_change"
    CLOCK_STEP = "clock_step"
    SEARCH_LABEL = "search_label"
    REPLAY = "replay"
    KILL_SWITCH = "kill_switch"
    COMMAND_ENDED = "command_ended"
    GATEWAY_CHANGE = "gateway_change"
    UNGOVERNED_CALL = "ungoverned_call"
    WORKSPACE_CHANGE = "workspace_change"


# Entries that belong to one call and are useless without its id.
CALL_KINDS = frozenset({EntryKind.CALL_INTENT, EntryKind.CALL_OUTCOME, EntryKind.DENIAL, EntryKind.COMMAND_ENDED})


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryDecision:
    """What was decided about a call, and by what.

    `verdict` is "allow", "deny" or "ask"; `layer` is the engine's key, `label` the recorded label, `rule` the path of
    the rule, `reason` a sentence for people.
    """

    verdict: str
    layer: str = ""
    label: str = ""
    rule: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryDraft:
    """One entry before it is masked, sealed into the chain and stored.

    The life of a call in entries:

    - refused at once: one `denial`;
    - plain: `call_intent` just before the run, `call_outcome` (status "completed" or "failed") before the answer;
    - left running: after the outcome, whose result says so, one `command_ended` when the command ends;
    - asked: `approval_asked`, `approval_answered` (written by the approvals room), then intent and outcome, or
      nothing more when the answer was no. A `call_intent`, `call_outcome` or `denial` that follows an approval
      carries its `approval_id`: the list of calls relies on it to show one line per call.

    Each entry of a call repeats environment, agent, session_key, channel, sender and tool, so that filters need no
    join.

    Args:
        kind: one of `EntryKind`.
        actor: "user:<username>", "token:<prefix>", "agent:<id>" or "system".
        environment: slug, or "" for what concerns the whole installation.
        params, result, error, changes: JSON values, raw; masked before anything is written. Of a denial's params
            that are larger than 64 KiB only size and hash are kept.
        sensitive_fields: names of params that the tool declares secret, masked wherever they occur.
        result_masks: what was masked in `result`, when that was done with the installation's key already; None when it
            is raw.
        phases: milliseconds by phase (validate, policy, hooks, approval_wait, run, results).
        at: aware instant; the moment of recording when absent.

    Raises:
        ValueError: an entry of a call without `call_id`, or a naive instant.
    """

    kind: str
    actor: str = "system"
    environment: str = ""
    agent: str = ""
    session_key: str = ""
    channel: str = ""
    sender: str = ""
    tool: str = ""
    call_id: UUID | None = None
    approval_id: UUID | None = None
    params: Any = None
    result: Any = None
    error: Any = None
    sensitive_fields: tuple[str, ...] = ()
    result_masks: tuple[MaskNote, ...] | None = None
    status: str = ""
    duration_ms: int | None = None
    phases: Mapping[str, int] | None = None
    decision: EntryDecision | None = None
    snapshot_digest: str = ""
    changes: Any = None
    trace_id: str = ""
    at: datetime | None = None

    def __post_init__(self) -> None:
        if self.kind in CALL_KINDS and self.call_id is None:
            raise ValueError(f"an entry `{self.kind}` needs the id of its call")
        if self.at is not None and self.at.tzinfo is None:
            raise ValueError("an entry needs an aware instant")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryReceipt:
    """Proof that an entry is on disk: its id, instant, and place in its chain."""

    id: UUID
    at: datetime
    chain_id: UUID
    seq: int
    hash: bytes
