"""Asynchronous calls: the list, one call, and ending any call."""

import uuid
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission, may
from apps.console.async_calls import FILTERS, shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.agents import environment_chosen, is_part
from apps.firewall.identifiers import read_id, show_id
from apps.gateway.queue.cancelling import call_cancel, call_environment
from apps.gateway.queue.selectors import PAGE, async_call, async_calls, call_queued, queue_counts


@require_safe
@gate(Permission.AUDIT_READ)
def calls(request: ConsoleRequest) -> HttpResponse:
    """The page, or its list when a filter or an event asked for it."""
    environment = environment_chosen(request)
    state = request.GET.get("state", "")
    if state not in FILTERS:
        raise Http404
    found = async_calls(environment, state=state, after=_cursor(request.GET.get("after", "")), limit=PAGE + 1)
    context = {
        "rows": list(shown(found[:PAGE])),
        "older": show_id("call", found[PAGE - 1].pk) if len(found) > PAGE else "",
        "is_first": not request.GET.get("after"),
        "state": state,
        "filters": FILTERS,
        "counts": queue_counts(environment),
        "may_cancel": may(request.user, Permission.CALLS_MAKE),
    }
    template = "console/async_calls/_list.html" if is_part(request) else "console/async_calls/async_calls.html"
    return render(request, template, context)


def _cursor(text: str) -> uuid.UUID | None:
    try:
        return read_id("call", text) if text else None
    except ValueError:
        raise Http404 from None


@require_safe
@gate(Permission.AUDIT_READ)
def call(request: ConsoleRequest, call_id: uuid.UUID) -> HttpResponse:
    """One call: where it is, who runs it, and each attempt to tell of its end."""
    template = "console/async_calls/_call.html" if is_part(request) else "console/async_calls/async_call.html"
    return render(request, template, _call(request, call_id))


def _call(request: ConsoleRequest, call_id: uuid.UUID) -> dict[str, Any]:
    found = async_call(environment_chosen(request), call_id)
    if found is None:
        raise Http404
    (it,) = shown([found])
    return {"it": it, "may_cancel": may(request.user, Permission.CALLS_MAKE) and found.is_open}


@require_POST
@gate(Permission.CALLS_MAKE)
def cancel(request: ConsoleRequest, call_id: uuid.UUID) -> HttpResponse:
    """Ask for the end of any call; its process hears of it, and the record says who asked."""
    slug = call_environment(request.user, call_id)
    if slug != environment_chosen(request).slug:
        raise Http404
    call_cancel(call_id, by=request.user.actor, environment=slug, at=timezone.now())
    if request.htmx:
        return render(request, "console/async_calls/_asked.html")
    return redirect("async-call" if call_queued(call_id) else "audit-call", call_id)
