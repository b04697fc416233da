"""Limits: rates with their use, breakers, and the forms of both."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission
from apps.console import limits as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.agents import environment_chosen, is_part, writing
from apps.console.views.record_parts import as_changed, form_status, record_save, wider_page
from apps.limits.access_changes import breaker_widens, rate_widens
from apps.limits.selectors import breaker_policy, rate_limit_get
from apps.limits.services import (
    breaker_close,
    breaker_policy_save,
    rate_limit_create,
    rate_limit_delete,
    rate_limit_save,
)
from apps.registry.errors import RecordChangedError


@require_safe
@gate(Permission.POLICY_READ)
def limits(request: ConsoleRequest) -> HttpResponse:
    """Every rate with whose calls count now, breakers, and the latest refusals; the fragment renews itself."""
    environment = environment_chosen(request)
    context = shown.page_of(environment) | writing(request)
    if is_part(request):
        return render(request, "console/limits/_limits.html", context)
    context["breaker"] = shown.BreakerForm(initial=shown.breaker_form(environment))
    return render(request, "console/limits/limits.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def limit_new(request: ConsoleRequest) -> HttpResponse:
    """Add a rate limit."""
    form = shown.RateForm(request.POST if request.method == "POST" else None)

    def create() -> "shown.LimitRecord":
        return rate_limit_create(environment_chosen(request), by=request.user, **form.values())

    if record_save(request, form, create, told=_("Added. It holds at once.")).record:
        return redirect("limits")
    return _form_page(request, form, record=None)


def limit_asked(request: ConsoleRequest, rate_id: UUID) -> "shown.LimitRecord":
    """Find the rate limit of a page.

    Raises:
        Http404: there is none in the chosen environment.
    """
    record = rate_limit_get(environment_chosen(request), rate_id)
    if record is None:
        raise Http404
    return record


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def limit_edit(request: ConsoleRequest, rate_id: UUID) -> HttpResponse:
    """Change a rate limit."""
    record = limit_asked(request, rate_id)
    form = shown.RateForm(request.POST if request.method == "POST" else None, initial=shown.rate_form(record))

    def save() -> "shown.LimitRecord":
        version = form.cleaned_data["version"]
        return rate_limit_save(record, expected_version=version, by=request.user, **form.values())

    if form.is_valid():
        widens = rate_widens(record, as_changed(record, form.values()))
        asked = wider_page(request, widens, back=request.path, record=record)
        if asked is not None:
            return asked
    saved = record_save(request, form, save, told=_("Saved."))
    if saved.record:
        return redirect("limits")
    return _form_page(request, form, record=record, conflict=saved.is_conflict)


def _form_page(request: ConsoleRequest, form: "shown.RateForm", **more: Any) -> HttpResponse:
    status = form_status(form, conflict=more.get("conflict", False))
    return render(request, "console/limits/form.html", {"form": form, **more}, status=status)


@require_POST
@gate(Permission.POLICY_WRITE)
def limit_remove(request: ConsoleRequest, rate_id: UUID) -> HttpResponse:
    """Remove a rate limit."""
    record = limit_asked(request, rate_id)
    asked = wider_page(request, rate_widens(record, None), back=reverse("limit-edit", args=[record.shown_id]))
    if asked is not None:
        return asked
    rate_limit_delete(record, by=request.user)
    messages.success(request, _("Removed."))
    return redirect("limits")


@require_POST
@gate(Permission.POLICY_WRITE)
def limit_breaker(request: ConsoleRequest) -> HttpResponse:
    """Change the breaker's rule."""
    environment = environment_chosen(request)
    form = shown.BreakerForm(request.POST)
    if form.is_valid():
        before = breaker_policy(environment)
        asked = wider_page(request, breaker_widens(before, as_changed(before, form.values())), back=reverse("limits"))
        if asked is not None:
            return asked
        try:
            version = form.cleaned_data["version"]
            breaker_policy_save(environment, expected_version=version, by=request.user, **form.values())
        except RecordChangedError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, _("Saved."))
            return redirect("limits")
    context = shown.page_of(environment) | writing(request) | {"breaker": form}
    return render(request, "console/limits/limits.html", context, status=422)


@require_POST
@gate(Permission.POLICY_WRITE)
def limit_breaker_close(request: ConsoleRequest) -> HttpResponse:
    """Let calls of a tool through again."""
    if breaker_close(environment_chosen(request), request.POST.get("tool", ""), by=request.user):
        messages.success(request, _("Calls go through again."))
    return redirect("limits")
