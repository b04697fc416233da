"""Content filters: the list, one filter, and what filters make of a text."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.access import Permission, require
from apps.console import agents as fields
from apps.console import guards as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.guard_forms import FilterForm
from apps.console.views.agents import environment_chosen, is_part, writing
from apps.policies.errors import ConflictError, RecordInvalidError
from apps.policies.selectors import content_filters, draft_snapshot, record_get
from apps.policies.services import content_filter_create, record_delete, record_update


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
    if request.method == "POST" and form.is_valid():
        wanted = form.changes()
        try:
            content_filter_create(environment_chosen(request), wanted.pop("key"), by=request.user, **wanted)
        except RecordInvalidError as error:
            form.take_errors(error)
        else:
            messages.success(request, _("Added to the draft."))
            return redirect("filters")
    return _page(request, None, form, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def content_filter(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """One filter; POST saves it to the draft."""
    record = _asked(request, record_id)
    form = FilterForm(request.POST or None, initial=FilterForm.initial_of(record))
    if request.POST.get("do") == "try":
        return _tried(request, record, form)
    status, conflict = 200, None
    if request.method == "POST":
        require(request.user, Permission.POLICY_WRITE)
        status = 422
        if form.is_valid():
            changes = form.changes()
            wanted = {name: each for name, each in changes.items() if request.POST.get(f"choose_{name}") != "theirs"}
            try:
                record_update(record, wanted, by=request.user, expected_version=form.cleaned_data["version"] or 0)
            except ConflictError as error:
                status, conflict = 409, shown.conflict_of(error, form)
            except RecordInvalidError as error:
                form.take_errors(error)
            else:
                messages.success(request, _("Saved to the draft."))
                return redirect("filters")
    return _page(request, record, form, status=status, conflict=conflict)


@require_POST
@gate(Permission.POLICY_WRITE)
def filter_delete(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """Take a filter out of the draft."""
    version = request.POST.get("version", "")
    record_delete(
        _asked(request, record_id), by=request.user, expected_version=int(version) if version.isdigit() else 0
    )
    messages.success(request, _("Removed from the draft."))
    return redirect("filters")


def _asked(request: ConsoleRequest, record_id: UUID) -> "shown.FilterRecord":
    found: Any = record_get(environment_chosen(request), "content_filter", record_id)
    if found is None:
        raise Http404
    record: shown.FilterRecord = found
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
    *,
    status: int = 200,
    conflict: fields.Conflict | None = None,
    trial: "shown.FilterTrial | None" = None,
) -> HttpResponse:
    context = {
        "record": record,
        "form": form,
        "version": conflict.version if conflict else form["version"].value() or 0,
        "conflict": conflict,
        "mistakes": fields.mistakes_of(form) if status == 422 else [],
        "trial": trial or shown.FilterTrial(text=request.POST.get("text", "")),
        **writing(request),
    }
    return render(request, "console/filters/filter.html", context, status=status)
