"""How long requests wait: those that are open now, and all that ended."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection

WAIT_BOUNDS_S: Final = (1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600)
_WITHIN: Final = ", ".join(
    f"count(*) FILTER (WHERE a.decided_at <= a.requested_at + interval '{bound} seconds')" for bound in WAIT_BOUNDS_S
)
WAITS: Final = f"""
SELECT e.slug,
    count(*) FILTER (WHERE a.state = 'requested' AND (a.expires_at > %s OR a.frozen_at IS NOT NULL)),
    coalesce(extract(epoch FROM %s - min(a.requested_at) FILTER (
        WHERE a.state = 'requested' AND (a.expires_at > %s OR a.frozen_at IS NOT NULL))), 0)::float,
    count(a.decided_at),
    coalesce(sum(extract(epoch FROM a.decided_at - a.requested_at)), 0)::float,
    ARRAY[{_WITHIN}]
FROM registry_environment AS e LEFT JOIN approvals_approval AS a ON a.environment_id = e.id
GROUP BY e.slug ORDER BY e.slug
"""  # noqa: S608 - constants of ours


@dataclass(frozen=True, slots=True)
class Waits:
    """Requests of one environment.

    Args:
        oldest_s: how long the oldest that waits has waited; 0 while none does.
        within: how many of those that ended waited at most as long as each of `WAIT_BOUNDS_S`.
    """

    environment: str
    pending: int
    oldest_s: float
    ended: int
    waited_s: float
    within: tuple[int, ...]


def approval_waits(at: datetime) -> list[Waits]:
    """Measure the requests of every environment."""
    with connection.cursor() as cursor:
        cursor.execute(WAITS, [at, at, at])
        return [_waits(*row) for row in cursor.fetchall()]


def _waits(environment: str, pending: int, oldest_s: float, ended: int, waited_s: float, within: list[int]) -> Waits:
    return Waits(environment, pending, oldest_s, ended, waited_s, tuple(within))
