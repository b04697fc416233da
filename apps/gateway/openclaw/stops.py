"""`/api/v1/openclaw/stops`: a gateway hears what is stopped, ends what runs against it, and says that it holds to it.

One request waits here for each gateway. It is answered when something else is stopped than the gateway last heard of,
or when it has calls to end; the next request says what became of them.
"""

import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.utils import timezone

from apps.audit.chain import storable_text
from apps.events.waiters import waiters
from apps.firewall.engine.context import CallContext
from apps.firewall.identifiers import read_id
from apps.firewall.runtime.halts.matching import aim_of, halt_for
from apps.gateway.database import in_database
from apps.gateway.lifecycle import Gateway
from apps.gateway.openclaw.reading import MESSAGE_LIMIT, WAIT_LIMIT_MS, gateway_of, own_name
from apps.gateway.runtime_api.http import Request, mistakes
from apps.gateway.runtime_api.reading import Details, whole_number
from apps.gateway.tokens import TokenGrant
from apps.halts.models import Halt
from apps.halts.selectors import halts_standing_in, rule_of
from apps.openclaw_gateways.models import GatewayCall, OpenClawGateway
from apps.openclaw_gateways.stops import Ended, calls_running, end_ask, ends_asked, ends_take, runs_on, stops_held
from apps.registry.models import Environment

REREAD_S: Final = 5.0
BACKGROUND_LIMIT: Final = 500
ENDED_LIMIT: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class StopsTold:
    """What a gateway says of stops.

    Args:
        heard: digest of the stops that it last heard of.
        background: calls that were reported, and whose commands run on.
        ended: what became of the calls that it was to end.
    """

    boot: str
    heard: str
    background: tuple[UUID, ...]
    ended: tuple[Ended, ...]
    wait_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """What a gateway is to hold to now.

    Args:
        digest: over what is stopped; the gateway gives it back when it has heard of it.
        stops: how many stops there are.
        ends: calls that it is to end, each with who wants that.
    """

    digest: str
    stops: int
    ends: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        return {"digest": self.digest, "stops": self.stops, "end": [{"call": id_, "by": by} for id_, by in self.ends]}


async def hold(_: Gateway, grant: TokenGrant, request: Request, __: str) -> tuple[int, Any]:
    """Tell a gateway what it is to hold to, as soon as that differs from what it says."""
    gateway = await gateway_of(grant)
    told = read_stops(await request.json())
    deadline = time.monotonic() + told.wait_ms / 1000
    await in_database(ends_take, gateway, told.ended, at=timezone.now())
    async with waiters.watch(gateway.environment_id) as watch:
        while True:
            found = await in_database(_look, gateway.pk, told, timezone.now())
            left = deadline - time.monotonic()
            if found.ends or found.digest != told.heard or left <= 0:
                return 200, found.to_json()
            await watch.changed(timeout_s=min(left, REREAD_S))


def _look(gateway_id: UUID, told: StopsTold, at: datetime) -> Holding:
    """Read what is stopped, and ask for the end of what runs against it. Where nothing does, it holds to it."""
    gateway = OpenClawGateway.objects.select_related("environment").get(pk=gateway_id)
    standing = halts_standing_in(gateway.environment)
    if standing.ending:
        for call in calls_running(gateway, told.boot, told.background):
            by = _ended_by(gateway.environment, standing.ending, call)
            if by is not None:
                end_ask(call, by=by)
    ends = tuple((call.shown_id, call.ending_by) for call in ends_asked(gateway, told.boot))
    if (
        not ends
        and told.heard == standing.digest
        and not (standing.ending and runs_on(gateway, told.boot, told.background))
    ):
        stops_held(gateway, standing.digest, at=at)
    stops = len(standing.by_environment[gateway.environment.slug].halts)
    return Holding(digest=standing.digest, stops=stops, ends=ends)


def _ended_by(environment: Environment, ending: tuple[Halt, ...], call: GatewayCall) -> str | None:
    context = CallContext(channel=call.channel or None, session_key=call.session_key or None)
    aim = aim_of(context, agent=call.agent, tool=call.tool, release=environment.dialect)
    return next((halt.placed_by_label for halt in ending if halt_for([rule_of(halt)], aim)), None)


def read_stops(body: dict[str, Any]) -> StopsTold:
    """Read what a gateway says of stops.

    Raises:
        Problem: 422, it has mistakes.
    """
    details: Details = []
    boot, heard = own_name(body, "boot", details), body.get("heard", "")
    if not isinstance(heard, str) or len(heard) > 64:
        details.append({"path": "heard", "code": "invalid", "message": "`heard` must be a text of up to 64 characters"})
    wait_ms = whole_number(body.get("wait_ms"), "wait_ms", details, default=WAIT_LIMIT_MS, maximum=WAIT_LIMIT_MS)
    background = [_call(each, "background", details) for each in _list(body, "background", BACKGROUND_LIMIT, details)]
    ended = [_ended(each, details) for each in _list(body, "ended", ENDED_LIMIT, details)]
    if details:
        raise mistakes(details)
    return StopsTold(
        boot=boot,
        heard=str(heard),
        background=tuple(each for each in background if each is not None),
        ended=tuple(each for each in ended if each is not None),
        wait_ms=wait_ms,
    )


def _list(body: dict[str, Any], name: str, limit: int, details: Details) -> list[Any]:
    value = body.get(name, [])
    if isinstance(value, list) and len(value) <= limit:
        return value
    details.append({"path": name, "code": "invalid", "message": f"`{name}` must be a list of up to {limit}"})
    return []


def _call(value: Any, path: str, details: Details) -> UUID | None:
    try:
        return read_id("call", value)
    except (TypeError, ValueError, AttributeError):
        details.append({"path": path, "code": "invalid", "message": f"`{path}` must name calls by their ids"})
        return None


def _ended(value: Any, details: Details) -> Ended | None:
    if not isinstance(value, dict) or not isinstance(value.get("is_ended"), bool):
        details.append({"path": "ended", "code": "invalid", "message": "`ended` must say `is_ended` of each call"})
        return None
    call_id = _call(value.get("call"), "ended.call", details)
    message = value.get("message")
    text = storable_text(message[:MESSAGE_LIMIT]) if isinstance(message, str) else ""
    return None if call_id is None else Ended(call_id=call_id, is_ended=value["is_ended"], message=text)
