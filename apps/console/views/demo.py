"""The demo: what of it would go and what would stay, and removing it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission, may
from apps.console.agents import roles_with
from apps.console.demo import STAYS_SHOWN, rows_that_go, rows_that_stay
from apps.console.gate import ConsoleRequest, gate
from apps.gateway.demo import demo_found, demo_remove


@require_safe
@gate(Permission.POLICY_READ)
def demo(request: ConsoleRequest) -> HttpResponse:
    """What removing it would do."""
    if not request.environment:
        return redirect("start")
    found = demo_found(request.environment)
    may_write = may(request.user, Permission.POLICY_WRITE)
    context = {
        "demo": found,
        "goes": rows_that_go(found),
        "stays": rows_that_stay(found),
        "stays_more": max(0, len(found.stays) - STAYS_SHOWN),
        "may_write": may_write,
        "writers": "" if may_write else roles_with(Permission.POLICY_WRITE),
    }
    return render(request, "console/demo/demo.html", context)


@require_POST
@gate(Permission.POLICY_WRITE)
def remove(request: ConsoleRequest) -> HttpResponse:
    if not request.environment:
        return redirect("start")
    gone = demo_remove(request.environment, by=request.user, at=timezone.now())
    if gone.goes:
        messages.success(request, _("The demo was removed. What is named below stays."))
    else:
        messages.info(request, _("Nothing of the demo was left to remove."))
    return redirect("demo")
