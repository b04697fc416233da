"""How answering goes, and whom and what it wears."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.access import Permission
from apps.console.fatigue import page_of
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.agents import environment_chosen


@require_safe
@gate(Permission.AUDIT_READ)
def fatigue(request: ConsoleRequest) -> HttpResponse:
    context = page_of(environment_chosen(request), request.GET.get("span", ""), at=timezone.now())
    return render(request, "console/approvals/fatigue.html", context)
