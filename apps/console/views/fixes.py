"""The smallest fix of a verdict: found for the draft, and put into it. The URL carries the situation and the tool."""

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.access import Permission, require
from apps.console.fixes import PostedEditsError, edits_posted, effects_of_fix, fix_of
from apps.console.gate import ConsoleRequest, gate
from apps.console.situations import Situation
from apps.console.views.agents import environment_chosen, is_part, writing
from apps.firewall.engine.context import ContextError
from apps.firewall.engine.fixes import UnknownToolError
from apps.firewall.engine.resolve import ResolutionError
from apps.policies.errors import ConflictError
from apps.policies.services import draft_edit
from apps.policies.undoable import draft_change_own

TOOL_LIMIT = 200


def _asked(view: Callable[[ConsoleRequest, Situation, str], HttpResponse]) -> Callable[[ConsoleRequest], HttpResponse]:
    """Read the situation and the tool that the address names; one that cannot be is answered 422."""

    @wraps(view)
    def read(request: ConsoleRequest) -> HttpResponse:
        try:
            situation = Situation.read(request.GET)
        except ContextError as error:
            return HttpResponse(error.message, status=422, content_type="text/plain")
        tool = request.GET.get("tool", "")[:TOOL_LIMIT]
        if not tool:
            raise Http404
        return view(request, situation, tool)

    return read


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.EXPLAIN)
@_asked
def explorer_fix(request: ConsoleRequest, situation: Situation, tool: str) -> HttpResponse:
    """The fewest edits that flip a verdict; POST puts those that were shown into the draft."""
    if request.method != "POST":
        return _shown(request, situation, tool)
    require(request.user, Permission.POLICY_WRITE)
    try:
        edits = edits_posted(request.POST.getlist("edit"))
    except PostedEditsError:
        return HttpResponseBadRequest()  # no button of ours sends this
    try:
        draft_edit(environment_chosen(request), edits, by=request.user)
    except ConflictError as error:
        return _shown(request, situation, tool, conflict=error)
    number = len(edits)
    change = draft_change_own(environment_chosen(request), request.user)
    messages.success(
        request,
        ngettext("%(number)d edit is in the draft.", "%(number)d edits are in the draft.", number) % {"number": number},
        extra_tags="" if change is None else str(change),
    )
    return redirect(situation.url(reverse("explorer"), at="draft", tool=tool) + "#trace")


@require_safe
@gate(Permission.EXPLAIN)
@_asked
def explorer_fix_effects(request: ConsoleRequest, situation: Situation, tool: str) -> HttpResponse:
    """Who gains and loses what by the fix, over all contexts; without scripts a page of its own."""
    context = _addresses(request, situation, tool) | {"tool": tool, "to_draft": True}
    try:
        context["effects"] = effects_of_fix(environment_chosen(request), situation, tool)
    except (UnknownToolError, ResolutionError) as error:
        raise Http404 from error
    template = "console/explorer/_fix_effects.html" if is_part(request) else "console/explorer/fix_effects.html"
    return render(request, template, context)


def _addresses(request: ConsoleRequest, situation: Situation, tool: str) -> dict[str, str]:
    name = request.GET.get("name", "A")[:1]
    query = urlencode(situation.query() | {"tool": tool, "name": name})
    return {
        "fix_id": f"fix-{name}",
        "fix_url": f"{reverse('explorer-fix')}?{query}",
        "effects_url": f"{reverse('explorer-fix-effects')}?{query}",
        "trace_url": situation.url(reverse("explorer"), at="draft", tool=tool) + "#trace",
    }


def _shown(
    request: ConsoleRequest, situation: Situation, tool: str, *, conflict: ConflictError | None = None
) -> HttpResponse:
    context: dict[str, Any] = {
        "tool": tool,
        "situation": situation,
        "conflict": conflict,
        **_addresses(request, situation, tool),
        **writing(request),
    }
    try:
        context["found"] = fix_of(environment_chosen(request), situation, tool)
    except (UnknownToolError, ResolutionError) as error:
        context["undecidable"] = error
        if isinstance(error, UnknownToolError):
            context["undecidable"] = _("There is no such tool in the draft.")
    template = "console/explorer/_fix.html" if is_part(request) else "console/explorer/fix.html"
    return render(request, template, context, status=409 if conflict else 200)
