"""What the pages of standing approvals show."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from apps.approvals.proposals import ANY, proposal_for
from apps.approvals.rules import standing_at
from apps.approvals.selectors import grants_ended, grants_standing

if TYPE_CHECKING:
    from apps.approvals.models import Grant
    from apps.registry.models import Environment

    GrantRecord: TypeAlias = Grant

UNUSED: Final = timedelta(days=30)
SHOWN: Final = 500


@dataclass(frozen=True, slots=True)
class Row:
    """A standing grant as the list shows it."""

    grant: "Grant"
    at: datetime

    @property
    def is_unused(self) -> bool:
        """Say whether nothing ran by it for 30 days."""
        return (self.grant.last_used_at or self.grant.created_at) <= self.at - UNUSED

    @property
    def is_broad(self) -> bool:
        return self.grant.arg_pattern == ANY


def page_of(environment: "Environment", *, at: datetime, agent: str = "", unused: bool = False) -> dict[str, Any]:
    """Every standing grant, or an agent's, or those nobody uses; and what ended.

    Args:
        agent: id of an agent; what holds for every agent holds for it, too.
    """
    standing = grants_standing(environment).filter(standing_at(at))
    if agent:
        standing = standing.filter(agent__in=["", agent])
    rows = [Row(grant, at) for grant in standing[:SHOWN]]
    return {
        "rows": [row for row in rows if row.is_unused or not unused],
        "unused": sum(row.is_unused for row in rows),
        "ended": grants_ended(environment, at=at),
        "agents": sorted(set(grants_standing(environment).exclude(agent="").values_list("agent", flat=True))),
    }


def grant_page(grant: "Grant", *, at: datetime) -> dict[str, Any]:
    """One grant, and a narrower rule where its uses tell of one."""
    stands = grant.revoked_at is None and (grant.expires_at is None or grant.expires_at > at)
    return {
        "grant": grant,
        "row": Row(grant, at),
        "stands": stands,
        "proposal": proposal_for(grant) if stands else None,
    }
