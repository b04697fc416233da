"""Which OpenClaw Gateways hold to what is stopped: each says so itself, once nothing runs there against it."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.utils import timezone

from apps.halts.selectors import halts_standing_in
from apps.openclaw_gateways.models import OpenClawGateway, Standing
from apps.openclaw_gateways.selectors import gateways
from apps.registry.models import Environment
from apps.registry.selectors import environment_find

LOOK_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class GatewayHolds:
    """A gateway that was not revoked, and whether it holds to every stop of its environment.

    Args:
        holds: it reports, and has said that nothing runs there against them.
    """

    pk: UUID
    name: str
    standing: Standing
    holds: bool
    heard_at: datetime | None
    last_seen_at: datetime | None

    @property
    def reports(self) -> bool:
        """Say whether it has been heard of just now."""
        return self.standing == Standing.LIVE

    @property
    def shown_id(self) -> str:
        return OpenClawGateway(pk=self.pk).shown_id


def gateways_held(environment: Environment, *, at: datetime) -> list[GatewayHolds]:
    """List the gateways of an environment, those first that do not hold to every stop."""
    digest = halts_standing_in(environment).digest
    rows = [(row, row.standing(at)) for row in gateways(environment)]
    listed = [
        GatewayHolds(
            pk=row.pk,
            name=row.name,
            standing=standing,
            holds=standing == Standing.LIVE and row.stops_digest == digest,
            heard_at=row.stops_heard_at,
            last_seen_at=row.last_seen_at,
        )
        for row, standing in rows
        if standing != Standing.REVOKED
    ]
    return sorted(listed, key=lambda each: (each.holds, each.name, each.pk))


def gateways_wait(slugs: Iterable[str], *, bound_s: float) -> list[GatewayHolds]:
    """Wait until each gateway that reports holds to what is stopped, or until the bound. After a commit, not inside."""
    until = time.monotonic() + bound_s
    environments = [each for each in map(environment_find, sorted(slugs)) if each is not None]
    while True:
        at = timezone.now()
        listed = [each for environment in environments for each in gateways_held(environment, at=at)]
        left = until - time.monotonic()
        if left <= 0 or all(each.holds or not each.reports for each in listed):
            return listed
        time.sleep(min(LOOK_S, left))


def to_json(listed: Iterable[GatewayHolds]) -> dict[str, Any]:
    """Name those that hold to it, and those that have not said so yet."""
    listed = list(listed)
    holding = [each.name for each in listed if each.holds]
    silent = [{"name": each.name, "standing": str(each.standing)} for each in listed if not each.holds]
    return {"heard": len(holding), "of": len(listed), "holding": holding, "silent": silent}
