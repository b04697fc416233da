"""Reading requests and standing grants."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Avg, Count, DurationField, ExpressionWrapper, F, Max, Q, QuerySet
from django.db.models.functions import Coalesce, Least

from apps.accounts.access import Principal, bound_of
from apps.approvals import rules
from apps.approvals.grants import params_digest
from apps.approvals.models import Approval, Grant
from apps.approvals.running import CLAIM_WINDOW
from apps.approvals.states import ALLOWED, State
from apps.audit.selectors import LikeCounts, PastCommand, calls_like, commands_past
from apps.registry.models import Environment
from apps.registry.probing import PROBES
from apps.remembered import remembered
from apps.rows import RowsBy

WAITED_UNTIL = Least(F("decided_at"), F("expires_at"))
"""Nobody waits past the deadline, however much later a server that was away wrote the end down."""
LOOKED_AT = 5000
"""Past calls that the reach of an "always" is held against."""
BY_PROGRAMS = "rpc"
"""The layer of requests whose program runs the command itself: an "always" speaks for none of these."""


_now = RowsBy(lambda: Approval.objects.select_related("environment"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalCounts:
    """How the queue stands, and what became of the requests that ended since a moment; waits in milliseconds."""

    pending: int
    decided: int
    allowed: int
    denied: int
    expired: int
    average_wait_ms: int | None
    longest_wait_ms: int | None


def approvals_pending(environment: Environment | None = None) -> QuerySet[Approval]:
    """Give the requests that wait, the one with the least time left first; of all but that of probes when None."""
    pending = Approval.objects.filter(state=State.REQUESTED).select_related("environment")
    if environment is None:
        pending = pending.exclude(environment__slug=PROBES)
    else:
        pending = pending.filter(environment=environment)
    return pending.order_by("expires_at", "id")


@remembered
def asking_agents(environment: str) -> list[str]:
    """Name the agents with requests that wait in the environment with a slug; in all where it is empty."""
    rows = Approval.objects.filter(state=State.REQUESTED)
    if environment:
        rows = rows.filter(environment__slug=environment)
    return list(rows.order_by("agent").values_list("agent", flat=True).distinct())


def in_time(at: datetime) -> Q:
    """Give the condition of requests that can be answered still: their time is not over, or stands still."""
    return Q(expires_at__gt=at) | Q(frozen_at__isnull=False)


def approvals_recent(environment: Environment | None = None, *, limit: int = 20) -> list[Approval]:
    """Give the requests that ended last, newest first."""
    ended = Approval.objects.filter(decided_at__isnull=False).select_related("environment")
    if environment is not None:
        ended = ended.filter(environment=environment)
    return list(ended.order_by("-decided_at", "-id").prefetch_related("grants")[:limit])


def approval_counts(environment: Environment | None, *, since: datetime) -> ApprovalCounts:
    """Count what waits now, and what ended since a moment. Withdrawn and superseded requests count nowhere."""
    approvals = Approval.objects.all() if environment is None else Approval.objects.filter(environment=environment)
    ended = approvals.filter(decided_at__gte=since).exclude(state__in=[State.CANCELLED, State.SUPERSEDED])
    waited = ExpressionWrapper(WAITED_UNTIL - F("requested_at"), output_field=DurationField())
    counts = ended.aggregate(
        decided=Count("id"),
        allowed=Count("id", filter=Q(state__in=ALLOWED)),
        denied=Count("id", filter=Q(state=State.DENIED)),
        expired=Count("id", filter=Q(state=State.EXPIRED)),
        average=Avg(waited),
        longest=Max(waited),
    )
    average, longest = counts.pop("average"), counts.pop("longest")
    return ApprovalCounts(
        pending=approvals.filter(state=State.REQUESTED).count(),
        average_wait_ms=None if average is None else round(average.total_seconds() * 1000),
        longest_wait_ms=None if longest is None else round(longest.total_seconds() * 1000),
        **counts,
    )


def approval_of_call(call_id: UUID) -> Approval | None:
    """Find the request of a call."""
    return Approval.objects.select_related("environment").filter(call_id=call_id).first()


def approval_now(approval_id: UUID) -> Approval | None:
    """Read a request as it stands; waiters call it after each notice."""
    return _now.one(approval_id)


def approval_of_given_id(given_id: str, *, actor: str) -> Approval | None:
    """Find the newest request that a program gave this id."""
    named = Approval.objects.filter(given_id=given_id, actor=actor).exclude(given_id="")
    return named.select_related("environment").order_by("-requested_at", "-id").first()


def approvals_runnable(at: datetime) -> list[Approval]:
    """Give allowed actions that no runner has taken, oldest first: after a restart they are waiting to run."""
    runnable = Approval.objects.filter(
        state__in=ALLOWED, runs_here=True, claimed_at=None, finished_at=None, decided_at__gt=at - CLAIM_WINDOW
    )
    return list(runnable.select_related("environment").order_by("decided_at", "id"))


def past_calls_like(approval: Approval, *, every_agent: bool = False) -> LikeCounts:
    """Count past calls that an "always" for exactly this action would have covered, and how many were denied."""
    return calls_like(
        environment=approval.environment.slug,
        agent="" if every_agent else approval.agent,
        tool=approval.tool,
        params=approval.params,
        until=approval.requested_at,
    )


def commands_before(approval: Approval, *, every_agent: bool = False, but_of: Sequence[str] = ()) -> list[PastCommand]:
    """Give the last commands before a request, of its agent or of any, that were to run here; equal ones together.

    Args:
        but_of: actors who ran what they asked about themselves.
    """
    return commands_past(
        environment=approval.environment.slug,
        agent="" if every_agent else approval.agent,
        tool=approval.tool,
        until=approval.requested_at,
        limit=LOOKED_AT,
        but_of=but_of,
        but_by=[BY_PROGRAMS],
    )


def grants_for(environment: Environment, agent: str, *, at: datetime, tool: str | None = None) -> list[Grant]:
    """Give the standing grants that hold for an agent now: neither revoked nor ended."""
    standing = Grant.objects.filter(environment=environment, revoked_at=None, agent__in={"", agent})
    if tool is not None:
        standing = standing.filter(tool=tool)
    return list(standing.filter(rules.standing_at(at)).select_related("environment"))


def grant_covering(
    environment: Environment, agent: str, *, tool: str, params: Mapping[str, Any], asked_by: str, at: datetime
) -> Grant | None:
    """Find the standing answer to what a plugin asks about exactly these params of a tool."""
    wanted = params_digest(params, asked_by=asked_by)
    return next(
        (each for each in grants_for(environment, agent, at=at, tool=tool) if each.params_digest == wanted), None
    )


def grants_standing(environment: Environment | None = None) -> QuerySet[Grant]:
    """Give every grant that was not revoked, the one used last first."""
    standing = Grant.objects.filter(revoked_at=None).select_related("environment", "approval", "created_by")
    if environment is not None:
        standing = standing.filter(environment=environment)
    return standing.order_by(Coalesce("last_used_at", "created_at").desc(), "id")


def grants_ended(
    environment: Environment, *, at: datetime, limit: int = 50, viewer: Principal | None = None
) -> list[Grant]:
    """Give the grants that were revoked or ran out, the latest first; to a bound token those of its agents alone."""
    ended = Grant.objects.filter(Q(revoked_at__isnull=False) | Q(expires_at__lte=at), environment=environment)
    if bound := bound_of(viewer):
        ended = ended.filter(agent__in=bound)
    return list(ended.order_by(Coalesce("revoked_at", "expires_at").desc(), "id")[:limit])


def grant_get(environment: Environment, grant_id: UUID) -> Grant | None:
    """Find a grant of an environment, standing or not."""
    return Grant.objects.select_related("environment").filter(environment=environment, pk=grant_id).first()
