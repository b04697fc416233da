"""The pill in the top bar: how far the draft is from what is live."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.access import Permission
from apps.console.gate import ConsoleRequest, gate
from apps.console.policy_tests import draft_run
from apps.policies.selectors import draft_change_count, draft_changes, draft_tool_differences

EXACT_UP_TO = 600


@require_safe
@gate(Permission.POLICY_READ)
def draft_pill(request: ConsoleRequest) -> HttpResponse:
    """How many records of the draft, and how many tools, are not as they are live; empty when none.

    Records that were changed and changed back do not count, unless so many were written that looking at each takes
    too long. How many policy tests the draft fails stands beside them.
    """
    number = draft_change_count(request.environment) if request.environment else 0
    if request.environment and 0 < number <= EXACT_UP_TO:
        number = len({change.record for change in draft_changes(request.environment, limit=EXACT_UP_TO)})
    if request.environment:
        number += len(draft_tool_differences(request.environment))
    tests = draft_run(request.environment) if request.environment and number else None
    return render(request, "console/draft/_pill.html", {"number": number, "failing": tests.failed if tests else []})
