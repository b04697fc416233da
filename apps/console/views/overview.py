"""The first page: how calls go, what waits, what is live."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.core.cache import cache
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from apps.accounts.access import Permission, may
from apps.approvals.selectors import approvals_pending
from apps.audit.figures import Span, call_figures, duration_series, layer_figures, tool_figures
from apps.audit.filters import EntryFilters
from apps.audit.integrity import integrity_alarms
from apps.audit.pictures import Histogram, entry_histogram
from apps.console.calls import layer_number
from apps.console.charts import calls_chart
from apps.console.first_steps import steps_left
from apps.console.gate import ConsoleRequest, gate
from apps.console.gateways import TRAFFIC_OF, health
from apps.console.sparks import spark_of
from apps.console.views.start import has_begun
from apps.gateway.doors import unrecorded
from apps.openclaw_gateways.selectors import alarms_standing, gateways, traffic_since
from apps.policies.demo_records import demo_is_here
from apps.policies.errors import SnapshotUntrustedError
from apps.policies.selectors import (
    draft_change_count,
    draft_tool_differences,
    live_publication,
    live_snapshot,
    publication_numbers,
    publications,
)

PENDING = 5
HISTORY = 4
BARS = 60

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Range:
    """One choice of time: its length, and for how many seconds its figures are good enough."""

    label: Promise
    length: timedelta
    fresh_s: int


RANGES: dict[str, Range] = {
    "1h": Range(_("1 h"), timedelta(hours=1), 2),
    "6h": Range(_("6 h"), timedelta(hours=6), 2),
    "24h": Range(_("24 h"), timedelta(hours=24), 4),
    "7d": Range(_("7 d"), timedelta(days=7), 30),
}
DEFAULT_RANGE = "6h"


@require_safe
@gate()
def overview(request: ConsoleRequest) -> HttpResponse:
    if not may(request.user, Permission.POLICY_READ):
        return render(request, "console/overview/no_role.html", status=403)
    if not has_begun(request):
        return redirect("start")
    environment = _environment(request)
    context = (
        _figures(request)
        | _gateways(environment)
        | {
            "ranges": [(name, choice.label, name == _chosen(request)) for name, choice in RANGES.items()],
            "change_count": draft_change_count(environment) + len(draft_tool_differences(environment)),
            "history": list(publications(environment)[:HISTORY]),
            "pending": list(approvals_pending(environment).filter(expires_at__gt=timezone.now())[:PENDING]),
            "alarms": alarms_standing(environment),
            "first_steps": steps_left(request),
            "has_demo": demo_is_here(environment),
            "may_publish": may(request.user, Permission.PUBLISH),
            "may_make_tokens": may(request.user, Permission.TOKENS_MANAGE),
        }
    )
    if context["may_read_calls"]:
        context |= _calls(request) | {"unrecorded": unrecorded()}
        context["ledger_alarms"] = integrity_alarms(timezone.now())
    return render(request, "console/overview/overview.html", context)


@require_safe
@gate(Permission.POLICY_READ)
def figures(request: ConsoleRequest) -> HttpResponse:
    """The strip of figures alone, for its refresh."""
    if not request.environment:
        return redirect("start")
    return render(request, "console/overview/_figures.html", _figures(request))


@require_safe
@gate(Permission.AUDIT_READ)
def calls(request: ConsoleRequest) -> HttpResponse:
    """Charts and tables alone, for their refresh."""
    if not request.environment:
        return redirect("start")
    return render(request, "console/overview/_calls.html", _figures(request) | _calls(request))


def _environment(request: ConsoleRequest) -> Any:
    return request.environment


def _chosen(request: ConsoleRequest) -> str:
    wanted = request.GET.get("span", DEFAULT_RANGE)
    return wanted if wanted in RANGES else DEFAULT_RANGE


def _span(request: ConsoleRequest, at: datetime) -> Span:
    return Span(environment=_environment(request).slug, since=at - RANGES[_chosen(request)].length, until=at)


def _fresh(request: ConsoleRequest, name: str, read: Callable[[Span], Found]) -> Found:
    """Read figures, or take what another tab read a moment ago: a week of calls is not counted every second."""
    chosen = _chosen(request)
    key = f"overview:{_environment(request).pk}:{chosen}:{name}"
    found: Found | None = cache.get(key)
    if found is None:
        found = read(_span(request, timezone.now()))
        cache.set(key, found, RANGES[chosen].fresh_s)
    return found


def _figures(request: ConsoleRequest) -> dict[str, Any]:
    environment = _environment(request)
    may_read_calls = may(request.user, Permission.AUDIT_READ)
    waiting = approvals_pending(environment).filter(expires_at__gt=timezone.now())
    context: dict[str, Any] = {
        "at": timezone.now(),
        "span": _chosen(request),
        "span_label": RANGES[_chosen(request)].label,
        "may_read_calls": may_read_calls,
        "live": live_publication(environment),
        "pending_count": waiting.count(),
        "next_expiry": waiting.values_list("expires_at", flat=True).first(),
    }
    if may_read_calls:
        counted = _fresh(request, "figures", call_figures)
        hours = RANGES[_chosen(request)].length.total_seconds() / 3600
        context |= {
            "figures": counted,
            "per_minute": round(counted.calls / hours / 60, 1),
            "per_hour": round(counted.calls / hours, 1),
            "failed_percent": round(counted.failed_share * 100, 1),
            "denied_percent": round(counted.denied_share * 100, 1),
        }
    return context


def _gateways(environment: Any) -> dict[str, Any]:
    found, live = list(gateways(environment)), live_publication(environment)
    traffic = traffic_since([each.pk for each in found], timezone.now() - TRAFFIC_OF)
    numbers = publication_numbers(environment, {each.snapshot_digest for each in found})
    return health(found, traffic, numbers, 0 if live is None else live.number)


def _calls(request: ConsoleRequest) -> dict[str, Any]:
    histogram, durations = _fresh(request, "time", _over_time)
    layers = _fresh(request, "layers", layer_figures)
    dialect = _dialect(request)
    most = max((layer.denied for layer in layers), default=0)
    return {
        "histogram": histogram,
        "calls_chart": calls_chart(histogram),
        "durations": durations,
        "duration_chart": _duration_chart(histogram, durations),
        "layers": [
            (layer, layer_number(layer.layer, dialect), round(layer.denied * 100 / most, 1)) for layer in layers
        ],
        "denied_total": sum(layer.denied for layer in layers),
        "tools": [
            (tool, spark_of(tool.series), round(tool.failed_share * 100, 1))
            for tool in _fresh(request, "tools", tool_figures)
        ],
    }


def _over_time(span: Span) -> tuple[Histogram, Any]:
    filters = EntryFilters(environment=span.environment, since=span.since, until=span.until)
    histogram = entry_histogram(filters, at=span.until, bars=BARS)
    starts = [bucket.at for bucket in histogram.buckets]
    return histogram, duration_series(span, starts=starts, step_s=histogram.step_s)


def _duration_chart(histogram: Histogram, durations: Any) -> dict[str, Any]:
    return {
        "stepSeconds": histogram.step_s,
        "unit": " ms",
        "data": [
            [round(point.at.timestamp()) for point in durations],
            [point.p50_ms for point in durations],
            [point.p95_ms for point in durations],
        ],
    }


def _dialect(request: ConsoleRequest) -> str:
    """Find the release whose layers the numbers are of: the live snapshot's, else the environment's."""
    try:
        live = live_snapshot(_environment(request))
    except SnapshotUntrustedError:
        live = None
    return live.dialect if live else str(_environment(request).dialect)
