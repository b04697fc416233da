"""Pictures of the ledger: calls over time, which values occur, how many there are.

Of one environment, and of one agent, tool, channel, layer or status in it, the follower keeps tallies by hour, and of
the environment as a whole by minute. A picture adds them up and counts itself what lies before the first whole hour or
minute and after the last one: it is exact for what the follower has read. Any other picture is counted from the newest
entries that match, at most 20,000, and says where it stopped.
"""

# ruff: noqa: S608 - statements are put together from constants of ours; every value is a parameter

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db import connection

from apps.audit.filters import EntryFilters
from apps.audit.following import follow_near
from apps.audit.queries import DENIED, JOINED, Where, calls_where, ends_where
from apps.audit.selectors import entries_found

COUNT_LIMIT: Final = 10_000
WORDS_COUNT_LIMIT: Final = 1_000
PICTURE_LIMIT: Final = 20_000
FACET_LIMIT: Final = 20
DEFAULT_SPAN: Final = timedelta(hours=24)
SHORT_SPAN: Final = timedelta(hours=2)
COUNTED_SPAN: Final = timedelta(days=2)
SPANS: Final = tuple(timedelta(days=days) for days in (45, 90, 180))
FACETS: Final = {"agent": "e.agent", "tool": "e.tool", "channel": "e.channel", "layer": "e.decision_layer"}
TALLIED: Final = ("agent", "tool", "channel", "layer", "status")
# Widths of histogram bars, in seconds: what people read at a glance.
STEPS_S = (1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 604_800, 2_592_000)
ORIGIN: Final = datetime(2001, 1, 1, tzinfo=UTC)  # a Monday
_RAN = "e.kind = 'call_outcome' AND e.status NOT IN ('failed', 'unknown')"
_FAILED = "e.kind = 'call_outcome' AND e.status IN ('failed', 'unknown')"


