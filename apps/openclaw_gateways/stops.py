"""What the kill switch ends at a gateway: asked there, and confirmed, or said to run on. No call is judged here."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.openclaw_gateways.calls import Report, report_keep
from apps.openclaw_gateways.models import GatewayCall, OpenClawGateway
from apps.openclaw_gateways.records import gateway_entry

HEARD: Final = "halts.heard"
MESSAGE_LIMIT: Final = 300
State = GatewayCall.State
Ending = GatewayCall.Ending


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a gateway says of a call that it was to end.

    Args:
        is_ended: nothing of it runs any more.
        message: how it ended, or why it runs on.
    """

    call_id: UUID
    is_ended: bool
    message: str


def calls_running(gateway: OpenClawGateway, boot: str, background: Iterable[UUID]) -> list[GatewayCall]:
    """Give the calls of which something runs at a gateway, and whose end nobody has asked for.

    Args:
        boot: of the process that asks; what an earlier one ran has ended with it.
        background: calls that have been reported, and whose commands run on, as the gateway says.
    """
    runs = Q(state=State.TOLD, is_withdrawn=False) | Q(pk__in=list(background), told_at__isnull=False)
    return list(GatewayCall.objects.filter(runs, gateway=gateway, boot=boot, ending=Ending.NONE))


def end_ask(call: GatewayCall, *, by: str) -> None:
    """Ask the gateway to end a call."""
    GatewayCall.objects.filter(pk=call.pk, ending=Ending.NONE).update(ending=Ending.ASKED, ending_by=by)


def ends_asked(gateway: OpenClawGateway, boot: str) -> list[GatewayCall]:
    """Give the calls that a gateway is to end, and has not said of what became of that."""
    return list(GatewayCall.objects.filter(gateway=gateway, boot=boot, ending=Ending.ASKED).order_by("pk"))


def runs_on(gateway: OpenClawGateway, boot: str, background: Iterable[UUID]) -> bool:
    """Say whether something runs on at a gateway that it could not end."""
    runs = Q(state=State.TOLD) | Q(pk__in=list(background))
    return GatewayCall.objects.filter(runs, gateway=gateway, boot=boot, ending=Ending.FAILED).exists()


def ends_take(gateway: OpenClawGateway, ended: Iterable[Ended], *, at: datetime) -> None:
    """Take what a gateway says of the calls that it was to end. Harmless to repeat.

    A call that nobody has reported ends as cancelled. One that runs on, and a command that a call had left behind, are
    entries of the ledger.
    """
    for each in ended:
        with transaction.atomic():
            _take(gateway, each, at)


def stops_held(gateway: OpenClawGateway, digest: str, *, at: datetime) -> None:
    """Note that a gateway holds to the stops of a digest."""
    is_news = gateway.stops_digest != digest
    with transaction.atomic():
        OpenClawGateway.objects.filter(pk=gateway.pk).update(stops_digest=digest, stops_heard_at=at)
        if is_news:
            announce(HEARD, id=gateway.pk, environment=gateway.environment.slug)


def _take(gateway: OpenClawGateway, ended: Ended, at: datetime) -> None:
    rows = GatewayCall.objects.select_for_update(of=("self",)).select_related("gateway__environment")
    row = rows.filter(pk=ended.call_id, gateway=gateway, ending=Ending.ASKED).first()
    if row is None:
        return
    row.ending = Ending.ENDED if ended.is_ended else Ending.FAILED
    row.save(update_fields=["ending"])
    if ended.is_ended and row.state == State.TOLD:
        report_keep(row, Report(is_error=True, error=ended.message))
        return
    if ended.is_ended and row.outcome in {"", "cancelled"}:
        return  # its own report came first, and says so
    entry_record(
        gateway_entry(
            gateway,
            "command_stopped" if ended.is_ended else "not_stopped",
            actor=gateway.token.actor,
            at=at,
            call=row.shown_id,
            tool=row.tool,
            agent=row.agent,
            by=row.ending_by,
            message=ended.message[:MESSAGE_LIMIT],
        )
    )
