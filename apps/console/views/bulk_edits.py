"""Bulk edits: one change of many agents, seen before it is made, then row by row in the background."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission
from apps.console import bulk as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.agents import environment_chosen, is_part, writing
from apps.policies.bulk.asking import bulk_access, bulk_request
from apps.policies.selectors import known_profiles
from apps.policies.tasks import bulk_enqueue


@require_safe
@gate(Permission.POLICY_READ)
def bulk_list(request: ConsoleRequest) -> HttpResponse:
    """The form, with the agents that the page of agents chose, and what was done before."""
    form = _form(request)
    form.initial = {"agents": request.GET.getlist("agent")}
    return _page(request, form)


@require_POST
@gate(Permission.POLICY_WRITE)
def bulk_preview(request: ConsoleRequest) -> HttpResponse:
    """What the change would do, or which agents there are to choose; nothing is stored."""
    form = _form(request)
    if "find" in request.POST:
        return _page(request, form.unjudged())
    if not form.is_valid():
        return _page(request, form, status=422)
    return _page(request, form, preview=shown.preview_of(form))


@require_POST
@gate(Permission.POLICY_WRITE)
def bulk_start(request: ConsoleRequest) -> HttpResponse:
    """Begin the change, as it was shown."""
    form = _form(request)
    if not form.is_valid():
        return _page(request, form, status=422)
    if not shown.is_as_seen(form, request.POST.get("seen", "")):
        return _page(request, form, status=409, preview=shown.preview_of(form))
    edit = bulk_request(form.environment, form.chosen, form.change, by=request.user, at=timezone.now())
    bulk_enqueue(edit.pk)
    return redirect("bulk-edit", edit.pk)


@require_safe
@gate(Permission.POLICY_READ)
def bulk_edit(request: ConsoleRequest, edit_id: UUID) -> HttpResponse:
    """How far a bulk edit is, and what came of each agent."""
    context = shown.progress_of(bulk_access(request.user, edit_id))
    template = "console/bulk_edits/_progress.html" if is_part(request) else "console/bulk_edits/bulk_edit.html"
    return render(request, template, context)


def _form(request: ConsoleRequest) -> "shown.BulkForm":
    environment = environment_chosen(request)
    data = request.POST if request.method == "POST" else None
    return shown.BulkForm(data, environment=environment, profiles=known_profiles(environment))


def _page(
    request: ConsoleRequest, form: "shown.BulkForm", *, status: int = 200, preview: "shown.Preview | None" = None
) -> HttpResponse:
    context = {
        "form": form,
        "preview": preview,
        "blast": preview and preview.blast,
        "is_stale": status == 409,
        "past": shown.past_edits(form.environment),
    }
    return render(request, "console/bulk_edits/bulk_edits.html", context | writing(request), status=status)
