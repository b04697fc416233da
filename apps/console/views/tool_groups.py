"""Tool groups: the list, one group with its members and who names it."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.access import Permission
from apps.console import catalogue as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.agents import environment_chosen


@require_safe
@gate(Permission.POLICY_READ)
def tool_groups(request: ConsoleRequest) -> HttpResponse:
    """Every group that a list of a policy may name."""
    environment = environment_chosen(request)
    context = {"rows": shown.group_rows(environment), "environment": environment}
    return render(request, "console/tool_groups/tool_groups.html", context)


@require_safe
@gate(Permission.POLICY_READ)
def tool_group(request: ConsoleRequest, name: str) -> HttpResponse:
    """One group."""
    group = shown.group_shown(environment_chosen(request), name)
    if group is None:
        raise Http404
    return render(request, "console/tool_groups/tool_group.html", {"group": group, "note": shown.group_note(name)})
