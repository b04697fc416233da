"""Content filters: the list, one filter, and what filters make of a text."""

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.access import Permission
from apps.console import guards as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.guard_forms import FilterForm
from apps.console.views.agents import environment_chosen, is_part, writing
from apps.console.views.draft_parts import (
    SHOWN,
    Saving,
    draft_add,
    draft_asked,
    draft_context,
    draft_remove,
    draft_save,
)
from apps.policies.selectors import content_filters, draft_snapshot
from apps.policies.services import content_filter_create


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def filters(request: ConsoleRequest) -> HttpResponse:
    """Every filter of the draft; POST tries a text against all of them and changes nothing."""
    environment = environment_chosen(request)
    text = request.POST.get("text", "")
    trial = shown.filter_trial(environment.dialect, draft_snapshot(environment).content.filters, text)
    if is_part(request):
        return render(request, "console/filters/_found.html", {"trial": trial})
    rows = [shown.FilterRow(record) for record in content_filters(environment)]
    return render(request, "console/filters/filters.html", {"rows": rows, "trial": trial} | writing(request))


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def filter_new(request: ConsoleRequest) -> HttpResponse:
    """A new filter."""
    form = FilterForm(request.POST if request.method == "POST" else None)
    if request.POST.get("do") == "try":
        return _tried(request, None, form)
    if draft_add(request, form, content_filter_create):
        return redirect("filters")
    return _page(request, None, form, Saving(status=422 if form.errors else 200))


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def content_filter(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """One filter; POST saves it to the draft."""
    record = _asked(request, record_id)
    form = FilterForm(request.POST or None, initial=FilterForm.initial_of(record))
    if request.POST.get("do") == "try":
        return _tried(request, record, form)
    saving = draft_save(request, record, form)
    if saving.is_saved:
        return redirect("filters")
    return _page(request, record, form, saving)


@require_POST
@gate(Permission.POLICY_WRITE)
def filter_delete(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """Take a filter out of the draft."""
    draft_remove(request, _asked(request, record_id))
    return redirect("filters")


def _asked(request: ConsoleRequest, record_id: UUID) -> "shown.FilterRecord":
    record: shown.FilterRecord = draft_asked(request, "content_filter", record_id)
    return record


def _tried(request: ConsoleRequest, record: "shown.FilterRecord | None", form: FilterForm) -> HttpResponse:
    """Show what the filter as it is typed makes of a text."""
    unsaved = [form.filter()] if form.is_valid() else []
    trial = shown.filter_trial(environment_chosen(request).dialect, unsaved, request.POST.get("text", ""))
    if is_part(request):
        return render(request, "console/filters/_found.html", {"trial": trial})
    return _page(request, record, form, trial=trial)


def _page(
    request: ConsoleRequest,
    record: "shown.FilterRecord | None",
    form: FilterForm,
    saving: Saving = SHOWN,
    *,
    trial: "shown.FilterTrial | None" = None,
) -> HttpResponse:
    context = draft_context(request, record, form, saving)
    context["trial"] = trial or shown.FilterTrial(text=request.POST.get("text", ""))
    return render(request, "console/filters/filter.html", context, status=saving.status)
