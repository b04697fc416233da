"""Reports about the calls of one environment in a time: by agent, by tool, by layer, errors, and what is slow.

How many there were is added up from the tallies that the follower keeps by hour, so a time is whole hours. What no
tally knows, durations and errors, is measured on the newest calls of the time, at most `MEASURED` and `ERRORS_READ`.
"""

# ruff: noqa: S608 - statements are put together from constants of ours; every value is a parameter

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection

from apps.audit.figures import Span
from apps.audit.following import follow_near

HOUR: Final = timedelta(hours=1)
LONGEST: Final = timedelta(days=93)
ROWS: Final = 50
MEASURED: Final = 50_000
ERRORS_READ: Final = 20_000

_TALLIES = """
SELECT dimension, value, sum(ended)::bigint, sum(denied)::bigint, sum(failed)::bigint FROM audit_tally
WHERE environment = %s AND step_s = 3600 AND dimension IN ('', 'agent', 'tool', 'layer') AND start >= %s AND start < %s
GROUP BY 1, 2 HAVING sum(ended) > 0
"""
# One branch for each status, so that each reads its index from the newest on and stops.
_RAN = f"""
SELECT e.at, e.id, e.call_id, e.agent, e.tool, e.duration_ms FROM audit_entry AS e
WHERE e.environment = %s AND e.at >= %s AND e.at < %s AND e.kind = 'call_outcome' AND e.status = %s
ORDER BY e.at DESC, e.id DESC LIMIT {MEASURED}
"""
_DURATIONS = f"""
WITH ran AS MATERIALIZED (
    SELECT * FROM (({_RAN}) UNION ALL ({_RAN})) AS both_of
    WHERE duration_ms IS NOT NULL ORDER BY at DESC, id DESC LIMIT {MEASURED}
)
SELECT GROUPING(tool) = 1, coalesce(agent, tool), count(*),
    percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ms), percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms),
    (array_agg(call_id ORDER BY duration_ms DESC, id))[1], max(duration_ms)
FROM ran GROUP BY GROUPING SETS ((agent), (tool))
"""
_FAILED = f"""
SELECT e.at, e.id, e.call_id, e.tool, e.status FROM audit_entry AS e
WHERE e.environment = %s AND e.at >= %s AND e.at < %s AND e.kind = 'call_outcome' AND e.status = %s
ORDER BY e.at DESC, e.id DESC LIMIT {ERRORS_READ}
"""
_ERRORS = f"""
WITH gone_wrong AS MATERIALIZED (
    SELECT * FROM (({_FAILED}) UNION ALL ({_FAILED})) AS both_of ORDER BY at DESC, id DESC LIMIT {ERRORS_READ}
)
SELECT f.tool, f.status, left(coalesce(c.error ->> 'code', ''), 200) AS code, count(*), max(f.at),
    (array_agg(f.call_id ORDER BY f.at DESC, f.id DESC))[1]
FROM gone_wrong AS f LEFT JOIN audit_content AS c ON c.at = f.at AND c.entry_id = f.id
    AND c.at >= %s AND c.at < %s AND jsonb_typeof(c.error) = 'object'
GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT {ROWS}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """Calls that ended: all, denied, failed; the rest ran well or was cancelled."""

    calls: int = 0
    denied: int = 0
    failed: int = 0

    @property
    def ran(self) -> int:
        return max(0, self.calls - self.denied - self.failed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Total):
    """One agent's or tool's calls; durations in milliseconds of its newest calls that ran, None when none did."""

    name: str
    p50_ms: int | None = None
    p95_ms: int | None = None


@dataclass(frozen=True, slots=True)
class LayerRow:
    """How many calls one layer denied; an empty layer stands for refusals outside the policy's layers."""

    layer: str
    denied: int


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """One error of one tool; an empty code is one whose words were erased, or of a call nobody knows the end of."""

    tool: str
    status: str
    code: str
    count: int
    last_at: datetime
    last_call: Any


@dataclass(frozen=True, slots=True)
class SlowRow:
    """One tool's durations in milliseconds; `measured` calls were looked at, `call` took longest."""

    tool: str
    measured: int
    p50_ms: int
    p95_ms: int
    longest_ms: int
    call: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything of one time, most calls first, fifty rows of each at most.

    Attributes:
        unread: entries that the follower has not read, so that calls may be missing.
        is_measured_whole: durations are of every call of the time, not of its newest alone.
    """

    span: Span
    total: Total
    agents: Sequence[Row]
    tools: Sequence[Row]
    layers: Sequence[LayerRow]
    errors: Sequence[ErrorRow]
    slowest: Sequence[SlowRow]
    unread: int
    is_measured_whole: bool


def whole_hours(environment: str, *, since: datetime, until: datetime) -> Span:
    """Widen a time to whole hours; one that is longer than a quarter of a year keeps its end."""
    until = _ceil(until)
    return Span(environment=environment, since=max(_floor(since), until - LONGEST), until=until)


def report_of(span: Span) -> Report:
    """Report about a span of whole hours, in three statements beside those of the follower."""
    unread = follow_near()
    tallies = _rows(_TALLIES, span.values)
    measured = _rows(_DURATIONS, [*span.values, "completed", *span.values, "failed"])
    failed = [*span.values, "failed", *span.values, "unknown", span.since, span.until]
    total = next((Total(calls=row[2], denied=row[3], failed=row[4]) for row in tallies if row[0] == ""), Total())
    by_agent = {row[1]: row for row in measured if row[0]}
    by_tool = {row[1]: row for row in measured if not row[0]}
    return Report(
        span=span,
        total=total,
        agents=_counted("agent", tallies, by_agent),
        tools=_counted("tool", tallies, by_tool),
        layers=_layers(tallies, total),
        errors=[ErrorRow(*row) for row in _rows(_ERRORS, failed)],
        slowest=_slowest(by_tool.values()),
        unread=unread,
        is_measured_whole=sum(row[2] for row in by_tool.values()) < MEASURED,
    )


def _counted(dimension: str, tallies: Iterable[Any], measured: dict[str, Any]) -> list[Row]:
    rows = []
    for named, value, calls, denied, failed in tallies:
        if named == dimension:
            took = measured.get(value)
            p50_ms, p95_ms = (None, None) if took is None else took[3:5]
            rows.append(Row(name=value, calls=calls, denied=denied, failed=failed, p50_ms=p50_ms, p95_ms=p95_ms))
    return sorted(rows, key=lambda row: (-row.calls, row.name))[:ROWS]


def _layers(tallies: Iterable[Any], total: Total) -> list[LayerRow]:
    rows = [LayerRow(row[1], row[3]) for row in tallies if row[0] == "layer" and row[3]]
    elsewhere = total.denied - sum(row.denied for row in rows)
    rows += [LayerRow("", elsewhere)] if elsewhere > 0 else []
    return sorted(rows, key=lambda row: (-row.denied, row.layer))[:ROWS]


def _slowest(measured: Iterable[Any]) -> list[SlowRow]:
    rows = [SlowRow(row[1], row[2], row[3], row[4], row[6], row[5]) for row in measured]
    return sorted(rows, key=lambda row: (-row.p95_ms, row.tool))[:ROWS]


def _floor(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def _ceil(at: datetime) -> datetime:
    return _floor(at) if _floor(at) == at else _floor(at) + HOUR


def _rows(statement: str, values: Sequence[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
