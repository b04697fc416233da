"""Trying a tool: a dry run, and a real call for who may make calls."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission, may, require
from apps.console import tool_page as page
from apps.console import trials as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.agents import environment_chosen, is_part
from apps.console.views.tools import tool_asked, tool_context
from apps.firewall.errors import FirewallError
from apps.firewall.identifiers import show_id
from apps.firewall.runtime.definitions import definition_of
from apps.gateway.progress import call_progress
from apps.gateway.trials import call_make
from apps.policies.selectors import live_snapshot


@require_POST
@gate(Permission.EXPLAIN)
def tool_try(request: ConsoleRequest, name: str) -> HttpResponse:
    """Say what would become of a call; `do=run` makes it, after asking once."""
    record = tool_asked(request, name)
    wanted = request.POST.get("do", "check")
    if wanted != "check":
        require(request.user, Permission.CALLS_MAKE)
    environment = environment_chosen(request)
    snapshot = live_snapshot(environment)
    entry = None if snapshot is None else snapshot.tool(record.name)
    if snapshot is None or entry is None:
        raise Http404
    trial = shown.tried(environment, snapshot, definition_of(entry), request.POST, by=request.user)
    context: dict[str, Any] = {"trial": trial}
    runs = trial.outcome is not None and trial.outcome.rehearsal.runs and not trial.problems
    if wanted == "ask" and runs:
        context["is_sure"] = True
    if wanted == "run" and runs:
        context |= _made(request, record, trial)
    return _answer(request, record, context, status=422 if trial.problems or trial.mistakes else 200)


def _made(request: ConsoleRequest, record: "page.ToolRecord", trial: shown.Trial) -> dict[str, Any]:
    environment = environment_chosen(request)
    call = shown.call_of(environment, record.name, trial.situation, trial.params, by=request.user)
    try:
        call_make(call)
    except FirewallError as error:
        return {"call_error": error}
    return _call(call.id, environment.dialect)


def _call(call_id: UUID, dialect: str) -> dict[str, Any]:
    call = shown.call_shown(call_id, dialect)
    news = call_progress(call_id) if call is not None and call.is_open else None
    return {"call": call, "call_id": call_id, "call_shown_id": show_id("call", call_id), "news": news}


def _answer(
    request: ConsoleRequest, record: "page.ToolRecord", context: dict[str, Any], *, status: int
) -> HttpResponse:
    context |= {"record": record, "may_call": may(request.user, Permission.CALLS_MAKE)}
    if is_part(request):
        return render(request, "console/tools/_try.html", context, status=status)
    return render(request, "console/tools/tool.html", tool_context(request, record) | context, status=status)


@require_safe
@gate(Permission.AUDIT_READ)
def tool_call(request: ConsoleRequest, call_id: UUID) -> HttpResponse:
    """How a call that was tried goes on; the fragment asks again until it has ended."""
    context = _call(call_id, environment_chosen(request).dialect)
    call = context["call"]
    if call is not None and call.shown.call.environment != environment_chosen(request).slug:
        raise Http404
    return render(request, "console/tools/_call.html", context)
