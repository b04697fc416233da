"""The pill in the top bar: how far the draft is from what is live."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.access import Permission
from apps.console.gate import ConsoleRequest, gate
from apps.policies.selectors import draft_change_count


@require_safe
@gate(Permission.POLICY_READ)
def draft_pill(request: ConsoleRequest) -> HttpResponse:
    """How many records of the draft were written since the last publication; empty when none."""
    number = draft_change_count(request.environment) if request.environment else 0
    return render(request, "console/draft/_pill.html", {"number": number})