@dataclass(frozen=True, slots=True)
class Bucket:
    """Calls that ended in one span of time."""

    at: datetime
    ran: int
    denied: int
    failed: int

    @property
    def calls(self) -> int:
        return self.ran + self.denied + self.failed

    @property
    def failed_share(self) -> float:
        return self.failed / self.calls if self.calls else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """Calls over time: equal spans of `step_s` seconds from `since` to `until`, empty ones included.

    Args:
        counted_since: where counting stopped before `since` was reached; None when all was counted.
        unread: entries that the follower has not read, so that they may be missing.
    """

    since: datetime
    until: datetime
    step_s: int
    buckets: tuple[Bucket, ...]
    counted_since: datetime | None = None
    unread: int = 0

    @property
    def total(self) -> int:
        return sum(bucket.calls for bucket in self.buckets)

    @property
    def error_share(self) -> float:
        return sum(bucket.failed for bucket in self.buckets) / self.total if self.total else 0.0

    @property
    def denied_share(self) -> float:
        return sum(bucket.denied for bucket in self.buckets) / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class Facet:
    """One value that occurs, and how often."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class Counted:
    """A count that stops at a limit: `is_exact` says whether it was reached."""

    count: int
    is_exact: bool


class Facets(dict[str, tuple[Facet, ...]]):
    """Values by name of filter. `is_exact` says that all calls of the span were counted, not the newest alone."""

    is_exact = True


@dataclass(frozen=True, slots=True)
class _Tally:
    """The rows of audit_tally that a picture adds up; with no environment, those of all."""

    environment: str
    dimension: str
    values: tuple[str, ...]

    @property
    def sql(self) -> str:
        return f"{_of_environment(self.environment)} AND t.dimension = %s AND t.value = ANY(%s)"

    @property
    def parameters(self) -> list[Any]:
        return [*_given(self.environment), self.dimension, list(self.values)]


# The environments that occur, one step in the index each.
_OCCURRING: Final = (
    "WITH RECURSIVE known AS ((SELECT environment FROM audit_tally ORDER BY environment LIMIT 1) UNION ALL"
    " SELECT (SELECT n.environment FROM audit_tally AS n WHERE n.environment > known.environment"
    " ORDER BY n.environment LIMIT 1) FROM known WHERE known.environment IS NOT NULL)"
    " SELECT environment FROM known WHERE environment IS NOT NULL"
)


def _of_environment(environment: str) -> str:
    return "t.environment = %s" if environment else f"t.environment = ANY(ARRAY({_OCCURRING}))"


def _given(environment: str) -> list[str]:
    return [environment] if environment else []


def calls_count(filters: EntryFilters, *, limit: int = COUNT_LIMIT) -> Counted:
    """Count calls up to a limit: a page says "over 10,000" rather than wait."""
    return _count_tallied(filters, limit) or _count_found(filters, limit)


def _count_tallied(filters: EntryFilters, limit: int) -> Counted | None:
    """Add up whole hours and count what lies before and after them; None where tallies do not answer.

    What the follower has not read can only be more: a limit that is reached is reached without it.
    """
    tally, now = (None if filters.kind else _tally_of(filters, 3600)), datetime.now(UTC)
    since, until = filters.since, filters.until
    if tally is None or (since is not None and (until or now) - since <= COUNTED_SPAN):
        return None
    unread = follow_near()
    low, high = (None if since is None else _ceil(since, 3600)), (None if until is None else _floor(until, 3600))
    count = 0
    for start, end in ((since, low), (high, until)):
        if start is not None and end is not None and start < end:
            count += _count_found(replace(filters, since=start, until=end), limit).count
    for start, end in _ever_longer(low, high, now):  # the limit is mostly reached by the newest hours
        if count > limit:
            break
        count += _hours_count(tally, start, end)
    if unread and count <= limit:
        return None
    return Counted(min(count, limit), is_exact=count <= limit)


def _ever_longer(
    low: datetime | None, high: datetime | None, now: datetime
) -> Iterator[tuple[datetime | None, datetime | None]]:
    """Cut a span into parts from its end, each twice as long as the one before; the last one takes what is left."""
    start = _floor(high or now, 3600)
    for span in SPANS:
        end, start = high if span == SPANS[0] else start, start - span
        if low is not None and start <= low:
            yield low, end
            return
        yield start, end
    yield low, start


def _hours_count(tally: _Tally, low: datetime | None, high: datetime | None) -> int:
    bounds = [(sign, at) for sign, at in ((">=", low), ("<", high)) if at is not None]
    rows = _rows(
        f"SELECT coalesce(sum(t.{'ended' if tally.dimension == 'status' else 'begun'}), 0)::bigint"
        f" FROM audit_tally AS t WHERE {tally.sql} AND t.step_s = 3600"
        + "".join(f" AND t.start {sign} %s" for sign, _ in bounds),
        [*tally.parameters, *(at for _, at in bounds)],
    )
    count: int = rows[0][0]
    return count


def _count_found(filters: EntryFilters, limit: int) -> Counted:
    where = calls_where(filters)
    if where.wanted is not None:
        found = len(entries_found(where, "DESC", WORDS_COUNT_LIMIT + 1))
        return Counted(min(found, WORDS_COUNT_LIMIT), is_exact=found <= WORDS_COUNT_LIMIT)
    rows = _rows(
        f"SELECT count(*) FROM (SELECT FROM audit_entry AS e WHERE {where.sql} LIMIT %s) AS found",
        [*where.values, limit + 1],
    )
    count: int = rows[0][0]
    return Counted(min(count, limit), is_exact=count <= limit)


def entry_histogram(filters: EntryFilters, *, at: datetime, bars: int = 60) -> Histogram:
    """Count ended calls over time: ran, denied, failed. Without a span, over the 24 hours before `at`.

    Args:
        bars: at most this many, and one more where the span does not begin with a bar.
    """
    until = filters.until or at
    since = min(filters.since or until - DEFAULT_SPAN, until)
    span_s = max((until - since).total_seconds(), 1)
    step_s = next((step for step in STEPS_S if span_s / step <= bars), int(span_s / bars) + 1)
    tally = _tally_of(filters, step_s)
    if tally is None or until - since <= SHORT_SPAN:
        return _counted(filters, since, until, step_s)
    unread = follow_near()
    origin = _floor(since, step_s)
    pieces, values = [], list[Any]()
    for name, start, end in _parts(since, until, by_minute=not tally.dimension):
        sql, given = _tallied(tally, name, start, end) if name else _edge(filters, start, end)
        pieces.append(sql)
        values += given
    rows = _rows(
        "SELECT date_bin(make_interval(secs => %s), p.start, %s) AS bar, sum(p.ran)::bigint, sum(p.denied)::bigint,"
        f" sum(p.failed)::bigint FROM ({' UNION ALL '.join(pieces)}) AS p GROUP BY bar",
        [step_s, origin, *values],
    )
    return Histogram(
        since=since, until=until, step_s=step_s, buckets=_buckets(rows, origin, until, step_s), unread=unread
    )


STATUS_OF_END = f"CASE WHEN {JOINED} THEN 'joined' WHEN {DENIED} THEN 'denied' ELSE e.status END AS status"


def entry_facets(filters: EntryFilters, *, at: datetime) -> Facets:
    """Count which agents, tools, channels, layers and statuses occur, most frequent first, at most 20 of each.

    Without a span, over the 24 hours before `at`.
    """
    until = filters.until or at
    since = min(filters.since or until - DEFAULT_SPAN, until)
    if _is_plain(filters) and until - since > SHORT_SPAN:
        return _tallied_facets(filters, since, until)
    within = replace(filters, since=since, until=until)
    begun = _newest(calls_where(within), "e.agent, e.tool, e.channel, e.decision_layer")
    ended = _newest(ends_where(within), STATUS_OF_END)
    sets = ", ".join(f"({column})" for column in FACETS.values())
    chosen = " ".join(f"WHEN GROUPING({column}) = 0 THEN '{name}'" for name, column in FACETS.items())
    counted = _rows(
        f"SELECT CASE {chosen} END, COALESCE({', '.join(FACETS.values())}), count(*) FROM ({begun[0]}) AS e"
        f" GROUP BY GROUPING SETS ({sets}) ORDER BY 3 DESC, 2",
        begun[1],
    )
    counted += _rows(
        f"SELECT 'status', status, count(*) FROM ({ended[0]}) AS e GROUP BY 2 ORDER BY 3 DESC, 2", ended[1]
    )
    return _facets(counted, is_exact=sum(row[2] for row in counted if row[0] == "agent") < PICTURE_LIMIT)


def _tally_of(filters: EntryFilters, step_s: int) -> _Tally | None:
    """Name the tallies that answer for these filters; None where there are none."""
    if _is_plain(filters):
        return _Tally(filters.environment, "", ("",))
    named = [name for name in TALLIED if getattr(filters, name)]
    if len(named) != 1 or step_s < 3600:
        return None
    without: dict[str, Any] = {named[0]: type(getattr(filters, named[0]))()}
    if not _is_plain(replace(filters, **without)):
        return None
    values = getattr(filters, named[0])
    values = values if isinstance(values, tuple) else (values,)
    if named[0] == "status" and not {"completed", "failed", "unknown", "denied", "joined"}.issuperset(values):
        return None
    return _Tally(filters.environment, named[0], values)


def _is_plain(filters: EntryFilters) -> bool:
    bare = EntryFilters(environment=filters.environment, since=filters.since, until=filters.until)
    return replace(filters, kind=()) == bare


def _parts(since: datetime, until: datetime, *, by_minute: bool) -> Iterator[tuple[str, datetime, datetime]]:
    """Cut a span into seconds, minutes, whole hours, minutes and seconds; the seconds have no name."""
    hours = min(_ceil(since, 3600), until), max(_floor(until, 3600), min(_ceil(since, 3600), until))
    edges = (since, hours[0]), (hours[1], until)
    if hours[0] < hours[1]:
        yield "3600", *hours
    for start, end in edges:
        if start >= end:
            continue
        first, last = _ceil(start, 60), _floor(end, 60)
        if not by_minute or first >= last:
            yield "", start, end
            continue
        yield "60", first, last
        for piece in ((start, first), (last, end)):
            if piece[0] < piece[1]:
                yield "", *piece


def _tallied(tally: _Tally, step: str, start: datetime, end: datetime) -> tuple[str, list[Any]]:
    return (
        "SELECT t.start, t.ran, t.denied, t.failed FROM audit_tally AS t"
        f" WHERE {tally.sql} AND t.step_s = {step} AND t.start >= %s AND t.start < %s",
        [*tally.parameters, start, end],
    )


def _edge(filters: EntryFilters, start: datetime, end: datetime) -> tuple[str, list[Any]]:
    where = ends_where(replace(filters, since=start, until=end))
    return (
        f"SELECT e.at, ({_RAN})::int, ({DENIED})::int, ({_FAILED})::int FROM audit_entry AS e WHERE {where.sql}",
        where.values,
    )


def _counted(filters: EntryFilters, since: datetime, until: datetime, step_s: int) -> Histogram:
    where = ends_where(replace(filters, since=since, until=until))
    unread = follow_near() if where.wanted is not None else 0
    columns = f"e.at, {_RAN} AS ran, {DENIED} AS denied, {_FAILED} AS failed"
    newest, values = _newest(where, columns)
    rows = _rows(
        "SELECT date_bin(make_interval(secs => %s), e.at, %s) AS bar, count(*) FILTER (WHERE e.ran),"
        " count(*) FILTER (WHERE e.denied), count(*) FILTER (WHERE e.failed), min(e.at)"
        f" FROM ({newest}) AS e GROUP BY bar",
        [step_s, since, *values],
    )
    is_cut = sum(sum(row[1:4]) for row in rows) >= PICTURE_LIMIT
    return Histogram(
        since=since,
        until=until,
        step_s=step_s,
        buckets=_buckets([row[:4] for row in rows], since, until, step_s),
        counted_since=min(row[4] for row in rows) if is_cut else None,
        unread=unread,
    )


def _newest(where: Where, columns: str) -> tuple[str, list[Any]]:
    return (
        f"SELECT {columns} FROM audit_entry AS e WHERE {where.sql} ORDER BY e.at DESC, e.id DESC LIMIT {PICTURE_LIMIT}",
        where.values,
    )


def _buckets(rows: Sequence[Any], origin: datetime, until: datetime, step_s: int) -> tuple[Bucket, ...]:
    counted = {row[0]: Bucket(*row) for row in rows}
    step = timedelta(seconds=step_s)
    starts = [origin + step * number for number in range(-(-int((until - origin).total_seconds()) // step_s))]
    return tuple(counted.get(start, Bucket(start, 0, 0, 0)) for start in starts)


def _tallied_facets(filters: EntryFilters, since: datetime, until: datetime) -> Facets:
    """Count by whole hours; the parts of hours at both ends by what the follower has of them as a whole.

    Figures beside a filter need no more precision than this, and the page says so.
    """
    follow_near()
    rows = _rows(
        "SELECT t.dimension, t.value, sum(CASE WHEN t.dimension = 'status' THEN t.ended ELSE t.begun END)::bigint"
        f" FROM audit_tally AS t WHERE {_of_environment(filters.environment)} AND t.step_s = 3600"
        " AND t.dimension = ANY(%s)"
        " AND t.start >= %s AND t.start < %s GROUP BY 1, 2 ORDER BY 3 DESC, 2",
        [*_given(filters.environment), list(TALLIED), _floor(since, 3600), until],
    )
    return _facets(rows, is_exact=True)


def _facets(rows: Sequence[Any], *, is_exact: bool) -> Facets:
    names = (*FACETS, "status")
    facets = Facets(
        {
            name: tuple(Facet(text, count) for key, text, count in rows if key == name and text and count)[:FACET_LIMIT]
            for name in names
        }
    )
    facets.is_exact = is_exact
    return facets


def _floor(at: datetime, step_s: int) -> datetime:
    return at - timedelta(seconds=(at - ORIGIN).total_seconds() % step_s)


def _ceil(at: datetime, step_s: int) -> datetime:
    low = _floor(at, step_s)
    return low if low == at else low + timedelta(seconds=step_s)


def _rows(statement: str, values: Sequence[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
