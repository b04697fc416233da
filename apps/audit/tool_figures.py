"""Figures of one tool's calls: how many, how they ended, how long they took, the last one, the commonest error."""

# ruff: noqa: S608 - statements are put together from constants of ours; every value is a parameter

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection

from apps.audit.figures import FAILED, Span
from apps.audit.queries import DENIED, IS_END

POINTS: Final = 22
ERROR_LIMIT: Final = 120
_ENDED = f"FROM audit_entry AS e WHERE e.environment = %s AND e.at >= %s AND e.at < %s AND e.tool = %s AND {IS_END}"
_PERCENTILE = "percentile_disc({share}) WITHIN GROUP (ORDER BY e.duration_ms) FILTER (WHERE e.kind = 'call_outcome')"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One tool's calls in a span; durations in milliseconds of those that ran, None when none did.

    Attributes:
        series: calls over the span in equal parts, oldest first.
        error: code or words of the commonest error, empty when there was none; `error_count` how often.
    """

    calls: int
    denied: int
    failed: int
    p50_ms: int | None
    p95_ms: int | None
    series: tuple[int, ...]
    last_at: datetime | None
    last_agent: str
    error: str
    error_count: int


def tool_use(span: Span, tool: str, *, points: int = POINTS) -> ToolUse:
    """Count the calls of one tool."""
    values = [*span.values, tool]
    p50, p95 = _PERCENTILE.format(share=0.5), _PERCENTILE.format(share=0.95)
    (counted,) = _rows(
        f"SELECT count(*), count(*) FILTER (WHERE {DENIED}), count(*) FILTER (WHERE {FAILED}), {p50}, {p95} {_ENDED}",
        values,
    )
    calls, denied, failed, p50_ms, p95_ms = counted
    last_at, last_agent, error, error_count = None, "", "", 0
    if calls:
        ((last_at, last_agent),) = _rows(f"SELECT e.at, e.agent {_ENDED} ORDER BY e.at DESC LIMIT 1", values)
    if failed:
        error, error_count = _commonest_error(values)
    return ToolUse(
        calls=calls,
        denied=denied,
        failed=failed,
        p50_ms=p50_ms,
        p95_ms=p95_ms,
        series=_series(span, values, points) if calls else (0,) * points,
        last_at=last_at,
        last_agent=last_agent,
        error=error,
        error_count=error_count,
    )


def _commonest_error(values: Sequence[Any]) -> tuple[str, int]:
    ended = _ENDED.replace(
        "FROM audit_entry AS e", "FROM audit_entry AS e JOIN audit_content AS c ON c.at = e.at AND c.entry_id = e.id"
    )
    found = _rows(
        f"SELECT coalesce(c.error ->> 'message', c.error ->> 'code', ''), count(*) {ended} AND {FAILED}"
        " AND jsonb_typeof(c.error) = 'object' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 1",
        values,
    )
    return (found[0][0][:ERROR_LIMIT], found[0][1]) if found else ("", 0)


def _series(span: Span, values: Sequence[Any], points: int) -> tuple[int, ...]:
    low, high = span.since.timestamp(), max(span.until.timestamp(), span.since.timestamp() + 1)
    counts = [0] * points
    for place, count in _rows(
        f"SELECT width_bucket(extract(epoch FROM e.at)::float8, %s, %s, %s), count(*) {_ENDED} GROUP BY 1",
        [low, high, points, *values],
    ):
        counts[min(max(place, 1), points) - 1] += count
    return tuple(counts)


def _rows(statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
