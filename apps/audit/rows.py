"""What readers of the ledger get: entries as stored, and calls put together from their entries."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.audit.chain import LINK_COLUMNS, TOLD_COLUMNS
from apps.firewall.engine.recorded import RecordedContext, bare_context, read_context
from apps.firewall.identifiers import show_id

ENTRY_COLUMNS = (*TOLD_COLUMNS, *LINK_COLUMNS)
CONTENT_PARTS = ("salt", "params", "result", "error", "masked")
# Columns of the entry in format 1, of its content since: what is erased must not come back from elsewhere.
MOVED = {
    "changes": "CASE WHEN e.format = 1 THEN e.changes ELSE c.changes END",
    "decision_reason": "CASE WHEN e.format = 1 THEN e.decision_reason ELSE coalesce(c.decision_reason, '') END",
}
COLUMNS = (*ENTRY_COLUMNS, *CONTENT_PARTS)
JSON_COLUMNS = frozenset({"phases", "changes", "params", "result", "error", "masked"})
BYTES_COLUMNS = frozenset({"content_commitment", "prev_hash", "hash", "salt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRow:
    """One entry with its content. Without content (never had, erased, or not asked for) those members are None."""

    at: datetime
    id: UUID
    format: int
    kind: str
    actor: str
    environment: str
    agent: str
    session_key: str
    channel: str
    sender: str
    tool: str
    call_id: UUID | None
    approval_id: UUID | None
    status: str
    duration_ms: int | None
    decision: str
    decision_layer: str
    decision_label: str
    decision_rule: str
    decision_reason: str
    snapshot_digest: str
    trace_id: str
    phases: dict[str, int] | None
    changes: Any
    content_commitment: bytes | None
    chain_id: UUID
    seq: int
    prev_hash: bytes
    hash: bytes
    salt: bytes | None
    params: Any
    result: Any
    error: Any
    masked: list[dict[str, Any]] | None

    @property
    def shown_id(self) -> str:
        return show_id("aud", self.id)

    @property
    def shown_call_id(self) -> str:
        return "" if self.call_id is None else show_id("call", self.call_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call as people see it: one line, whatever number of entries tell of it.

    Args:
        warnings: what its caller was told beside the answer, each `{"path", "code", "message"}`.
        status: "completed", "failed", "unknown" or what else its outcome says; "joined" for the repeat of a call that
            waited; "denied", "expired", "superseded"
            or "cancelled" when it never ran; "awaiting_approval", "approved" or "running" while it has not ended.
        decision, layer, label, rule, reason: what decided, from the entry that ended the deciding.
        approval_state, approval_by, approval_wait_ms: the person's part, empty for a plain call.
    """

    id: UUID
    at: datetime
    ended_at: datetime | None
    environment: str
    actor: str
    agent: str
    session_key: str
    channel: str
    sender: str
    tool: str
    params: Any
    result: Any
    error: Any
    masked: tuple[dict[str, Any], ...]
    status: str
    duration_ms: int | None
    phases: dict[str, int]
    decision: str
    layer: str
    label: str
    rule: str
    reason: str
    approval_id: UUID | None
    approval_state: str
    approval_by: str
    approval_wait_ms: int | None
    snapshot_digest: str
    trace_id: str
    changes: Any
    warnings: tuple[dict[str, Any], ...]
    entries: tuple[EntryRow, ...]

    @property
    def shown_id(self) -> str:
        return show_id("call", self.id)

    @property
    def shown_approval_id(self) -> str:
        return "" if self.approval_id is None else show_id("ap", self.approval_id)

    @property
    def context(self) -> RecordedContext:
        """The context in which the call was decided, as far as its record tells it."""
        for entry in self.entries:
            changes = entry.changes if isinstance(entry.changes, dict) else {}
            if isinstance(changes.get("context"), dict):
                lacks = changes.get("context_lacks") or ()
                return read_context(changes["context"], session_key=self.session_key, lacks=lacks)
        return bare_context(agent=self.agent, session_key=self.session_key, channel=self.channel, sender=self.sender)


