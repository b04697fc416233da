"""The ledger: list of calls with the URL as its state, one call, what is new."""

import uuid
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from apps.accounts.access import Permission, may
from apps.approvals.selectors import approval_now
from apps.audit.errors import FilterError
from apps.audit.exports import exports_of
from apps.audit.filters import EntryFilters
from apps.audit.pictures import calls_count, entry_facets, entry_histogram
from apps.audit.rows import CallRecord
from apps.audit.selectors import CallPage, call_record, calls
from apps.audit.selectors import ledger_state as state_of_ledger
from apps.console.calls import DEFAULT_SPAN, SPANS, STATUSES, ShownCall, since_of
from apps.console.cards import Card
from apps.console.charts import calls_chart
from apps.console.gate import ConsoleRequest, gate
from apps.gateway.abandoned import OPEN

LIMIT = 50
NEW_LIMIT = 99
CHOICES: dict[str, Promise] = {
    "agent": _("Agent"),
    "tool": _("Tool"),
    "status": _("Status"),
    "channel": _("Channel"),
    "layer": _("Layer"),
}
CHIPS: dict[str, Promise] = CHOICES | {
    "decision": _("Decision"),
    "sender": _("Sender"),
    "session_key": _("Session"),
    "actor": _("Actor"),
    "approval_id": _("Approval"),
    "call_id": _("Call"),
    "q": _("Search"),
}
PRESETS: tuple[tuple[Promise, str], ...] = (
    (_("All calls"), ""),
    (_("Commands"), "tool=exec"),
    (_("Failed"), "status=failed&status=unknown"),
    (_("Denied"), "status=denied"),
    (_("Waiting"), "status=awaiting_approval"),
)


@require_safe
@gate(Permission.AUDIT_READ)
def audit(request: ConsoleRequest) -> HttpResponse:
    """The page, or its changing part when a filter, a chip or a cursor asked for it."""
    is_part = bool(request.htmx) and not request.htmx.history_restore_request
    template = "console/audit/_audit.html" if is_part else "console/audit/audit.html"
    try:
        context = _listing(request)
    except FilterError as error:
        context = _basics(request) | {"error": error}
        return render(request, template, context, status=422)
    if not is_part:
        context["ledger"] = state_of_ledger()
        context["exports"] = exports_of(request.user, limit=5) if context["may_export"] else []
        context |= _drawer(request, request.GET.get("call", ""))
    answer = render(request, template, context)
    if is_part:
        answer["HX-Push-Url"] = _address(request)  # without the empty fields of the form
    return answer


def _address(request: HttpRequest) -> str:
    query = _query(request)
    for name in ("after", "before"):
        if request.GET.get(name):
            query[name] = request.GET[name]
    return _url(query)


def _query(request: HttpRequest) -> QueryDict:
    """The filters of the URL: without cursors, without the call in the drawer, without empty values."""
    query = request.GET.copy()
    for name in ("after", "before", "call"):
        query.pop(name, None)
    for name in list(query):
        values = [value for value in query.getlist(name) if value]
        if values:
            query.setlist(name, values)
        else:
            del query[name]
    return query


def read_filters(request: ConsoleRequest, query: QueryDict, at: datetime) -> EntryFilters:
    """Read the page's filters, the chosen span and the search box, for the chosen environment.

    Raises:
        FilterError: names each value that cannot be read.
    """
    filters = EntryFilters.read(query)
    if filters.since is None and filters.until is None:
        filters = replace(filters, since=since_of(query.get("span", DEFAULT_SPAN), at))
    environment = request.environment.slug if request.environment else ""
    return replace(filters, environment=environment).with_search(query.get("q", ""))


def _basics(request: ConsoleRequest) -> dict[str, Any]:
    query = _query(request)
    span = query.get("span", DEFAULT_SPAN)
    return {
        "query": query,
        "encoded": query.urlencode(),
        "spans": [(value, label, value == span) for value, (label, _length) in SPANS.items()],
        "chips": _chips(query),
        "presets": _presets(query),
        "may_export": may(request.user, Permission.AUDIT_EXPORT),
    }


def _listing(request: ConsoleRequest) -> dict[str, Any]:
    at = timezone.now()
    context = _basics(request)
    query: QueryDict = context["query"]
    filters = read_filters(request, query, at)
    page = calls(filters, after=request.GET.get("after", ""), before=request.GET.get("before", ""), limit=LIMIT)
    histogram = entry_histogram(filters, at=at)
    facets = entry_facets(filters, at=at)
    return context | {
        "rows": [ShownCall(call, dialect=_dialect(request)) for call in page.rows],
        "older": page.older,
        "newer": page.newer,
        "is_first": not request.GET.get("after") and not request.GET.get("before"),
        "newest_at": _newest_at(page, at),
        "total": calls_count(filters),
        "histogram": histogram,
        "peak": max(histogram.buckets, key=lambda bucket: bucket.ran + bucket.denied + bucket.failed, default=None),
        "chart": calls_chart(histogram),
        "choices": _choices(query, facets),
        "current": request.GET.get("call", ""),
    }


