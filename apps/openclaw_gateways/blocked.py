"""Calls that a gateway blocked by itself because it could not ask: told later, and on record then."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id
from apps.openclaw_gateways.models import GatewayCall, OpenClawGateway
from apps.openclaw_gateways.records import gateway_entry

CODE: Final = "not_asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """An attempt that a gateway blocked by itself.

    Args:
        key: of the question that may never have reached us; the same key again is the same attempt.
        blocked_at: when, as the gateway says.
        reason: why it could not be asked about.
    """

    key: str
    tool: str
    agent: str = ""
    session_key: str = ""
    channel: str = ""
    sender: str = ""
    run: str = ""
    tool_call: str = ""
    blocked_at: str = ""
    reason: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)


def blocked_take(gateway: OpenClawGateway, blocked: Blocked, *, at: datetime) -> GatewayCall | None:
    """Record an attempt that a gateway blocked by itself. Harmless to repeat.

    Returns:
        The call where its question had reached us after all: it is for the caller to withdraw; else None.
    Raises:
        AuditUnavailableError: the ledger refuses; nothing was kept.
    """
    with transaction.atomic():
        error = {"code": CODE, "message": blocked.reason or "it could not be asked about"}
        row, is_new = GatewayCall.objects.get_or_create(
            gateway=gateway,
            key=blocked.key,
            defaults={
                "id": new_id(),
                "body_digest": CODE,
                "run": blocked.run,
                "tool_call": blocked.tool_call,
                "tool": blocked.tool,
                "agent": blocked.agent,
                "session_key": blocked.session_key,
                "channel": blocked.channel,
                "state": GatewayCall.State.REFUSED,
                "asked_at": at,
                "ended_at": at,
                "outcome": "denied",
                "error": error,
            },
        )
        if not is_new:
            return None if row.body_digest == CODE else row
        entry_record(_entry(gateway, row, blocked, error, at))
    return None


def dropped_take(gateway: OpenClawGateway, number: int, *, at: datetime) -> None:
    """Record that a gateway could not keep everything that it had to tell."""
    if number:
        entry_record(gateway_entry(gateway, "reports_dropped", actor=gateway.token.actor, at=at, number=number))


def _entry(
    gateway: OpenClawGateway, row: GatewayCall, blocked: Blocked, error: Mapping[str, str], at: datetime
) -> EntryDraft:
    return EntryDraft(
        kind=EntryKind.DENIAL,
        actor=gateway.token.actor,
        environment=gateway.environment.slug,
        agent=blocked.agent,
        session_key=blocked.session_key,
        channel=blocked.channel,
        sender=blocked.sender,
        tool=blocked.tool,
        call_id=row.pk,
        params=dict(blocked.params),
        status="denied",
        error=dict(error),
        changes={
            "gateway": gateway.shown_id,
            "name": gateway.name,
            "run": blocked.run,
            "tool_call": blocked.tool_call,
            "told_later": True,
            "blocked_at": blocked.blocked_at,
        },
        at=at,
    )
