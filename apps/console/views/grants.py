"""Standing approvals: the list, one of them, ending and narrowing it."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission, may
from apps.approvals.errors import ApprovalError
from apps.approvals.grants import grant_narrow, grant_revoke
from apps.approvals.selectors import grant_get
from apps.console import grants as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.agents import environment_chosen
from apps.firewall.engine.subjects import kept_name

BACK = {"approvals": "approvals", "history": "approvals-history"}
"""Where a rule was undone from."""


@require_safe
@gate(Permission.APPROVALS_READ)
def grants(request: ConsoleRequest) -> HttpResponse:
    """What runs without asking because somebody said "always"."""
    agent, unused = kept_name("agent", request.GET.get("agent", "")), request.GET.get("unused") == "on"
    context = shown.page_of(environment_chosen(request), at=timezone.now(), agent=agent, unused=unused)
    context |= {"agent": agent, "only_unused": unused, "may_revoke": may(request.user, Permission.APPROVALS_RESOLVE)}
    return render(request, "console/grants/grants.html", context)


@require_safe
@gate(Permission.APPROVALS_READ)
def grant(request: ConsoleRequest, grant_id: UUID) -> HttpResponse:
    """One standing approval, its uses, and a narrower rule where they tell of one."""
    context = shown.grant_page(_asked(request, grant_id), at=timezone.now())
    context["may_revoke"] = may(request.user, Permission.APPROVALS_RESOLVE)
    return render(request, "console/grants/grant.html", context)


@require_POST
@gate(Permission.APPROVALS_RESOLVE)
def revoke(request: ConsoleRequest, grant_id: UUID) -> HttpResponse:
    grant_revoke(_asked(request, grant_id), by=request.user, at=timezone.now())
    messages.success(request, _("Revoked: the next such call asks again."))
    return redirect(BACK.get(request.POST.get("back", ""), "grants"))


@require_POST
@gate(Permission.APPROVALS_RESOLVE)
def narrow(request: ConsoleRequest, grant_id: UUID) -> HttpResponse:
    found = _asked(request, grant_id)
    try:
        narrower = grant_narrow(found, request.POST.get("arg_pattern", ""), by=request.user, at=timezone.now())
    except ApprovalError as error:
        messages.warning(request, error.message)
        return redirect("grant", found.pk)
    messages.success(request, _("Narrowed: everything else asks again."))
    return redirect("grant", narrower.pk)


def _asked(request: ConsoleRequest, grant_id: UUID) -> "shown.GrantRecord":
    found = grant_get(environment_chosen(request), grant_id)
    if found is None:
        raise Http404
    return found
