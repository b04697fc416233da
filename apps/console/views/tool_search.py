"""Tool search for people: figures, runs, labelled queries, and a query to try."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission
from apps.console import tool_search as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.situations import Situation, agent_names
from apps.console.tool_search_forms import LabelForm, TryForm
from apps.console.views.agents import environment_chosen, is_part, writing
from apps.firewall.errors import FirewallError
from apps.gateway.tool_runs.trying import Trial, search_try
from apps.policies.selectors import live_snapshot
from apps.runs.access import run_access
from apps.runs.errors import LabelError, RunFilterError
from apps.runs.labels import label_add, label_find, label_remove
from apps.runs.listing import run_agents, runs_page


@require_safe
@gate(Permission.AUDIT_READ)
def figures(request: ConsoleRequest) -> HttpResponse:
    """What runs of a time were offered, searched and called."""
    page = shown.figures_page(environment_chosen(request), request.GET.get("span", ""), at=timezone.now())
    return render(request, "console/tool_search/figures.html", page | writing(request))


@require_safe
@gate(Permission.AUDIT_READ)
def runs(request: ConsoleRequest) -> HttpResponse:
    """The list of runs, or its rows when a filter asked for them."""
    environment = environment_chosen(request)
    template = "console/tool_search/_list.html" if is_part(request) else "console/tool_search/runs.html"
    context: dict[str, Any] = {
        "query": request.GET,
        "address": shown.address(request.GET),
        "is_filtered": any(request.GET.get(name) for name in shown.FILTERS),
        "modes": shown.MODE_WORDS,
        "outcomes": shown.OUTCOME_WORDS,
        "is_first": not request.GET.get("after"),
    }
    if not is_part(request):
        context["agents"] = run_agents(environment)
    try:
        page = runs_page(environment, shown.filters_of(request.GET), after=request.GET.get("after", ""))
    except RunFilterError as error:
        return render(request, template, context | {"error": error}, status=422)
    older = shown.address(request.GET, after=page.older) if page.older else ""
    return render(request, template, context | {"rows": [shown.RunRow(each) for each in page.rows], "older": older})


@require_safe
@gate(Permission.AUDIT_READ)
def run(request: ConsoleRequest, run_id: UUID) -> HttpResponse:
    """One run: what it was offered and why, what it searched, what it called."""
    found = _run_asked(request, run_id)
    return render(request, "console/tool_search/run.html", shown.run_page(found) | writing(request))


@require_safe
@gate(Permission.AUDIT_READ)
def quality(request: ConsoleRequest) -> HttpResponse:
    """What search is worth on labelled queries, and these."""
    form = LabelForm(initial={"query": request.GET.get("query", "")[:512]})
    return _quality(request, form)


@require_POST
@gate(Permission.POLICY_WRITE)
def label_new(request: ConsoleRequest) -> HttpResponse:
    """Keep that a query means some tools; from the page of a run with one click."""
    form = LabelForm(request.POST)
    if form.is_valid():
        query = form.cleaned_data["query"]
        try:
            label_add(environment_chosen(request), query, form.names, by=request.user, at=timezone.now())
        except LabelError as error:
            form.take_refusal(error)
    if "of_run" in request.POST:
        return _labelled(request, form)
    if form.errors:
        return _quality(request, form, status=422)
    messages.success(request, _("Labelled."))
    return redirect("tool-search-quality")


@require_POST
@gate(Permission.POLICY_WRITE)
def label_end(request: ConsoleRequest, label_id: UUID) -> HttpResponse:
    label = label_find(environment_chosen(request), label_id)
    if label is None:
        raise Http404
    label_remove(label, by=request.user)
    messages.success(request, _("Removed."))
    return redirect("tool-search-quality")


@require_safe
@gate(Permission.EXPLAIN)
def trial(request: ConsoleRequest) -> HttpResponse:
    """What the model of an agent would find now; nothing of it is kept."""
    environment = environment_chosen(request)
    snapshot = live_snapshot(environment)
    agents = () if snapshot is None else agent_names(snapshot)
    form = TryForm(request.GET if "query" in request.GET else None, agents=agents)
    context: dict[str, Any] = {"form": form, "is_live": snapshot is not None and bool(agents)}
    if snapshot is not None and form.is_bound and form.is_valid():
        try:
            context["trial"] = _tried(environment, snapshot, form)
        except FirewallError as error:
            form.add_error(None, error.message)
    status = 422 if form.is_bound and form.errors else 200
    template = "console/tool_search/_found.html" if is_part(request) else "console/tool_search/try.html"
    return render(request, template, context, status=status)


def _tried(environment: Any, snapshot: Any, form: TryForm) -> Trial:
    said = form.cleaned_data
    context = Situation(agent=said["agent"]).context()
    if said["session"]:
        context = replace(context, session_key=said["session"])
    return search_try(environment, snapshot, context, said["query"])


def _run_asked(request: ConsoleRequest, run_id: UUID) -> "shown.RunRecord":
    found = run_access(request.user, run_id)
    if found.environment != environment_chosen(request):
        raise Http404
    return found


def _quality(request: ConsoleRequest, form: LabelForm, *, status: int = 200) -> HttpResponse:
    context = shown.quality_page(environment_chosen(request)) | {"form": form} | writing(request)
    return render(request, "console/tool_search/quality.html", context, status=status)


def _labelled(request: ConsoleRequest, form: LabelForm) -> HttpResponse:
    """Answer the one click: the mark in place of the button, or why there is none."""
    context = {"errors": [str(each) for found in form.errors.values() for each in found]}
    if is_part(request):
        return render(request, "console/tool_search/_labelled.html", context, status=422 if form.errors else 200)
    for error in context["errors"]:
        messages.error(request, error)
    if not form.errors:
        messages.success(request, _("Labelled."))
    return redirect("tool-search-quality")
