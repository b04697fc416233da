"""Reports about calls: the page, and each of its tables as a file."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.access import Permission
from apps.approvals.reports import TABLES, figures_of, table_csv
from apps.audit.filters import EntryFilters
from apps.audit.pictures import entry_histogram
from apps.console.charts import calls_chart
from apps.console.gate import ConsoleRequest, gate
from apps.console.reports import SPANS, TimeError, page_of, time_of
from apps.console.views.agents import environment_chosen


@require_safe
@gate(Permission.AUDIT_READ)
def reports(request: ConsoleRequest) -> HttpResponse:
    environment, at = environment_chosen(request), timezone.now()
    context: dict[str, Any] = {"query": request.GET, "asked": request.GET.urlencode()}
    try:
        chosen, since, until = time_of(request.GET, at)
    except TimeError:
        context |= {"spans": _spans(""), "is_refused": True}
        return render(request, "console/audit/reports.html", context, status=422)
    found = figures_of(environment, since=since, until=until)
    span = found.calls.span
    histogram = entry_histogram(EntryFilters(environment=span.environment, since=span.since, until=span.until), at=at)
    context |= page_of(found, dialect=environment.dialect)
    context |= {"spans": _spans(chosen), "histogram": histogram, "chart": calls_chart(histogram)}
    return render(request, "console/audit/reports.html", context)


@require_safe
@gate(Permission.AUDIT_READ)
def report_file(request: ConsoleRequest, table: str) -> HttpResponse:
    if table not in TABLES:
        raise Http404
    environment = environment_chosen(request)
    try:
        _chosen, since, until = time_of(request.GET, timezone.now())
    except TimeError:
        raise Http404 from None
    found = figures_of(environment, since=since, until=until)
    name = f"{table}-{environment.slug}-{found.calls.span.since:%Y%m%d}-{found.calls.span.until:%Y%m%d}.csv"
    answer = HttpResponse(table_csv(found, table), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def _spans(chosen: str) -> list[tuple[str, Any, bool]]:
    return [(name, label, name == chosen) for name, (label, _length) in SPANS.items()]
