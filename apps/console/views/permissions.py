"""Grants of permissions: the list, one grant, and whether a call would pass."""

from typing import TYPE_CHECKING
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission
from apps.console import guards as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.guard_forms import GrantForm
from apps.console.situations import agent_names
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
from apps.policies.selectors import draft_snapshot, permission_grants
from apps.policies.services import permission_grant_create

if TYPE_CHECKING:
    from apps.firewall.engine.grants import Grant


@require_safe
@gate(Permission.POLICY_READ)
def permissions(request: ConsoleRequest) -> HttpResponse:
    """Every grant of the draft; a call that is tried is answered beside them."""
    environment = environment_chosen(request)
    snapshot = draft_snapshot(environment)
    trial = shown.permission_trial(snapshot, request.GET)
    if is_part(request):
        return render(request, "console/permissions/_answer.html", {"trial": trial})
    rows = shown.grant_rows(snapshot, permission_grants(environment))
    context = {"rows": rows, "trial": trial} | writing(request)
    return render(request, "console/permissions/permissions.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def permission_new(request: ConsoleRequest) -> HttpResponse:
    """A new grant."""
    choices = shown.token_choices(environment_chosen(request))
    form = GrantForm(request.POST if request.method == "POST" else None, tokens=choices)
    if request.POST.get("do") == "try":
        return _tried(request, None, form)
    if draft_add(request, form, permission_grant_create):
        return redirect("permissions")
    return _page(request, None, form, Saving(status=422 if form.errors else 200))


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def permission(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """One grant; POST saves it to the draft."""
    record = _asked(request, record_id)
    choices = shown.token_choices(environment_chosen(request))
    form = GrantForm(request.POST or None, initial=GrantForm.initial_of(record), tokens=choices)
    if request.POST.get("do") == "try":
        return _tried(request, record, form)
    saving = draft_save(request, record, form)
    if saving.is_saved:
        return redirect("permissions")
    return _page(request, record, form, saving)


@require_POST
@gate(Permission.POLICY_WRITE)
def permission_delete(request: ConsoleRequest, record_id: UUID) -> HttpResponse:
    """Take a grant out of the draft."""
    draft_remove(request, _asked(request, record_id))
    return redirect("permissions")


def _asked(request: ConsoleRequest, record_id: UUID) -> "shown.GrantRecord":
    record: shown.GrantRecord = draft_asked(request, "permission_grant", record_id)
    return record


def _tried(request: ConsoleRequest, record: "shown.GrantRecord | None", form: GrantForm) -> HttpResponse:
    """Answer a call that is tried with the grant as it is typed; a form with mistakes takes no part."""
    unsaved: Grant | None = form.grant() if form.is_valid() else None
    trial = shown.permission_trial(draft_snapshot(environment_chosen(request)), request.POST, unsaved=unsaved)
    if is_part(request):
        return render(request, "console/permissions/_answer.html", {"trial": trial})
    return _page(request, record, form, trial=trial)


def _page(
    request: ConsoleRequest,
    record: "shown.GrantRecord | None",
    form: GrantForm,
    saving: Saving = SHOWN,
    *,
    trial: "shown.PermissionTrial | None" = None,
) -> HttpResponse:
    snapshot = draft_snapshot(environment_chosen(request))
    context = draft_context(request, record, form, saving) | {
        "asked": shown.permissions_asked(snapshot),
        "agents": agent_names(snapshot),
        "trial": trial or shown.permission_trial(snapshot, request.POST or request.GET),
    }
    return render(request, "console/permissions/permission.html", context, status=saving.status)
