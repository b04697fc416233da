"""The ledger: list of calls with the URL as its state, one call, what is new."""

import json
import uuid
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from django.core.signing import BadSignature, TimestampSigner
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.access import Permission, may
from apps.approvals.selectors import approval_now
from apps.audit.errors import FilterError
from apps.audit.exports import exports_of
from apps.audit.filters import EntryFilters
from apps.audit.following import follow_lag
from apps.audit.integrity import entry_seal
from apps.audit.keeping import columns_of, filters_of, preference_of, zone_of
from apps.audit.looks import look_record, search_record
from apps.audit.pictures import calls_count, entry_facets, entry_histogram
from apps.audit.rows import CallRecord
from apps.audit.selectors import CallPage, call_record, calls
from apps.audit.selectors import ledger_state as state_of_ledger
from apps.audit.verification_runs import verification_last
from apps.console.audit_list import (
    COLUMN_LABELS,
    FIELDS,
    bars_of,
    chips_of,
    choices_of,
    columns_shown,
    fields_of,
    more_choices_of,
    presets_of,
    saved_of,
    url_of,
    zone_text,
    zones,
)
from apps.console.calls import DEFAULT_SPAN, SPANS, ShownCall, since_of
from apps.console.cards import Card
from apps.console.charts import calls_chart
from apps.console.gate import ConsoleRequest, gate
from apps.gateway.abandoned import OPEN
from apps.registry.probing import PROBES

LIMIT = 50
NEW_LIMIT = 99
# Signs that a search is recorded already: its older pages and what is new in it are the same search.
LOOKS = TimestampSigner(salt="audit.look")
LOOK_S = 3600
# Filters behind "More filters" that show it open; a time that was chosen in the picture has its chip.
UNSEEN = {"decision", "kind", *(name for name, _label, _kind in FIELDS)} - {"since", "until"}


@require_safe
@gate(Permission.AUDIT_READ)
def audit(request: ConsoleRequest) -> HttpResponse:
    """The page, or its changing part when a filter, a chip or a cursor asked for it."""
    is_part = bool(request.htmx) and not request.htmx.history_restore_request
    template = "console/audit/_audit.html" if is_part else "console/audit/audit.html"
    preference = preference_of(request.user)
    with timezone.override(zone_of(preference)):
        return _audit(request, template, preference, is_part=is_part)


def _audit(request: ConsoleRequest, template: str, preference: Any, *, is_part: bool) -> HttpResponse:
    try:
        context = _listing(request, preference)
    except FilterError as error:
        context = _basics(request, preference) | {"error": error}
        return render(request, template, context, status=422)
    if not is_part:
        context["ledger"] = state_of_ledger()
        context["walk"] = verification_last(is_done=True)
        context["lag"] = follow_lag(timezone.now())
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
    return url_of(query)


def _query(request: HttpRequest) -> QueryDict:
    """The filters of the URL: without cursors, without the call in the drawer, without empty values."""
    query = request.GET.copy()
    for name in ("after", "before", "call", "look"):
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
    filters = EntryFilters.read(query, zone=timezone.get_current_timezone())
    if filters.since is None and filters.until is None:
        filters = replace(filters, since=since_of(query.get("span", DEFAULT_SPAN), at))
    environment = request.environment.slug if request.environment else ""
    return replace(filters, environment=environment).with_search(query.get("q", ""))


def _basics(request: ConsoleRequest, preference: Any) -> dict[str, Any]:
    query = _query(request)
    span = query.get("span", DEFAULT_SPAN)
    return {
        "query": query,
        "encoded": query.urlencode(),
        "spans": [(value, label, value == span) for value, (label, _length) in SPANS.items()],
        "chips": chips_of(query),
        "fields": fields_of(query),
        "more_choices": more_choices_of(query),
        "has_more": any(name in query for name in UNSEEN),
        "presets": presets_of(query),
        "saved": saved_of(
            query, filters_of(request.user), request.user, may_manage=may(request.user, Permission.AUDIT_MANAGE)
        ),
        "columns": columns_shown(columns_of(preference)),
        "all_columns": [(name, label, name in columns_of(preference)) for name, label in COLUMN_LABELS.items()],
        "zones": zones(),
        "zone": zone_text(zone_of(preference), timezone.now()),
        "zone_name": preference.time_zone or "UTC",
        "may_export": may(request.user, Permission.AUDIT_EXPORT),
    }


def _listing(request: ConsoleRequest, preference: Any) -> dict[str, Any]:
    at = timezone.now()
    context = _basics(request, preference)
    query: QueryDict = context["query"]
    filters = read_filters(request, query, at)
    look = f"{request.user.pk} {context['encoded']}"
    if not _is_same_look(request, look):
        search_record(request.user, filters)
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
        "bars": bars_of(query, histogram),
        "chart": calls_chart(histogram) | {"timeZone": context["zone_name"]},
        "choices": choices_of(query, facets),
        "facets": facets,
        "look": LOOKS.sign(look).removeprefix(f"{look}:"),
        "current": request.GET.get("call", ""),
    }


def _is_same_look(request: ConsoleRequest, look: str) -> bool:
    try:
        return LOOKS.unsign(f"{look}:{request.GET.get('look', '')}", max_age=LOOK_S) == look
    except BadSignature:
        return False


def _newest_at(page: CallPage, at: datetime) -> str:
    return (page.rows[0].at if page.rows else at).isoformat()


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
    look_record(request.user, environment=record.environment, call_id=record.id)
    return {
        "shown": ShownCall(record, dialect=_dialect(request)),
        "seal": entry_seal(record.entries[-1]),
        "asked": _asked(request, record),
        "may_test": may(request.user, Permission.POLICY_WRITE),
        **_copies(request, record),
    }


def _copies(request: ConsoleRequest, record: CallRecord) -> dict[str, str]:
    """The call as JSON in plain letters, and the command that reads it from the API with a token of one's own."""
    told = {field.name: getattr(record, field.name) for field in fields(record) if field.name != "entries"}
    told |= {"id": record.shown_id, "approval_id": record.shown_approval_id}
    url = request.build_absolute_uri(reverse("api-audit-call", args=[record.id]))
    header = "Authorization: Bearer $OPENCLAW_ADMIN_TOKEN"
    return {
        "call_json": json.dumps(told, indent=2, default=str),
        "curl": f'curl -H "{header}" {url}',
    }


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
    if record is None or record.environment not in {slug, "", PROBES}:
        raise Http404
    look_record(request.user, environment=record.environment, call_id=record.id)
    preference = preference_of(request.user)
    context = {
        "shown": ShownCall(record, dialect=_dialect(request)),
        "seal": entry_seal(record.entries[-1]),
        "asked": _asked(request, record),
        "encoded": _query(request).urlencode(),
        **_copies(request, record),
        "may_cancel": record.status in OPEN and may(request.user, Permission.CALLS_MAKE),
        "may_test": may(request.user, Permission.POLICY_WRITE),
    }
    is_part = bool(request.htmx) and not request.htmx.history_restore_request
    with timezone.override(zone_of(preference)):
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
    return render(request, "console/audit/_new.html", {"number": number, "counted": counted, "url": url_of(query)})
