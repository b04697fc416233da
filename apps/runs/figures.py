"""Figures over many runs: what was offered against what it would have been, how tools were found, what was not."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Count, Max, QuerySet, Sum
from django.db.models.functions import TruncDay

from apps.registry.models import Environment
from apps.runs.models import RunCall, RunSearch, ToolRun

RANKS: Final = 10
"""Ranks that are counted one by one; what was found lower is counted together."""
EMPTY_SHOWN: Final = 20
NEVER: Final = 0
"""Stands for the rank of what no search had found, and `RANKS` + 1 for all below."""

SUMS: Final = ("direct_bytes", "surface_bytes", "catalogue_size", "visible", "searches", "describes", "codes", "calls")


@dataclass(frozen=True, slots=True)
class Offered:
    """Runs that were offered their tools alike."""

    mode: str
    why: str
    runs: int
    direct_bytes: int
    offered_bytes: int

    @property
    def saved_percent(self) -> int:
        return saved_percent(self.direct_bytes, self.offered_bytes)


@dataclass(frozen=True, slots=True)
class Day:
    """One day, UTC."""

    at: datetime
    runs: int = 0
    direct_bytes: int = 0
    offered_bytes: int = 0

    @property
    def saved_bytes(self) -> int:
        return max(0, self.direct_bytes - self.offered_bytes)


@dataclass(frozen=True, slots=True)
class Missed:
    """A query that found nothing."""

    query: str
    count: int
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What came of the runs of a time.

    Args:
        totals: sums of the columns of `SUMS`.
        through: how calls came, and how many.
        ranks: rank of the tool that was called -> how often; `NEVER` and `RANKS` + 1 among them.
        sources: where called tools came from.
        missed: the newest queries that found nothing; `missed_count` counts all of them.
    """

    since: datetime
    until: datetime
    runs: int
    totals: Mapping[str, int]
    modes: Sequence[Offered]
    days: Sequence[Day]
    outcomes: Mapping[str, int]
    through: Mapping[str, int]
    sources: Mapping[str, int]
    ranks: Mapping[int, int]
    missed: Sequence[Missed]
    missed_count: int

    @property
    def direct_bytes(self) -> int:
        return self.totals["direct_bytes"]

    @property
    def offered_bytes(self) -> int:
        return self.totals["surface_bytes"]

    @property
    def saved_bytes(self) -> int:
        return max(0, self.direct_bytes - self.offered_bytes)

    @property
    def saved_percent(self) -> int:
        return saved_percent(self.direct_bytes, self.offered_bytes)

    def mean(self, column: str) -> int:
        """Give the mean of a column over the runs."""
        return round(self.totals[column] / self.runs) if self.runs else 0


def saved_percent(direct: int, offered: int) -> int:
    return round(100 * max(0, direct - offered) / direct) if direct else 0


def run_figures(environment: Environment, *, days: int, until: datetime, agents: Sequence[str] = ()) -> Figures:
    """Add up the runs of the last days, today included.

    Args:
        days: at least 1.
        agents: the only ones that count; all when empty.
    """
    since = _day(until) - timedelta(days=days - 1)
    runs = ToolRun.objects.filter(environment=environment, begun_at__gte=since, begun_at__lte=until).exclude(mode="")
    calls = RunCall.objects.filter(environment=environment, at__gte=since, at__lte=until)
    missed = RunSearch.objects.filter(environment=environment, at__gte=since, at__lte=until, found=[])
    if agents:
        runs = runs.filter(agent__in=agents)
        calls, missed = calls.filter(run__agent__in=agents), missed.filter(run__agent__in=agents)
    by_day = _days(runs)
    totals: Counter[str] = Counter()
    for row in by_day.values():
        totals.update({name: row[name] for name in SUMS})
    counted = _calls(calls)
    by_query = missed.values("query").annotate(count=Count("id"), last_at=Max("at"))
    return Figures(
        since=since,
        until=until,
        runs=sum(row["runs"] for row in by_day.values()),
        totals={name: totals[name] for name in SUMS},
        modes=_modes(runs),
        days=[_told_day(since + timedelta(days=number), by_day) for number in range(days)],
        outcomes=_outcomes(runs),
        **counted,
        missed=[Missed(**row) for row in by_query.order_by("-last_at")[:EMPTY_SHOWN]],
        missed_count=missed.count(),
    )


def _day(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def _days(runs: QuerySet[ToolRun]) -> dict[datetime, dict[str, Any]]:
    sums = {f"sum_{name}": Sum(name) for name in SUMS}
    counted: Any = runs.order_by().annotate(day=TruncDay("begun_at")).values("day").annotate(runs=Count("id"), **sums)
    return {row["day"]: {"runs": row["runs"], **{name: row[f"sum_{name}"] for name in SUMS}} for row in counted}


def _told_day(at: datetime, by_day: Mapping[datetime, Mapping[str, Any]]) -> Day:
    row = by_day.get(at)
    return Day(at) if row is None else Day(at, row["runs"], row["direct_bytes"], row["surface_bytes"])


def _modes(runs: QuerySet[ToolRun]) -> list[Offered]:
    rows: Any = runs.order_by().values_list("mode", "why")
    rows = rows.annotate(count=Count("id"), direct=Sum("direct_bytes"), offered=Sum("surface_bytes"))
    return [Offered(*row) for row in rows.order_by("-count", "mode", "why")]


def _outcomes(runs: QuerySet[ToolRun]) -> dict[str, int]:
    rows = runs.order_by().values_list("outcome").annotate(count=Count("id"))
    return dict(rows.order_by("-count", "outcome"))


def _calls(calls: QuerySet[RunCall]) -> dict[str, dict[Any, int]]:
    through: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    ranks: Counter[int] = Counter()
    rows = calls.order_by().values_list("through", "source", "rank").annotate(count=Count("call_id"))
    for way, source, rank, count in rows:
        through[way] += count
        sources[source] += count
        ranks[NEVER if rank is None else min(rank, RANKS + 1)] += count
    places = [*range(1, RANKS + 2), NEVER]
    return {"through": dict(through), "sources": dict(sources), "ranks": {place: ranks[place] for place in places}}
