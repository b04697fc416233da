"""How the ledger tells of approvals and grants."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.accounts.access import actor_of
from apps.approvals.models import Approval, Grant
from apps.approvals.states import State
from apps.audit.drafts import EntryDecision, EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.registry.models import Environment
from apps.registry.services.changing import By

SYSTEM = "system"


def approval_entry(
    approval: Approval,
    kind: EntryKind,
    *,
    actor: str,
    at: datetime,
    status: str,
    reason: str = "",
    params: Any = None,
    sensitive_fields: tuple[str, ...] = (),
    context: Mapping[str, Any] | None = None,
) -> EntryDraft:
    """Draft an entry about an approval."""
    verdict = {"requested": "ask", "allowed_once": "allow", "allowed_always": "allow"}.get(status, "deny")
    changes = {**(context or {}), "digest": approval.action_digest, "expires_at": approval.expires_at.isoformat()}
    if approval.scope is not None:
        changes["scope"] = approval.scope
    if approval.batch_id is not None:
        changes["batch"] = str(approval.batch_id)
    return EntryDraft(
        kind=kind,
        actor=actor,
        **_place(approval),
        params=params,
        sensitive_fields=sensitive_fields,
        status=status,
        duration_ms=_waited_ms(approval),
        decision=EntryDecision(
            verdict=verdict, layer=approval.reason_layer, rule=approval.reason_rule, reason=reason or approval.reason
        ),
        changes=changes,
        at=at,
    )


def _place(approval: Approval) -> dict[str, Any]:
    """Repeat the call's own columns, so that filters find every entry about its approval."""
    return {
        "environment": approval.environment.slug,
        "agent": approval.agent,
        "session_key": approval.session_key,
        "channel": approval.channel,
        "sender": approval.sender,
        "tool": approval.tool,
        "call_id": approval.call_id,
        "approval_id": approval.pk,
        "snapshot_digest": approval.snapshot_digest,
        "trace_id": approval.trace_id,
    }


def refusal_entry(approval: Approval, decision: str, *, code: str, actor: str, at: datetime) -> EntryDraft:
    """Draft an entry about an answer that was not applied; the request stays as it is."""
    return EntryDraft(
        kind=EntryKind.APPROVAL_REFUSED,
        actor=actor,
        **_place(approval),
        status=code,
        changes={"decision": decision, "state": approval.state},
        at=at,
    )


def voice_entry(
    approval: Approval, decision: str, *, actor: str, place: str, have: int, need: int, at: datetime
) -> EntryDraft:
    """Draft an entry about one yes of several that a request needs."""
    said = {"decision": decision, "have": have, "need": need} | ({"in_place_of": place} if place else {})
    return EntryDraft(
        kind=EntryKind.APPROVAL_VOICE,
        actor=actor,
        **_place(approval),
        status=State.REQUESTED,
        changes=said,
        at=at,
    )


def escalation_entry(approval: Approval, *, rule: str, to: dict[str, list[str]], at: datetime) -> EntryDraft:
    """Draft an entry about a request that goes to others as well, because nobody answered."""
    return EntryDraft(
        kind=EntryKind.APPROVAL_ESCALATED,
        actor=SYSTEM,
        **_place(approval),
        status=State.REQUESTED,
        changes={"rule": rule, "to": to},
        at=at,
    )


def grant_entry(
    grant: Grant, kind: EntryKind, *, actor: str, at: datetime, call_id: UUID | None = None, session_key: str = ""
) -> EntryDraft:
    """Draft an entry about a standing grant."""
    return EntryDraft(
        kind=kind,
        actor=actor,
        environment=grant.environment.slug,
        agent=grant.agent,
        session_key=session_key,
        tool=grant.tool,
        call_id=call_id,
        approval_id=None if call_id else grant.approval_id,
        changes={
            "grant": grant.shown_id,
            "shown": grant.shown,
            "pattern": grant.pattern,
            "arg_pattern": grant.arg_pattern,
            "expires_at": None if grant.expires_at is None else grant.expires_at.isoformat(),
        },
        at=at,
    )


def answer_change_record(environment: Environment, by: By, status: str, changes: dict[str, Any]) -> None:
    """Put on record, and tell, what somebody changed about answering. Last in a transaction."""
    announce("answering.changed", id=environment.pk, environment=environment.slug)
    entry_record(
        EntryDraft(
            kind=EntryKind.ANSWER_CHANGE,
            actor=actor_of(by),
            environment=environment.slug,
            status=status,
            changes=changes,
        )
    )


def _waited_ms(approval: Approval) -> int | None:
    if approval.decided_at is None:
        return None
    return max(0, round((approval.decided_at - approval.requested_at).total_seconds() * 1000))
