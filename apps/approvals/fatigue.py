"""How answering wears people: how long requests wait, how fast answers come, how often they are the same.

An answer took the time since a person could begin with it: since it was asked, or since their own last answer,
whichever is later. Requests that were answered together count as one answer there. Beside it stands the time since
their own first look at the request, as their open page told it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection
from django.db.models import Aggregate, Count, DurationField, ExpressionWrapper, F, Q, QuerySet
from django.db.models.functions import TruncDay, TruncHour

from apps.approvals.models import Approval, Grant
from apps.approvals.proposals import FEWEST, Proposal, proposal_for
from apps.approvals.selectors import WAITED_UNTIL, grants_standing
from apps.approvals.states import ALLOWED, State
from apps.registry.models import Environment

FAST_S: Final = 2
MOST: Final = 50
PROPOSALS_MOST: Final = 5
HOURLY_UP_TO: Final = timedelta(days=2)
ENDED: Final = (*ALLOWED, State.DENIED, State.EXPIRED)

PEOPLE: Final = """
WITH answered AS (
    SELECT decided_by_label AS who, state, decided_at, requested_at, a.id, COALESCE(batch_id, a.id) AS act,
           EXTRACT(EPOCH FROM decided_at - requested_at - stood_still) AS waited,
           CASE WHEN batch_id IS NULL THEN EXTRACT(EPOCH FROM decided_at - look.at) END AS looked
    FROM approvals_approval AS a
    LEFT JOIN approvals_look AS look ON look.approval_id = a.id AND look.person_id = a.decided_by_id
    WHERE environment_id = %(environment)s AND decided_at >= %(since)s AND decided_at < %(until)s
      AND state IN ('allowed_once', 'allowed_always', 'denied') AND decided_by_label <> ''
), acts AS (
    SELECT who, act, MIN(decided_at) AS at, MAX(requested_at) AS asked FROM answered GROUP BY who, act
), timed AS (
    SELECT who, act, at, EXTRACT(EPOCH FROM at - GREATEST(asked, LAG(at, 1, asked) OVER own)) AS took
    FROM acts WINDOW own AS (PARTITION BY who ORDER BY at, act)
), rows_of AS (
    SELECT who, took, COUNT(*) FILTER (WHERE took >= %(fast)s) OVER (PARTITION BY who ORDER BY at, act) AS stretch
    FROM timed
), longest AS (
    SELECT who, MAX(fast) AS longest FROM (
        SELECT who, COUNT(*) FILTER (WHERE took < %(fast)s) AS fast FROM rows_of GROUP BY who, stretch
    ) AS stretches GROUP BY who
), tempo AS (
    SELECT who, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY took) AS took,
           COUNT(*) FILTER (WHERE took < %(fast)s) AS fast
    FROM timed GROUP BY who
), counted AS (
    SELECT who, COUNT(*) AS answered, COUNT(*) FILTER (WHERE state = 'denied') AS denied,
           PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY waited) AS waited,
           PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY looked) AS looked
    FROM answered GROUP BY who
)
SELECT who, answered, denied, waited, looked, tempo.took, tempo.fast, longest.longest
FROM counted JOIN tempo USING (who) JOIN longest USING (who)
ORDER BY answered DESC, who LIMIT %(most)s
"""


class Median(Aggregate):
    """The value in the middle. Source: PostgreSQL manual, ordered-set aggregates."""

    function = "PERCENTILE_CONT"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = DurationField()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """What became of requests, and half of them waited at most `wait_ms`."""

    ended: int = 0
    allowed: int = 0
    denied: int = 0
    expired: int = 0
    wait_ms: int | None = None

    def percent(self, count: int) -> int:
        return round(100 * count / self.ended) if self.ended else 0

    @property
    def allowed_percent(self) -> int:
        return self.percent(self.allowed)

    @property
    def denied_percent(self) -> int:
        return self.percent(self.denied)

    @property
    def expired_percent(self) -> int:
        return self.percent(self.expired)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonTempo(Shares):
    """How one person answers; `longest_row` is how many answers in a row took less than two seconds each.

    `look_ms` counts from the person's own first look at the request; None where no look is known.
    """

    who: str
    look_ms: int | None
    decision_ms: int | None
    fast: int
    longest_row: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleLoad(Shares):
    """What one rule asks of people."""

    layer: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Shares):
    """One hour, or one day."""

    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Fatigue:
    """How answering went in a time; people and rules with the most answers first, fifty of each at most."""

    since: datetime
    until: datetime
    total: Shares
    people: Sequence[PersonTempo]
    rules: Sequence[RuleLoad]
    steps: Sequence[Step]


def fatigue(environment: Environment, *, since: datetime, until: datetime) -> Fatigue:
    """Measure how people of an environment answered; withdrawn and superseded requests count nowhere."""
    ended = Approval.objects.filter(
        environment=environment, decided_at__gte=since, decided_at__lt=until, state__in=ENDED
    ).annotate(waited=ExpressionWrapper(WAITED_UNTIL - F("requested_at") - F("stood_still"), DurationField()))
    by_rule = _counted(ended, "reason_layer", "reason_rule").order_by("-ended", "reason_layer", "reason_rule")
    return Fatigue(
        since=since,
        until=until,
        total=Shares(**_shares(ended.aggregate(**AGGREGATES))),
        people=_people(environment, since, until),
        rules=[
            RuleLoad(layer=row.pop("reason_layer"), rule=row.pop("reason_rule"), **_shares(row))
            for row in by_rule[:MOST]
        ],
        steps=_steps(ended, since, until),
    )


def narrower(environment: Environment) -> list[tuple[Grant, Proposal]]:
    """Propose narrower rules for the standing grants that are used most, from what they were used for."""
    found = grants_standing(environment).filter(uses__gte=FEWEST).exclude(arg_pattern="").order_by("-uses", "id")
    pairs = [(grant, proposal_for(grant)) for grant in found[:PROPOSALS_MOST]]
    return [(grant, proposal) for grant, proposal in pairs if proposal is not None]


AGGREGATES: Final[dict[str, Aggregate]] = {
    "ended": Count("id"),
    "allowed": Count("id", filter=Q(state__in=ALLOWED)),
    "denied": Count("id", filter=Q(state=State.DENIED)),
    "expired": Count("id", filter=Q(state=State.EXPIRED)),
    "wait": Median("waited"),
}


def _counted(rows: Any, *names: str) -> Any:
    """Count rows by some columns; each row of the answer is a mapping of these and of what was counted."""
    return rows.values(*names).annotate(**AGGREGATES)


def _shares(row: dict[str, Any]) -> dict[str, Any]:
    wait = row.pop("wait")
    return row | {"wait_ms": None if wait is None else round(wait.total_seconds() * 1000)}


def _people(environment: Environment, since: datetime, until: datetime) -> list[PersonTempo]:
    values: dict[str, Any] = {
        "environment": environment.pk,
        "since": since,
        "until": until,
        "fast": FAST_S,
        "most": MOST,
    }
    with connection.cursor() as cursor:
        cursor.execute(PEOPLE, values)
        rows = cursor.fetchall()
    return [
        PersonTempo(
            who=who,
            ended=answered,
            allowed=answered - denied,
            denied=denied,
            wait_ms=_ms(waited),
            look_ms=_ms(looked),
            decision_ms=_ms(took),
            fast=fast,
            longest_row=longest,
        )
        for who, answered, denied, waited, looked, took, fast, longest in rows
    ]


def _steps(ended: QuerySet[Approval], since: datetime, until: datetime) -> list[Step]:
    """Give every hour or day from the first to the last, those without a request too."""
    hourly = until - since <= HOURLY_UP_TO
    trunc, step = (TruncHour, timedelta(hours=1)) if hourly else (TruncDay, timedelta(days=1))
    rows = {row["at"]: row for row in _counted(ended.annotate(at=trunc("decided_at")), "at")}
    at = since.replace(minute=0, second=0, microsecond=0)
    at = at if hourly else at.replace(hour=0)
    steps = []
    while at < until:
        row = rows.get(at)
        steps.append(Step(at=at) if row is None else Step(**_shares(row)))
        at += step
    return steps


def _ms(seconds: Any) -> int | None:
    return None if seconds is None else max(0, round(float(seconds) * 1000))
