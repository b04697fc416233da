"""Replays of past calls: started and watched in the review, each with a page of its own."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission, may
from apps.console.gate import ConsoleRequest, gate
from apps.console.replays import ShownReplay, replay_panel, replay_shown, review_proof
from apps.console.views.start import has_begun
from apps.firewall.engine.snapshot import SnapshotError
from apps.policies.errors import ReplayInvalidError, ReplayStateError
from apps.policies.replays.asking import KEPT, replay_access, replay_cancel, replay_request, replays_of
from apps.policies.replays.proofs import replay_is_required, replay_require
from apps.policies.selectors import draft_snapshot, live_publication
from apps.policies.tasks import replay_enqueue


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.AUDIT_READ)
def replays(request: ConsoleRequest) -> HttpResponse:
    """Every replay that is kept; POST asks for one of the draft."""
    if not has_begun(request):
        return redirect("start")
    environment: Any = request.environment
    if request.method != "POST":
        context = {
            "replays": [ShownReplay(each, environment.dialect) for each in replays_of(environment)[:KEPT]],
            "is_required": replay_is_required(environment),
            "may_require": may(request.user, Permission.PUBLISH),
        }
        return render(request, "console/replays/replays.html", context)
    mistake: Any = None
    try:
        snapshot = draft_snapshot(environment)
        days = int(request.POST.get("days", "")[:4] or 0) if request.POST.get("days", "").isdecimal() else 0
        asked = replay_request(environment, snapshot, days=days, by=request.user, at=timezone.now())
        replay_enqueue(asked.pk)
    except (ReplayInvalidError, SnapshotError) as error:
        mistake = error
    if request.htmx:
        return _panel(request, mistake)
    if mistake:
        messages.error(request, mistake.message)
    return redirect(reverse("publish") + "#replay")


@require_safe
@gate(Permission.POLICY_READ)
def panel(request: ConsoleRequest) -> HttpResponse:
    """The replay part of the review alone; it asks itself again while calls are counted."""
    if not has_begun(request) or not request.htmx:
        return redirect("publish")
    return _panel(request)


def _panel(request: ConsoleRequest, mistake: Any = None) -> HttpResponse:
    """Render the part; the rest of the review hears of a replay that has ended, however soon it has."""
    context = replay_panel(request) | {"mistake": mistake}
    answer = render(request, "console/replays/_panel.html", context, status=422 if mistake else 200)
    if context["shown"] is not None and not context["shown"].replay.is_open:
        answer["HX-Trigger"] = "replay-ended"
    return answer


@require_safe
@gate(Permission.POLICY_READ)
def check(request: ConsoleRequest) -> HttpResponse:
    """The line of the publish form that says whether the draft was replayed."""
    if not has_begun(request) or not request.htmx:
        return redirect("publish")
    environment: Any = request.environment
    live = live_publication(environment)
    try:
        digest = draft_snapshot(environment).digest
    except SnapshotError:
        digest = ""
    proof = review_proof(environment, draft_digest=digest, live_digest=live.snapshot_id if live else "")
    return render(request, "console/replays/_check.html", {"proof": proof})


@require_safe
@gate(Permission.AUDIT_READ)
def replay(request: ConsoleRequest, replay_id: UUID) -> HttpResponse:
    """One replay with all its groups; a fragment while it is watched."""
    found = replay_access(request.user, replay_id)
    context = {"shown": replay_shown(request, found, found.environment.dialect, shows_all=True)}
    return render(request, f"console/replays/{'_replay' if request.htmx else 'replay'}.html", context)


@require_POST
@gate(Permission.AUDIT_READ)
def cancel(request: ConsoleRequest, replay_id: UUID) -> HttpResponse:
    """End a replay; one that has ended meanwhile is shown as it is."""
    found = replay_access(request.user, replay_id)
    try:
        found = replay_cancel(found, by=request.user, at=timezone.now())
    except ReplayStateError:
        found.refresh_from_db()
    if not request.htmx:
        return redirect("replay", found.pk)
    context = {"shown": replay_shown(request, found, found.environment.dialect, shows_all=True)}
    return render(request, "console/replays/_replay.html", context)


@require_POST
@gate(Permission.PUBLISH)
def rule(request: ConsoleRequest) -> HttpResponse:
    """Have every door publish only what was replayed, or leave that to the review."""
    if not has_begun(request):
        return redirect("start")
    is_required = request.POST.get("is_required") == "on"
    replay_require(request.environment, is_required=is_required, by=request.user)  # type: ignore[arg-type]  # behind the start there is one
    told = _("Every door asks for a replay now.") if is_required else _("Only the review asks for a replay now.")
    messages.success(request, told)
    return redirect("replays")
