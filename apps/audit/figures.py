"""Figures of the calls that ended in a span: how many, how they ended, how long they took, which tools and layers.

A call counts at the entry that ended it, as in `entry_histogram`, so that all figures of a page add up.
"""

# ruff: noqa: S608 - statements are put together from constants of ours; every value is a parameter

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from apps.audit.queries import DENIED, IS_END

FAILED = "e.kind = 'call_outcome' AND e.status IN ('failed', 'unknown')"
TOOLS_LIMIT = 8
SERIES_POINTS = 16
LAYERS_LIMIT = 16
_ENDED = f"FROM audit_entry AS e WHERE e.environment = %s AND e.at >= %s AND e.at < %s AND {IS_END}"
_PERCENTILE = "percentile_disc({share}) WITHIN GROUP (ORDER BY e.duration_ms) FILTER (WHERE e.kind = 'call_outcome')"
_P50, _P95 = _PERCENTILE.format(share=0.5), _PERCENTILE.format(share=0.95)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Which calls: those of one environment that ended from `since` to before `until`."""

    environment: str
    since: datetime
    until: datetime

    @property
    def values(self) -> list[Any]:
        return [self.environment, self.since, self.until]


@dataclass(frozen=True, slots=True)
class CallFigures:
    """Numbers of calls; durations in milliseconds of those that ran, None when none did."""

    calls: int
    denied: int
    failed: int
    p50_ms: int | None
    p95_ms: int | None

    @property
    def failed_share(self) -> float:
        return self.failed / self.calls if self.calls else 0.0

    @property
    def denied_share(self) -> float:
        return self.denied / self.calls if self.calls else 0.0


@dataclass(frozen=True, slots=True)
class ToolFigures:
    """One tool's calls; `series` counts them over the span in equal parts, oldest first."""

    tool: str
    calls: int
    denied: int
    failed: int
    p95_ms: int | None
    series: tuple[int, ...]

    @property
    def failed_share(self) -> float:
        return self.failed / self.calls if self.calls else 0.0


@dataclass(frozen=True, slots=True)
class LayerFigure:
    """How many calls one layer denied; an empty layer stands for refusals outside the policy's layers."""

    layer: str
    denied: int


@dataclass(frozen=True, slots=True)
class DurationPoint:
    """Durations of the calls that ended in one part of a span; None where none ran."""

    at: datetime
    p50_ms: int | None
    p95_ms: int | None


def call_figures(span: Span) -> CallFigures:
    """Count the calls of a span."""
    (row,) = _rows(
        f"SELECT count(*), count(*) FILTER (WHERE {DENIED}), count(*) FILTER (WHERE {FAILED}), {_P50}, {_P95} {_ENDED}",
        span.values,
    )
    return CallFigures(*row)


def tool_figures(
    span: Span, *, tools: Sequence[str] | None = None, limit: int = TOOLS_LIMIT, points: int = SERIES_POINTS
) -> tuple[ToolFigures, ...]:
    """Give the tools that were called most, each with its calls over time.

    Args:
        tools: only of these; None for any.
    """
    named, values = (
        ("", [*span.values, limit]) if tools is None else (" AND e.tool = ANY(%s)", [*span.values, list(tools), limit])
    )
    found = _rows(
        f"SELECT e.tool, count(*), count(*) FILTER (WHERE {DENIED}), count(*) FILTER (WHERE {FAILED}), {_P95} {_ENDED}"
        f" AND e.tool <> ''{named} GROUP BY e.tool ORDER BY 2 DESC, 1 LIMIT %s",
        values,
    )
    series = _series(span, [row[0] for row in found], points)
    return tuple(
        ToolFigures(tool, calls, denied, failed, p95, tuple(series[tool])) for tool, calls, denied, failed, p95 in found
    )


def layer_figures(span: Span, *, limit: int = LAYERS_LIMIT) -> tuple[LayerFigure, ...]:
    """Count denied calls by the layer that denied them, most first."""
    found = _rows(
        f"SELECT e.decision_layer, count(*) {_ENDED} AND {DENIED} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT %s",
        [*span.values, limit],
    )
    return tuple(LayerFigure(*row) for row in found)


def duration_series(span: Span, *, starts: Sequence[datetime], step_s: int) -> tuple[DurationPoint, ...]:
    """Give durations over time in the same parts as a histogram.

    Args:
        starts: where each part begins; `step_s` seconds apart, the first at the span's beginning or before it.
    """
    if not starts:
        return ()
    found = _rows(
        f"SELECT date_bin(make_interval(secs => %s), e.at, %s) AS bar, {_P50}, {_P95} {_ENDED} GROUP BY bar",
        [step_s, starts[0], *span.values],
    )
    known = {at: (p50, p95) for at, p50, p95 in found}
    return tuple(DurationPoint(start, *known.get(start, (None, None))) for start in starts)


def _series(span: Span, tools: Sequence[str], points: int) -> dict[str, list[int]]:
    series = {tool: [0] * points for tool in tools}
    if not tools:
        return series
    low, high = span.since.timestamp(), max(span.until.timestamp(), span.since.timestamp() + 1)
    counted = _rows(
        f"SELECT e.tool, width_bucket(extract(epoch FROM e.at)::float8, %s, %s, %s), count(*) {_ENDED}"
        " AND e.tool = ANY(%s) GROUP BY 1, 2",
        [low, high, points, *span.values, list(tools)],
    )
    for tool, place, count in counted:
        series[tool][min(max(place, 1), points) - 1] += count
    return series


def _rows(statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
