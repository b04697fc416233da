"""Calls that ran although nobody asked us, and gateways that fell silent: recorded, counted, and shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction

from apps.accounts.access import Principal, actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.openclaw_gateways.models import (
    NOT_LOADED_AFTER,
    SILENT_AFTER,
    Alarm,
    GatewayCall,
    OpenClawGateway,
    Standing,
)
from apps.openclaw_gateways.records import gateway_entry
from apps.registry.probing import PROBES

CHANGED: Final = "openclaw_gateway.changed"
TEXT_LIMIT: Final = 200
CHANGED_PARAMS: Final = "params_changed"
"""Where a call ran with other params than were judged: that it was asked about does not help."""
LOOKED_BACK: Final = timedelta(days=1)
SYSTEM: Final = "system"
SILENCES: Final = (Alarm.Kind.SILENT, Alarm.Kind.NOT_LOADED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ungoverned:
    """A call that a gateway tells of and that its plugin did not ask about.

    Args:
        seen_by: where the plugin saw it, such as `after_tool_call`.
        is_unknown_tool: the gateway says that it has no such tool, so that nothing ran.
    """

    tool: str
    agent: str = ""
    session_key: str = ""
    run: str = ""
    tool_call: str = ""
    seen_by: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    error: str = ""
    is_unknown_tool: bool = False


def ungoverned_report(gateway: OpenClawGateway, told: Ungoverned, *, at: datetime) -> Alarm | None:
    """Record a call that ran ungoverned, and raise the alarm or count it in the one that stands.

    Returns:
        None where nothing is wrong: it was asked about after all, or no tool ran. The latter is on record, too.
    Raises:
        AuditUnavailableError: the ledger refuses; nothing was kept.
    """
    if told.tool_call and told.seen_by != CHANGED_PARAMS and _was_asked(gateway, told, at):
        return None
    with transaction.atomic():
        entry_record(_entry(gateway, told, at))
        if told.is_unknown_tool:
            return None
        return _raise(gateway, Alarm.Kind.UNGOVERNED, told.tool[:TEXT_LIMIT], told.agent[:TEXT_LIMIT], at)


def not_asking_report(gateway: OpenClawGateway, message: str, *, at: datetime) -> Alarm:
    """Raise the alarm that a plugin is there and not asked, once for each time that it stands."""
    with transaction.atomic():
        alarm = _raise(gateway, Alarm.Kind.NOT_ASKING, "", "", at)
        if alarm.count == 1:
            entry_record(
                gateway_entry(gateway, "not_asking", actor=gateway.token.actor, at=at, message=message[:TEXT_LIMIT])
            )
    return alarm


def gateways_watch(at: datetime, *, since: datetime | None) -> int:
    """Raise the alarm for gateways that stopped reporting, or never began: what they run then is asked about nowhere.

    Args:
        since: from when on somebody here could hear them; None while nobody can.
    Returns:
        How many alarms are new.
    """
    if since is None or at - since < SILENT_AFTER:
        return 0
    watched = OpenClawGateway.objects.exclude(environment__slug=PROBES).filter(revoked_at=None)
    raised = 0
    for gateway in watched.select_related("environment", "token__created_by"):
        standing = gateway.standing(at)
        if standing == Standing.SILENT:
            raised += _raise_silence(gateway, Alarm.Kind.SILENT, at)
        elif standing == Standing.NEVER_SEEN and at - gateway.enrolled_at > NOT_LOADED_AFTER:
            raised += _raise_silence(gateway, Alarm.Kind.NOT_LOADED, at)
    return raised


def silence_end(gateway: OpenClawGateway, *, at: datetime) -> None:
    """End the alarms of silence of a gateway that reports."""
    standing = Alarm.objects.filter(gateway=gateway, kind__in=SILENCES, cleared_at=None)
    for alarm in standing.select_related("gateway__environment"):
        alarm_clear(alarm, by=None, at=at)


def _raise_silence(gateway: OpenClawGateway, kind: Alarm.Kind, at: datetime) -> bool:
    """Raise an alarm of silence, once for each silence: one that a person has seen to is not raised again."""
    began = gateway.last_seen_at or gateway.enrolled_at
    if Alarm.objects.filter(gateway=gateway, kind=kind, first_at__gte=began).exists():
        return False
    with transaction.atomic():
        alarm = _raise(gateway, kind, "", "", at)
        seen = None if gateway.last_seen_at is None else gateway.last_seen_at.isoformat()
        if alarm.count == 1:
            entry_record(gateway_entry(gateway, str(kind), actor=SYSTEM, at=at, alarm=alarm.shown_id, last_seen=seen))
    return True


def alarm_clear(alarm: Alarm, *, by: Principal | None, at: datetime) -> Alarm:
    """Say that a person has seen to it; the next such call raises a new one. Clearing it again changes nothing."""
    with transaction.atomic():
        alarm = Alarm.objects.select_for_update(of=("self",)).select_related("gateway__environment").get(pk=alarm.pk)
        if alarm.cleared_at is not None:
            return alarm
        alarm.cleared_at, alarm.cleared_by_label = at, actor_of(by)
        alarm.save(update_fields=["cleared_at", "cleared_by_label"])
        gateway = alarm.gateway
        entry_record(
            gateway_entry(
                gateway,
                "alarm_cleared",
                actor=actor_of(by),
                at=at,
                alarm=alarm.shown_id,
                kind=alarm.kind,
                tool=alarm.tool,
                agent=alarm.agent,
                count=alarm.count,
            )
        )
        announce(CHANGED, id=gateway.pk, environment=gateway.environment.slug)
    return alarm


def _was_asked(gateway: OpenClawGateway, told: Ungoverned, at: datetime) -> bool:
    asked = GatewayCall.objects.filter(gateway=gateway, tool_call=told.tool_call, asked_at__gte=at - LOOKED_BACK)
    return asked.filter(run=told.run, tool=told.tool).exists()


def _raise(gateway: OpenClawGateway, kind: Alarm.Kind, tool: str, agent: str, at: datetime) -> Alarm:
    # The gateway's row orders those that come at once: the second finds the alarm of the first.
    OpenClawGateway.objects.select_for_update(of=("self",)).get(pk=gateway.pk)
    alarm = Alarm.objects.filter(gateway=gateway, kind=kind, tool=tool, agent=agent, cleared_at=None).first()
    if alarm is None:
        alarm = Alarm.objects.create(gateway=gateway, kind=kind, tool=tool, agent=agent, first_at=at, last_at=at)
    else:
        alarm.count, alarm.last_at = alarm.count + 1, at
        alarm.save(update_fields=["count", "last_at"])
    announce(CHANGED, id=gateway.pk, environment=gateway.environment.slug)
    return alarm


def _entry(gateway: OpenClawGateway, told: Ungoverned, at: datetime) -> EntryDraft:
    return EntryDraft(
        kind=EntryKind.UNGOVERNED_CALL,
        actor=gateway.token.actor,
        environment=gateway.environment.slug,
        agent=told.agent,
        session_key=told.session_key,
        tool=told.tool,
        params=dict(told.params),
        result=told.result,
        error={"code": "gateway_reported", "message": told.error} if told.error else None,
        status="unknown_tool" if told.is_unknown_tool else "ungoverned",
        changes={
            "gateway": gateway.shown_id,
            "name": gateway.name,
            "run": told.run,
            "tool_call": told.tool_call,
            "seen_by": told.seen_by,
        },
        at=at,
    )
