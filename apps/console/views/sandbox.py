"""The page on the sandbox."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission, may
from apps.console.gate import ConsoleRequest, gate
from apps.console.sandbox import page_of
from apps.console.views.agents import environment_chosen
from apps.registry.services.workspaces import workspace_remove


@require_safe
@gate(Permission.POLICY_READ)
def sandbox(request: ConsoleRequest) -> HttpResponse:
    """What holds tools on this machine, and what they may use."""
    context = page_of(environment_chosen(request)) | {"may_remove": may(request.user, Permission.AUDIT_MANAGE)}
    return render(request, "console/sandbox/sandbox.html", context)


@require_POST
@gate(Permission.AUDIT_MANAGE)
def workspace_clear(request: ConsoleRequest) -> HttpResponse:
    """Remove a workspace with all it holds."""
    environment, agent = request.POST.get("environment", ""), request.POST.get("agent", "")
    if not workspace_remove(environment, agent, by=request.user, at=timezone.now()):
        raise Http404
    messages.success(request, _("The workspace of %(agent)s was removed.") % {"agent": agent})
    return redirect("sandbox")