def read_entry(row: Sequence[Any]) -> EntryRow:
    """Read a row that was selected with `queries.SELECTED`; JSON arrives as text."""
    values = dict(zip(COLUMNS, row, strict=True))
    for name in JSON_COLUMNS:
        if isinstance(values[name], str):
            values[name] = json.loads(values[name])
    for name in BYTES_COLUMNS:
        if values[name] is not None:
            values[name] = bytes(values[name])
    return EntryRow(**values)


ENDED_APPROVALS = ("approval_answered", "approval_expired", "approval_cancelled", "approval_superseded")


def call_from_entries(call_id: UUID, entries: Sequence[EntryRow]) -> CallRecord:
    """Put a call together from its entries, oldest first, at least one."""
    first = entries[0]
    intent = _last(entries, "call_intent")
    outcome = _outcome(entries)
    denial = _last(entries, "denial")
    asked = _last(entries, "approval_asked")
    answer = _last(entries, *ENDED_APPROVALS)
    end = outcome or denial
    decided = denial or (answer if answer is not None and answer.decision == "deny" else None) or asked or first
    content = intent or asked or first
    return CallRecord(
        id=call_id,
        at=first.at,
        ended_at=_ended_at(end, answer),
        environment=first.environment,
        actor=first.actor,
        agent=first.agent,
        session_key=first.session_key,
        channel=first.channel,
        sender=first.sender,
        tool=first.tool,
        params=content.params,
        result=None if end is None else end.result,
        error=None if end is None else end.error,
        masked=tuple(note for entry in entries for note in entry.masked or ()),
        status=_status(intent, end, asked, answer),
        duration_ms=None if end is None else end.duration_ms,
        phases=dict((end.phases if end is not None else None) or {}),
        decision=decided.decision,
        layer=decided.decision_layer,
        label=decided.decision_label,
        rule=decided.decision_rule,
        reason=decided.decision_reason,
        approval_id=next((entry.approval_id for entry in entries if entry.approval_id), None),
        approval_state="" if asked is None else (answer or asked).status,
        approval_by="" if answer is None else answer.actor,
        approval_wait_ms=None if answer is None else answer.duration_ms,
        snapshot_digest=content.snapshot_digest,
        trace_id=first.trace_id,
        changes=next((each.changes for each in (intent, denial) if each is not None), None),
        warnings=_warnings(end),
        entries=tuple(entries),
    )


def _warnings(end: EntryRow | None) -> tuple[dict[str, Any], ...]:
    changes = {} if end is None or not isinstance(end.changes, dict) else end.changes
    return tuple(changes.get("warnings") or ())


def _last(entries: Sequence[EntryRow], *kinds: str) -> EntryRow | None:
    return next((entry for entry in reversed(entries) if entry.kind in kinds), None)


def _outcome(entries: Sequence[EntryRow]) -> EntryRow | None:
    """A process that was thought dead may still tell what happened: knowing beats not knowing."""
    outcomes = [entry for entry in entries if entry.kind == "call_outcome"]
    known = [entry for entry in outcomes if entry.status != "unknown"]
    return next(iter(known or outcomes), None)


def _ended_at(end: EntryRow | None, answer: EntryRow | None) -> datetime | None:
    if end is not None:
        return end.at
    return answer.at if answer is not None and answer.decision == "deny" else None


def _denial_status(end: EntryRow) -> str:
    """Tell a repeat of a call that waited from a refusal; older entries say it by the code of their error."""
    code = end.error.get("code") if isinstance(end.error, dict) else ""
    return "joined" if "joined" in {end.status, str(code).removeprefix("call_")} else "denied"


def _status(intent: EntryRow | None, end: EntryRow | None, asked: EntryRow | None, answer: EntryRow | None) -> str:
    if end is not None:
        return _denial_status(end) if end.kind == "denial" else end.status
    if answer is not None and answer.decision == "deny":
        return answer.status
    if intent is not None:
        return "running"
    if asked is None:
        return ""
    return "awaiting_approval" if answer is None else "approved"
