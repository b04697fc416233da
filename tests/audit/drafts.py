"""Entries that tests write."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from apps.audit.drafts import EntryDecision, EntryDraft, EntryKind
from apps.firewall.identifiers import new_id

PLAIN = EntryDraft(
    kind=EntryKind.CALL_INTENT,
    actor="token:tok_1",
    environment="production",
    agent="bot",
    session_key="agent:bot:main",
    channel="telegram",
    sender="7",
    tool="read",
    call_id=UUID(int=0),
    snapshot_digest="9f3c",
    decision=EntryDecision(verdict="allow"),
)
DENIED = EntryDecision(
    verdict="deny", layer="agent", label="agents.bot.tools.deny", rule="agents.bot.tools.deny exec", reason="denied"
)


def intent(call_id: UUID | None = None, **fields: Any) -> EntryDraft:
    return replace(PLAIN, call_id=call_id or new_id(), **fields)


def outcome(call_id: UUID, **fields: Any) -> EntryDraft:
    given: dict[str, Any] = {"status": "completed", "duration_ms": 12} | fields
    return replace(PLAIN, kind=EntryKind.CALL_OUTCOME, call_id=call_id, **given)


def denial(call_id: UUID | None = None, **fields: Any) -> EntryDraft:
    given: dict[str, Any] = {"status": "denied", "decision": DENIED} | fields
    return replace(PLAIN, kind=EntryKind.DENIAL, call_id=call_id or new_id(), **given)
