"""What a gateway reports: how a call went, and calls that ran although its plugin was never asked."""

from typing import Any

from django.utils import timezone

from apps.firewall.identifiers import show_id
from apps.gateway.counters import counters
from apps.gateway.database import in_database
from apps.gateway.lifecycle import Gateway
from apps.gateway.openclaw.asking import call_named
from apps.gateway.openclaw.reading import gateway_of, read_report, read_ungoverned
from apps.gateway.runtime_api.http import Request
from apps.gateway.tokens import TokenGrant
from apps.openclaw_gateways.alarms import ungoverned_report
from apps.openclaw_gateways.calls import call_report


async def outcome(_: Gateway, grant: TokenGrant, request: Request, identifier: str) -> tuple[int, Any]:
    """Take the outcome of a call that was told to run; the first report counts."""
    gateway = await gateway_of(grant)
    call_id = call_named(identifier)
    report = read_report(await request.json())
    row = await in_database(call_report, gateway, call_id, report, at=timezone.now())
    return 200, {"id": show_id("call", call_id), "status": row.state}


async def ungoverned(_: Gateway, grant: TokenGrant, request: Request, __: str) -> tuple[int, Any]:
    """Take what the gateway tells of a call that nobody asked about: it is recorded, and raises the alarm."""
    gateway = await gateway_of(grant)
    told = read_ungoverned(await request.json())
    alarm = await in_database(ungoverned_report, gateway, told, at=timezone.now())
    if alarm is not None:
        counters.add("openclaw.ungoverned")
    return 200, {"alarm": None if alarm is None else alarm.shown_id}
