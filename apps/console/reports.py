"""What the page of reports shows: a time that was chosen, tables with bars, addresses of the calls behind each row."""

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from apps.approvals.reports import Figures
from apps.audit.figures import Span
from apps.console.calls import layer_number

if TYPE_CHECKING:
    from collections.abc import Mapping

SPANS: Final[dict[str, tuple[Promise, timedelta]]] = {
    "24h": (_("24 h"), timedelta(hours=24)),
    "7d": (_("7 d"), timedelta(days=7)),
    "30d": (_("30 d"), timedelta(days=30)),
    "90d": (_("90 d"), timedelta(days=90)),
}
USUAL: Final = "7d"
SHOWN: Final = 15
"""Rows of each table on the page; its file holds them all."""
FAILED: Final = ("failed", "unknown")


class TimeError(ValueError):
    """The chosen days cannot be read, or end before they begin."""


def time_of(given: "Mapping[str, str]", at: datetime) -> tuple[str, datetime, datetime]:
    """Read which time was chosen: a named span, or two days of which both are included.

    Returns:
        Name of the span, empty for chosen days; its beginning; its end.
    Raises:
        TimeError: the days are none.
    """
    if given.get("from") or given.get("to"):
        first, last = _day(given.get("from", "")), _day(given.get("to", ""))
        if last < first:
            raise TimeError
        return "", _midnight(first), min(_midnight(last) + timedelta(days=1), max(at, _midnight(first)))
    name = given.get("span", "")
    name = name if name in SPANS else USUAL
    return name, at - SPANS[name][1], at


def page_of(found: Figures, *, dialect: str) -> dict[str, Any]:
    """Lay the tables out; each row with a bar's width in percent and the address of its calls."""
    report, span = found.calls, found.calls.span

    def calls(**filters: Any) -> str:
        return address(span, **filters)

    return {
        "report": report,
        "answers": found.answers,
        "agents": _barred(report.agents, lambda row: row.calls, lambda row: calls(agent=row.name)),
        "tools": _barred(report.tools, lambda row: row.calls, lambda row: calls(tool=row.name)),
        "layers": [
            (row, layer_number(row.layer, dialect), width, url)
            for row, width, url in _barred(
                report.layers, lambda row: row.denied, lambda row: calls(status="denied", layer=row.layer)
            )
        ],
        "errors": _barred(report.errors, lambda row: row.count, lambda row: calls(tool=row.tool, status=[row.status])),
        "slowest": _barred(
            report.slowest, lambda row: row.p95_ms, lambda row: calls(tool=row.tool, status="completed")
        ),
        "people": _barred(found.answers.people, lambda row: row.ended, _history),
        "denied_url": calls(status="denied"),
        "failed_url": calls(status=FAILED),
        "calls_url": calls(),
    }


def address(span: Span, **filters: Any) -> str:
    """Give the address of the list of calls with filters set and the same time."""
    given = {name: value for name, value in filters.items() if value}
    times = {"since": _written(span.since), "until": _written(span.until)}
    return f"{reverse('audit')}?{urlencode(given | times, doseq=True)}"


def _history(row: Any) -> str:
    return f"{reverse('approvals-history')}?{urlencode({'by': row.who})}"


def _barred(rows: Iterable[Any], size: Callable[[Any], int], url: Callable[[Any], str]) -> list[tuple[Any, str, str]]:
    rows = list(rows)[:SHOWN]
    most = max([size(row) for row in rows], default=0) or 1
    return [(row, f"{max(size(row) * 100 / most, 0.5):.1f}", url(row)) for row in rows]


def _day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError as exc:
        raise TimeError from exc
    if not 2000 <= day.year <= 2200:
        raise TimeError
    return day


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=UTC)


def _written(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
