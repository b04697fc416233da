"""What a gateway reports: how a call went, calls that ran without a question, and those it blocked unasked."""

from typing import Any, Final

from django.utils import timezone

from apps.firewall.identifiers import show_id
from apps.gateway.counters import counters
from apps.gateway.database import in_database
from apps.gateway.lifecycle import Gateway
from apps.gateway.openclaw.asking import call_named, take_back
from apps.gateway.openclaw.reading import TEXT_LIMIT, gateway_of, loose_text, own_name, read_report, read_ungoverned
from apps.gateway.runtime_api.http import Request, mistakes
from apps.gateway.runtime_api.reading import Details, whole_number
from apps.gateway.tokens import TokenGrant
from apps.openclaw_gateways.alarms import ungoverned_report
from apps.openclaw_gateways.blocked import Blocked, blocked_take, dropped_take
from apps.openclaw_gateways.calls import call_report

ATTEMPTS_LIMIT: Final = 100
DROPPED_LIMIT: Final = 10**9


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


async def blocked(_: Gateway, grant: TokenGrant, request: Request, __: str) -> tuple[int, Any]:
    """Take what the gateway tells of calls that it blocked because it could not ask, and of reports that it lost."""
    gateway = await gateway_of(grant)
    attempts, dropped = read_blocked(await request.json())
    for attempt in attempts:
        asked = await in_database(blocked_take, gateway, attempt, at=timezone.now())
        if asked is not None:
            await take_back(gateway, asked.pk)
    await in_database(dropped_take, gateway, dropped, at=timezone.now())
    return 200, {"taken": len(attempts)}


def read_blocked(body: dict[str, Any]) -> tuple[list[Blocked], int]:
    """Read what a gateway blocked by itself. Of an attempt, what cannot be read is kept as it may be.

    Raises:
        Problem: 422, it has mistakes.
    """
    details: Details = []
    dropped = whole_number(body.get("dropped"), "dropped", details, default=0, maximum=DROPPED_LIMIT)
    attempts = body.get("attempts", [])
    if not isinstance(attempts, list) or len(attempts) > ATTEMPTS_LIMIT:
        message = f"`attempts` must be a list of up to {ATTEMPTS_LIMIT}"
        details.append({"path": "attempts", "code": "invalid", "message": message})
        attempts = []
    read = [_attempt(each, details) for each in attempts]
    if details:
        raise mistakes(details)
    return [each for each in read if each is not None], dropped


def _attempt(value: Any, details: Details) -> Blocked | None:
    if not isinstance(value, dict):
        details.append({"path": "attempts", "code": "invalid", "message": "each of `attempts` must be an object"})
        return None
    key = own_name(value, "key", details, path="attempts.key")
    params, context = value.get("params"), value.get("context")
    context = context if isinstance(context, dict) else {}
    return Blocked(
        key=key,
        tool=loose_text(value, "tool") or "(unnamed)",
        agent=loose_text(value, "agent"),
        session_key=loose_text(value, "session"),
        channel=loose_text(context, "channel"),
        sender=loose_text(context, "sender_id"),
        run=loose_text(value, "run")[:200],
        tool_call=loose_text(value, "tool_call"),
        blocked_at=loose_text(value, "blocked_at")[:40],
        reason=loose_text(value, "reason", TEXT_LIMIT),
        params=params if isinstance(params, dict) else {},
    )
