"""The pill in the top bar: how far the draft is from what is live, and taking back the last change."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission, may
from apps.console.gate import ConsoleRequest, gate
from apps.console.guardrails import stopping_count
from apps.console.policy_tests import draft_run
from apps.console.undoing import page_after
from apps.console.views.agents import environment_chosen
from apps.policies.selectors import draft_change_count, draft_changes, draft_tool_differences
from apps.policies.services import change_undo
from apps.policies.undoable import draft_change_own

EXACT_UP_TO = 600


@require_safe
@gate(Permission.POLICY_READ)
def draft_pill(request: ConsoleRequest) -> HttpResponse:
    """How many records of the draft, and how many tools, are not as they are live; empty when none.

    Records that were changed and changed back do not count, unless so many were written that looking at each takes
    too long. How many policy tests and guardrails the draft fails stands beside them. Who wrote last in the draft may
    take that back.
    """
    number = draft_change_count(request.environment) if request.environment else 0
    if request.environment and 0 < number <= EXACT_UP_TO:
        number = len({change.record for change in draft_changes(request.environment, limit=EXACT_UP_TO)})
    if request.environment:
        number += len(draft_tool_differences(request.environment))
    tests = draft_run(request.environment) if request.environment and number else None
    change = None
    if number and request.environment and may(request.user, Permission.POLICY_WRITE):
        change = draft_change_own(request.environment, request.user)
    stopping = stopping_count(request.environment) if request.environment and number else 0
    context = {"number": number, "failing": tests.failed if tests else [], "stopping": stopping, "change": change}
    return render(request, "console/draft/_pill.html", context)


@require_POST
@gate(Permission.POLICY_WRITE)
def draft_undo(request: ConsoleRequest) -> HttpResponse:
    """Take back a change that this person saved."""
    try:
        change = UUID(request.POST.get("change", ""))
    except ValueError:
        return HttpResponseBadRequest()  # no form of ours sends this
    undone = change_undo(environment_chosen(request), change, by=request.user)
    messages.success(request, _("Undone: %(place)s is as it was before.") % {"place": undone.place})
    return redirect(page_after(request, undone))
