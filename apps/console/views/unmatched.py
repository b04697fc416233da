"""Rules of what is live that no recorded call matched: counted by a worker, each taken out of the draft by a click."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission, require
from apps.console import unmatched as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.posted import version_seen
from apps.console.views.agents import environment_chosen, is_part, writing
from apps.policies.errors import ConflictError, RecordGoneError, RecordInvalidError, ReplayInvalidError
from apps.policies.services import rule_remove
from apps.policies.tasks import replay_enqueue
from apps.policies.unmatched import rule_count_request


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.AUDIT_READ)
def unmatched_rules(request: ConsoleRequest) -> HttpResponse:
    """The rules that no call matched; POST asks for a new count."""
    environment, mistake = environment_chosen(request), None
    if request.method == "POST":
        try:
            replay_enqueue(rule_count_request(environment, by=request.user, at=timezone.now()).pk)
        except ReplayInvalidError as error:
            mistake = error
        if is_part(request):
            context = shown.count_of(environment) | {"mistake": mistake}
            return render(request, "console/unmatched/_count.html", context, status=422 if mistake else 200)
        if mistake is None:
            return redirect("unmatched-rules")
    context = shown.list_of(environment, request.GET) | {"mistake": mistake}
    return render(request, "console/unmatched/unmatched.html", context, status=422 if mistake else 200)


@require_safe
@gate(Permission.AUDIT_READ)
def unmatched_count(request: ConsoleRequest) -> HttpResponse:
    """How far the count is; it asks itself again, and has the page come anew when it ends."""
    if not is_part(request):
        return redirect("unmatched-rules")
    context = shown.count_of(environment_chosen(request))
    answer = render(request, "console/unmatched/_count.html", context)
    if context["count"] is not None and not context["count"].is_open:
        answer["HX-Refresh"] = "true"
    return answer


@require_safe
@gate(Permission.AUDIT_READ)
def unmatched_effect(request: ConsoleRequest) -> HttpResponse:
    """What the removal of one rule does over all contexts; without scripts a page of its own."""
    return _effect(request, request.GET)


@require_POST
@gate(Permission.AUDIT_READ)
def unmatched_remove(request: ConsoleRequest) -> HttpResponse:
    """Take a rule out of the draft, as it was shown."""
    require(request.user, Permission.POLICY_WRITE)
    environment = environment_chosen(request)
    try:
        rule = shown.rule_asked(environment, request.POST)
        rule_remove(environment, rule, by=request.user, expected_version=version_seen(request))
    except (ConflictError, RecordGoneError, RecordInvalidError) as error:
        status = 422 if isinstance(error, RecordInvalidError) else 409
        return _effect(request, request.POST, refusal=error, status=status)
    messages.success(request, _("The rule is out of the draft."))
    return redirect("unmatched-rules")


def _effect(request: ConsoleRequest, given: Any, *, refusal: Any = None, status: int = 200) -> HttpResponse:
    environment = environment_chosen(request)
    context: dict[str, Any] = {"refusal": refusal, **writing(request)}
    try:
        context |= shown.effect_of(environment, shown.rule_asked(environment, given))
    except RecordGoneError as error:
        context["gone"], status = error, 409 if refusal is not None else 404
    template = "console/unmatched/_effect.html" if is_part(request) else "console/unmatched/effect.html"
    return render(request, template, context, status=status)
