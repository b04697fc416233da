"""The page on the sandbox."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.access import Permission
from apps.console.gate import ConsoleRequest, gate
from apps.console.sandbox import page_of
from apps.console.views.agents import environment_chosen


@require_safe
@gate(Permission.POLICY_READ)
def sandbox(request: ConsoleRequest) -> HttpResponse:
    """What holds tools on this machine, and what they may use."""
    return render(request, "console/sandbox/sandbox.html", page_of(environment_chosen(request)))
