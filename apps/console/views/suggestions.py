"""Suggestions from use: what agents have and never call, and a narrower policy with one click."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission, require
from apps.console import suggestions as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.posted import version_seen
from apps.console.undoing import tell_saved
from apps.console.views.agents import agent_asked, environment_chosen, is_part, writing
from apps.policies.services import record_update


@require_safe
@gate(Permission.AUDIT_READ)
def suggestions(request: ConsoleRequest) -> HttpResponse:
    """Every agent of the draft with the tools that it has and never calls."""
    days, page = shown.days_of(request.GET), shown.page_of(request.GET)
    context = shown.list_of(environment_chosen(request), days=days, page=page) | writing(request)
    return render(request, "console/suggestions/suggestions.html", context)


@require_safe
@gate(Permission.AUDIT_READ)
def suggestion(request: ConsoleRequest, key: str) -> HttpResponse:
    """What one agent calls and never calls."""
    context = shown.agent_page(agent_asked(request, key), days=shown.days_of(request.GET)) | writing(request)
    return render(request, "console/suggestions/suggestion.html", context)


@require_safe
@gate(Permission.AUDIT_READ)
def suggestion_effect(request: ConsoleRequest, key: str) -> HttpResponse:
    """The narrower policy of one agent with its effect; without scripts a page of its own."""
    return _effect(request, key)


@require_POST
@gate(Permission.AUDIT_READ)
def suggestion_take(request: ConsoleRequest, key: str) -> HttpResponse:
    """Put a suggestion into the draft, as it was shown."""
    require(request.user, Permission.POLICY_WRITE)
    record = agent_asked(request, key)
    found = shown.suggestion_of(record, days=shown.days_of(request.POST))
    if found is None or found.key != request.POST.get("suggestion"):
        return _effect(request, key, status=409)
    wanted = {found.member: list(found.entries)}
    saved = record_update(record, wanted, by=request.user, expected_version=version_seen(request))
    tell_saved(request, _("Saved to the draft."), saved, was=record)
    return redirect("agent", record.key)


def _effect(request: ConsoleRequest, key: str, *, status: int = 200) -> HttpResponse:
    days = shown.days_of(request.POST if request.method == "POST" else request.GET)
    context = shown.effect_of(agent_asked(request, key), days=days) | writing(request) | {"is_stale": status == 409}
    template = "console/suggestions/_effect.html" if is_part(request) else "console/suggestions/effect.html"
    return render(request, template, context, status=status)
