"""What another environment has live, beside what is live here, and the step that makes it live here."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.access import Permission, may, require
from apps.console.blast import blast_of
from apps.console.environments import environments_of
from apps.console.gate import ConsoleRequest, gate
from apps.console.release_forms import PromoteForm
from apps.console.snapshot_diff import block_changes
from apps.console.tool_changes import tool_changes
from apps.firewall.engine.diff_blocks import block_differences
from apps.firewall.engine.diff_guards import tool_differences
from apps.policies.errors import (
    DocumentInvalidError,
    PublicationConflictError,
    PublicationRefusedError,
    SnapshotUntrustedError,
)
from apps.policies.rules_of_release import needs_second_person
from apps.policies.selectors import live_publication, live_snapshot, publication_get, publication_snapshot
from apps.policies.services import promote as promote_live

SHOWN_BLOCKS = 40


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def promote(request: ConsoleRequest) -> HttpResponse:
    """The difference, from what is live here to what is live in the other environment; a POST promotes it."""
    environment, source = _both(request)
    if environment is None:
        return redirect("start")
    theirs = live_publication(source) if source else None
    if request.method != "POST":
        return render(request, "console/promote/promote.html", _page(request, environment, source, theirs))
    require(request.user, Permission.PUBLISH)
    form = PromoteForm(request.POST)
    if not form.is_valid() or theirs is None:
        return _refused(request, environment, source, theirs, form, status=422)
    wanted = dict(form.cleaned_data)
    if wanted.pop("publication") != theirs.snapshot_id:
        return _refused(request, environment, source, theirs, form, status=409, has_moved=True)
    whole = publication_get(theirs.pk)
    try:
        made: Any = promote_live(environment, whole or theirs, by=request.user, at=timezone.now(), **wanted)
    except PublicationConflictError:
        return _refused(request, environment, source, theirs, form, status=409, has_moved=True)
    except (PublicationRefusedError, DocumentInvalidError, SnapshotUntrustedError) as error:
        return _refused(request, environment, source, theirs, form, status=422, refused=error)
    if needs_second_person(environment):
        messages.success(request, _("Asked. It goes live when a second person confirms it."))
        return redirect("publish")
    messages.success(request, _("%(version)s is live. Gateways take it up now.") % {"version": made})
    return redirect("snapshot", made.pk)


@require_safe
@gate(Permission.POLICY_READ)
def promote_blast(request: ConsoleRequest) -> HttpResponse:
    """Who gains and loses what by promoting: a fragment, or a page where no script asked for it."""
    environment, source = _both(request)
    if environment is None:
        return redirect("start")
    theirs = live_publication(source) if source else None
    context: dict[str, Any] = {"from_publication": live_publication(environment)}
    if theirs is None:
        return redirect("promote")
    try:
        context["blast"] = blast_of(live_snapshot(environment), publication_snapshot(theirs))
    except SnapshotUntrustedError as error:
        context["error"] = error
    template = "console/publish/_blast.html" if request.htmx else "console/publish/blast.html"
    return render(request, template, context)


def _both(request: ConsoleRequest) -> tuple[Any, Any]:
    """Find the chosen environment, and the other one that is named or stands first."""
    environment: Any = request.environment
    others = [each for each in environments_of(request) if not environment or each.pk != environment.pk]
    wanted = request.GET.get("from", "")
    named = next((each for each in others if each.slug == wanted), None)
    return environment, named or (others[0] if others else None)


def _page(
    request: ConsoleRequest, environment: Any, source: Any, theirs: Any, form: PromoteForm | None = None
) -> dict[str, Any]:
    live = live_publication(environment)
    initial = {
        "expected_live": live.snapshot_id if live else "",
        "publication": theirs.snapshot_id if theirs else "",
    }
    context: dict[str, Any] = {
        "environment": environment,
        "others": [each for each in environments_of(request) if each.pk != environment.pk],
        "source": source,
        "live": live,
        "theirs": theirs,
        "by_two": needs_second_person(environment),
        "form": form or PromoteForm(initial=initial),
        "may_publish": may(request.user, Permission.PUBLISH),
        "blast_url": f"{reverse('promote-blast')}?from={source.slug}" if source else "",
        "all_url": f"{reverse('promote')}?from={source.slug}&all" if source else "",
    }
    if theirs is None:
        return context
    try:
        return context | _difference(request, environment, theirs)
    except SnapshotUntrustedError as error:
        return context | {"error": error}


def _difference(request: ConsoleRequest, environment: Any, theirs: Any) -> dict[str, Any]:
    old, new = live_snapshot(environment), publication_snapshot(theirs)
    if old is None:
        return {"block_count": 0, "is_first": True}
    blocks = block_differences(old, new)
    shown = len(blocks) if "all" in request.GET else SHOWN_BLOCKS
    tools = tool_changes(tool_differences(old.document["tools"], new.document["tools"]))
    return {
        "blocks": block_changes(blocks[:shown]),
        "block_count": len(blocks),
        "blocks_left": max(0, len(blocks) - shown),
        "tool_count": len(tools),
    }


def _refused(
    request: ConsoleRequest,
    environment: Any,
    source: Any,
    theirs: Any,
    form: PromoteForm,
    *,
    status: int,
    **why: Any,
) -> HttpResponse:
    context = _page(request, environment, source, theirs, form) | why
    return render(request, "console/promote/promote.html", context, status=status)