def _newest_at(page: CallPage, at: datetime) -> str:
    return (page.rows[0].at if page.rows else at).isoformat()


def _choices(query: QueryDict, facets: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for name, label in CHOICES.items():
        values = [(facet.value, facet.count, facet.value in query.getlist(name)) for facet in facets.get(name, ())]
        missing = [value for value in query.getlist(name) if value not in {facet[0] for facet in values}]
        options = [(value, None, True) for value in missing] + values
        found.append({"name": name, "label": label, "options": options, "statuses": STATUSES})
    return found


def _chips(query: QueryDict) -> list[dict[str, Any]]:
    """What is filtered, each with the URL that takes it away."""
    chips = []
    for name, label in CHIPS.items():
        if name in query:
            rest = query.copy()
            del rest[name]
            values = query.getlist(name)
            shown = [
                str(STATUSES[value].label) if name == "status" and value in STATUSES else value for value in values
            ]
            chips.append({"label": label, "value": ", ".join(shown), "url": _url(rest)})
    if "since" in query or "until" in query:
        rest = query.copy()
        since, until = rest.pop("since", [""])[-1], rest.pop("until", [""])[-1]
        chips.append({"label": _("Time"), "value": f"{_moment(since)} – {_moment(until)}", "url": _url(rest)})
    return chips


def _word(name: str, value: str) -> str:
    return str(STATUSES[value].label) if name == "status" and value in STATUSES else value


def _moment(text: str) -> str:
    try:
        return f"{localtime(datetime.fromisoformat(text)):%Y-%m-%d %H:%M:%S}" if text else ""
    except ValueError:
        return text


def _presets(query: QueryDict) -> list[dict[str, Any]]:
    time = {name: query.getlist(name) for name in ("span", "since", "until") if name in query}
    presets = []
    for label, text in PRESETS:
        wanted = QueryDict(text, mutable=True)
        for name, values in time.items():
            wanted.setlist(name, values)
        presets.append({"label": label, "url": _url(wanted), "is_current": dict(wanted.lists()) == dict(query.lists())})
    return presets


def _url(query: QueryDict) -> str:
    encoded = query.urlencode()
    return f"{reverse('audit')}?{encoded}" if encoded else reverse("audit")


def _dialect(request: ConsoleRequest) -> str:
    return request.environment.dialect if request.environment else ""


def _drawer(request: ConsoleRequest, shown: str) -> dict[str, Any]:
    """What the drawer shows when the URL names a call; nothing when the ledger does not know it."""
    filters = EntryFilters()
    if shown:
        filters = filters.with_search(shown)
    record = call_record(filters.call_id) if filters.call_id is not None else None
    slug = request.environment.slug if request.environment else ""
    if record is None or record.environment not in {slug, ""}:
        return {"shown": None}
    return {"shown": ShownCall(record, dialect=_dialect(request)), "asked": _asked(request, record)}


def _asked(request: ConsoleRequest, record: CallRecord) -> Card | None:
    """The command that a person was asked about, with what was said of each part of its line."""
    if record.approval_id is None or not may(request.user, Permission.APPROVALS_READ):
        return None
    approval = approval_now(record.approval_id)
    return Card(approval, may_resolve=False) if approval is not None and approval.kind == "exec" else None


@require_safe
@gate(Permission.AUDIT_READ)
def call(request: ConsoleRequest, call_id: uuid.UUID) -> HttpResponse:
    """One call: the drawer's content, or a page of its own for a link."""
    record = call_record(call_id)
    slug = request.environment.slug if request.environment else ""
    if record is None or record.environment not in {slug, ""}:
        raise Http404
    context = {
        "shown": ShownCall(record, dialect=_dialect(request)),
        "asked": _asked(request, record),
        "encoded": _query(request).urlencode(),
        "may_cancel": record.status in OPEN and may(request.user, Permission.CALLS_MAKE),
    }
    is_part = bool(request.htmx) and not request.htmx.history_restore_request
    return render(request, "console/audit/_call.html" if is_part else "console/audit/call.html", context)


@require_safe
@gate(Permission.AUDIT_READ)
def new(request: ConsoleRequest) -> HttpResponse:
    """How many calls have begun since the page was read."""
    query = _query(request)
    try:
        known = datetime.fromisoformat(query.pop("newest", [""])[-1])
        filters = replace(read_filters(request, query, timezone.now()), since=known)
        counted = calls_count(filters, limit=NEW_LIMIT)
    except (ValueError, FilterError):
        return HttpResponse(status=204)
    number = max(0, counted.count - 1)  # the newest known call is one of them
    return render(request, "console/audit/_new.html", {"number": number, "counted": counted, "url": _url(query)})
