"""Reading gateways, their calls and their alarms."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from apps.openclaw_gateways.models import Alarm, GatewayCall, OpenClawGateway
from apps.registry.models import Environment
from apps.registry.probing import PROBES

CALLS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Traffic:
    """How many calls a gateway asked about in a stretch of time, and of how many agents."""

    calls: int = 0
    agents: int = 0


def gateways(environment: Environment | None = None) -> QuerySet[OpenClawGateway]:
    """Give gateways by name, each with `alarms_standing`; those of one environment, or all but that of probes."""
    found = OpenClawGateway.objects.exclude(environment__slug=PROBES)
    found = found.select_related("environment", "token__created_by")
    found = found.annotate(alarms_standing=Count("alarms", filter=Q(alarms__cleared_at__isnull=True), distinct=True))
    return found if environment is None else found.filter(environment=environment)


def gateway_of_token(token_id: UUID) -> OpenClawGateway | None:
    """Find the gateway that a token belongs to."""
    found = OpenClawGateway.objects.select_related("environment", "token__created_by")
    return found.filter(token_id=token_id, revoked_at=None).first()


def actors_of_gateways(environment: Environment) -> list[str]:
    """Give the names by which the ledger knows an environment's gateways, revoked ones as well."""
    found = OpenClawGateway.objects.filter(environment=environment).select_related("token")
    return [each.token.actor for each in found]


def alarms_standing(environment: Environment | None = None) -> list[Alarm]:
    """Give the alarms that nobody has cleared, newest first."""
    found = Alarm.objects.filter(cleared_at=None).select_related("gateway__environment")
    return list(found if environment is None else found.filter(gateway__environment=environment))


def alarms_of(gateway: OpenClawGateway) -> list[Alarm]:
    """Give the alarms of a gateway that nobody has cleared, newest first."""
    return list(Alarm.objects.filter(gateway=gateway, cleared_at=None).select_related("gateway"))


def calls_newest(gateway: OpenClawGateway, *, limit: int = CALLS_SHOWN) -> list[GatewayCall]:
    """Give a gateway's latest calls."""
    return list(GatewayCall.objects.filter(gateway=gateway)[:limit])


def calls_latest(gateway_ids: Iterable[UUID]) -> dict[UUID, GatewayCall]:
    """Give the latest call of each gateway that made one."""
    newest = GatewayCall.objects.filter(gateway_id__in=list(gateway_ids)).order_by("gateway_id", "-asked_at", "-id")
    return {row.gateway_id: row for row in newest.distinct("gateway_id")}


def traffic_since(gateway_ids: Iterable[UUID], since: datetime) -> dict[UUID, Traffic]:
    """Count what gateways asked about since then; those that asked nothing are left out."""
    asked = GatewayCall.objects.filter(gateway_id__in=list(gateway_ids), asked_at__gte=since).order_by()
    counted = asked.values("gateway_id").annotate(calls=Count("id"), agents=Count("agent", distinct=True))
    return {each["gateway_id"]: Traffic(each["calls"], each["agents"]) for each in counted}
