"""Shadow rules: changes that nobody enforces, started from the review or from a smallest fix, each with its counter."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission, require
from apps.console.fixes import PostedEditsError, edits_posted
from apps.console.gate import ConsoleRequest, gate
from apps.console.shadows import list_of, shown
from apps.console.views.agents import is_part, writing
from apps.console.views.start import has_begun
from apps.firewall.engine.snapshot import SnapshotError
from apps.policies.errors import PolicyError, ShadowInvalidError, ShadowStateError
from apps.policies.shadows.drafting import shadow_draft
from apps.policies.shadows.starting import (
    shadow_access,
    shadow_delete,
    shadow_start,
    shadow_start_edits,
    shadow_stop,
)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def shadows(request: ConsoleRequest) -> HttpResponse:
    """Every shadow rule with its counter; POST begins one, of a changed record or of the edits of a fix."""
    if not has_begun(request):
        return redirect("start")
    if request.method == "POST":
        return _start(request)
    return _listed(request)


def _start(request: ConsoleRequest) -> HttpResponse:
    require(request.user, Permission.POLICY_WRITE)
    environment: Any = request.environment
    begun: dict[str, Any] = {"by": request.user, "at": timezone.now()}
    try:
        if "edit" in request.POST:
            made = shadow_start_edits(environment, edits_posted(request.POST.getlist("edit")), **begun)
            told = _("Watched from now on. It is not in the draft.")
        else:
            made = shadow_start(
                environment, request.POST.get("kind", ""), UUID(request.POST.get("record", "")), **begun
            )
            told = _("Watched from now on. The draft keeps the change: take it out there if it must not go live.")
    except (PostedEditsError, ValueError):
        return HttpResponseBadRequest()  # no button of ours sends this
    except (ShadowInvalidError, SnapshotError) as error:
        return _listed(request, mistake=error)
    messages.success(request, told)
    return redirect("shadow", made.pk)


def _listed(request: ConsoleRequest, *, mistake: Any = None) -> HttpResponse:
    environment: Any = request.environment
    template = "console/shadows/_list.html" if is_part(request) else "console/shadows/shadows.html"
    context = list_of(request, environment) | {"mistake": mistake}
    return render(request, template, context, status=422 if mistake else 200)


@require_safe
@gate(Permission.POLICY_READ)
def shadow(request: ConsoleRequest, shadow_id: UUID) -> HttpResponse:
    """One shadow rule: what it changes, its counter, and the calls by tool and agent."""
    return _one(request, shadow_id)


@require_POST
@gate(Permission.POLICY_WRITE)
def stop(request: ConsoleRequest, shadow_id: UUID) -> HttpResponse:
    """Watch it no longer; what was counted stays."""
    found = shadow_access(request.user, shadow_id, write=True)
    try:
        shadow_stop(found, by=request.user, at=timezone.now())
    except ShadowStateError as error:
        return _one(request, shadow_id, mistake=error)
    messages.success(request, _("Stopped. What it counted stays."))
    return redirect("shadow", shadow_id)


@require_POST
@gate(Permission.POLICY_WRITE)
def draft(request: ConsoleRequest, shadow_id: UUID) -> HttpResponse:
    """Put the change into the draft."""
    found = shadow_access(request.user, shadow_id, write=True)
    try:
        shadow_draft(found, by=request.user)
    except PolicyError as error:
        return _one(request, shadow_id, mistake=error)
    messages.success(request, _("It is in the draft. It is watched until it goes live."))
    return redirect("publish")


@require_POST
@gate(Permission.POLICY_WRITE)
def remove(request: ConsoleRequest, shadow_id: UUID) -> HttpResponse:
    """Take it away with what it counted."""
    shadow_delete(shadow_access(request.user, shadow_id, write=True), by=request.user)
    messages.success(request, _("Removed."))
    return redirect("shadows")


def _one(request: ConsoleRequest, shadow_id: UUID, *, mistake: PolicyError | None = None) -> HttpResponse:
    context = {"shown": shown(request, shadow_access(request.user, shadow_id)), "mistake": mistake} | writing(request)
    template = "console/shadows/_shadow.html" if is_part(request) else "console/shadows/shadow.html"
    return render(request, template, context, status=409 if mistake else 200)
