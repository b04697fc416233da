"""What was published: the list, one publication, its difference from another, and the way back to it."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from apps.accounts.access import Permission, may
from apps.console.blast import blast_of
from apps.console.gate import ConsoleRequest, gate
from apps.console.guardrails import guarding_of
from apps.console.release_forms import RollbackForm
from apps.console.views.guardrails import guardrail_asked
from apps.console.views.snapshot_diff import DRAFT, diff_url
from apps.firewall.engine.snapshot import SnapshotError
from apps.policies.errors import (
    GuardrailNotAcceptedError,
    PublicationConflictError,
    PublicationRefusedError,
    SnapshotUntrustedError,
)
from apps.policies.history import publication_change_counts
from apps.policies.rules_of_release import needs_second_person
from apps.policies.selectors import (
    draft_snapshot,
    live_publication,
    publication_get,
    publication_snapshot,
    publications,
)
from apps.policies.services import draft_discard, guardrail_accept, rollback_ask
from apps.policies.services import rollback as publish_again

PAGE = 25
CHOICES = 100


@require_safe
@gate(Permission.POLICY_READ)
def snapshots(request: ConsoleRequest) -> HttpResponse:
    """Every publication, the newest first; `before` is the number under which the page begins."""
    environment = _environment(request)
    if not environment:
        return redirect("start")
    found = publications(environment)
    before = request.GET.get("before", "")
    if before.isdecimal():
        found = found.filter(number__lt=int(before[:9]))
    rows = list(found[: PAGE + 1])
    shown = rows[:PAGE]
    context = {
        "rows": shown,
        "counts": publication_change_counts(environment, shown),
        "older": shown[-1].number if len(rows) > PAGE else None,
        "is_first": not before,
        "live": live_publication(environment),
        "draft_key": DRAFT,
    }
    return render(request, "console/snapshots/snapshots.html", context)


@require_safe
@gate(Permission.POLICY_READ)
def snapshot(request: ConsoleRequest, publication_id: UUID) -> HttpResponse:
    """One publication: facts, what it changed, and the way back to it."""
    publication = _publication(request, publication_id)
    context = _shown(request, publication, _rollback_form(request))
    if "guardrails" in request.GET:
        context |= _guarding(request, publication)
    return render(request, "console/snapshots/snapshot.html", context)


def _rollback_form(request: ConsoleRequest) -> RollbackForm:
    live = live_publication(_environment(request))
    return RollbackForm(initial={"expected_live": live.snapshot_id if live else ""}, auto_id="rollback_%s")


def _guarding(request: ConsoleRequest, publication: Any) -> dict[str, Any]:
    return {"guarding": guarding_of(_environment(request), publication)}


@require_safe
@gate(Permission.POLICY_READ)
def difference(request: ConsoleRequest, publication_id: UUID) -> HttpResponse:
    """Who gains and loses what by a publication, against the one before it or another: a fragment, or a page."""
    publication = _publication(request, publication_id)
    template = "console/publish/_blast.html" if request.htmx else "console/publish/blast.html"
    return render(request, template, _difference(request, publication))


@require_POST
@gate(Permission.PUBLISH)
def rollback(request: ConsoleRequest, publication_id: UUID) -> HttpResponse:
    """Make an earlier publication live again; the draft stays."""
    publication = _publication(request, publication_id)
    form = RollbackForm(request.POST, auto_id="rollback_%s")
    if not form.is_valid():
        return _refused(request, publication, form, status=422)
    is_emergency = request.POST.get("do") == "emergency"
    try:
        if needs_second_person(_environment(request)) and not is_emergency:
            return _asked(request, publication, form)
        made = publish_again(
            _environment(request), publication, by=request.user, is_emergency=is_emergency, **form.cleaned_data
        )
    except PublicationConflictError:
        return _refused(request, publication, form, status=409, rival=live_publication(_environment(request)))
    except PublicationRefusedError as error:
        return _refused(request, publication, form, status=422, refused=error)
    text = _("%(version)s is live: what v%(old)s said holds again. The draft is unchanged.")
    messages.success(request, text % {"version": made, "old": publication.number})
    target = reverse("snapshot", args=[made.pk])
    return HttpResponseClientRedirect(target) if request.htmx else redirect(target)


def _asked(request: ConsoleRequest, publication: Any, form: RollbackForm) -> HttpResponse:
    rollback_ask(publication, by=request.user, at=timezone.now(), **form.cleaned_data)
    messages.success(request, _("Asked. A second person must confirm before it is live again."))
    return HttpResponseClientRedirect(reverse("publish")) if request.htmx else redirect("publish")


@require_POST
@gate(Permission.PUBLISH)
def rollback_accept(request: ConsoleRequest, publication_id: UUID, guardrail_id: UUID) -> HttpResponse:
    """Accept by name, with a reason, what fails of a guardrail in a snapshot to which one wants to go back."""
    publication, guardrail = _publication(request, publication_id), guardrail_asked(request, guardrail_id)
    given = {name: request.POST.get(name, "") for name in ("fingerprint", "reason")}
    try:
        guardrail_accept(guardrail, by=request.user, publication=publication, **given)
    except GuardrailNotAcceptedError as error:
        message = (error.details or [{"message": error.message}])[0]
        refused = {"record": guardrail, "reason": given["reason"], "message": message}
        context = _shown(request, publication, _rollback_form(request)) | {"refusal": refused}
        context |= _guarding(request, publication)
        return render(request, "console/snapshots/snapshot.html", context, status=422)
    messages.success(request, _("Accepted. It counts as long as exactly the same fails."))
    return redirect(f"{reverse('snapshot', args=[publication.pk])}?guardrails=1#rollback-form")


@require_POST
@gate(Permission.POLICY_WRITE)
def reset_draft(request: ConsoleRequest, publication_id: UUID) -> HttpResponse:
    """Set the draft to what a publication held."""
    publication = _publication(request, publication_id)
    draft_discard(_environment(request), by=request.user, publication=publication)
    messages.success(request, _("The draft is what %(version)s held.") % {"version": publication})
    return redirect("publish")


def _environment(request: ConsoleRequest) -> Any:
    return request.environment


def _publication(request: ConsoleRequest, publication_id: UUID) -> Any:
    """Find a publication of the chosen environment; any other is a 404."""
    publication = publication_get(publication_id)
    environment = _environment(request)
    if publication is None or not environment or publication.environment_id != environment.pk:
        raise Http404
    return publication


def _refused(request: ConsoleRequest, publication: Any, form: RollbackForm, *, status: int, **why: Any) -> HttpResponse:
    context = _shown(request, publication, form) | why
    if any(detail["code"].startswith("guardrail_") for detail in getattr(why.get("refused"), "details", ())):
        context |= _guarding(request, publication)
    template = "console/snapshots/_rollback.html" if request.htmx else "console/snapshots/snapshot.html"
    return render(request, template, context, status=status)


def _shown(request: ConsoleRequest, publication: Any, form: RollbackForm) -> dict[str, Any]:
    environment = _environment(request)
    live = live_publication(environment)
    others = [each for each in publications(environment)[:CHOICES] if each.pk != publication.pk]
    other = _other(request, publication)
    context = {
        "publication": publication,
        "form": form,
        "live": live,
        "is_live": live is not None and live.pk == publication.pk,
        "by_two": needs_second_person(environment),
        "is_same_as_live": live is not None and live.snapshot_id == publication.snapshot_id,
        "rollback_diff_url": diff_url(live.number, publication.number) if live else "",
        "diff_url": diff_url(other.number, publication.number) if other else "",
        "others": others,
        "compared": other,
        "difference_url": _difference_url(publication, other),
        "change_count": publication_change_counts(environment, [publication]).get(publication.pk),
        "may_publish": may(request.user, Permission.PUBLISH),
        "may_write": may(request.user, Permission.POLICY_WRITE),
        "draft_differs": _draft_digest(environment) != publication.snapshot_id,
    }
    try:
        return context | {"snapshot": publication_snapshot(publication)}
    except SnapshotUntrustedError as error:
        return context | {"untrusted": error}


def _draft_digest(environment: Any) -> str:
    try:
        return draft_snapshot(environment).digest
    except SnapshotError:
        return ""


def _other(request: ConsoleRequest, publication: Any) -> Any:
    """Find what to compare with: the number in the URL, else the publication before this one; None for nothing."""
    wanted = request.GET.get("with", "")
    found = publications(_environment(request))
    if wanted.isdecimal():
        return found.filter(number=int(wanted[:9])).first()
    return found.filter(number=publication.number - 1).first()


def _difference_url(publication: Any, other: Any) -> str:
    url = reverse("snapshot-difference", args=[publication.pk])
    return f"{url}?with={other.number}" if other else url


def _difference(request: ConsoleRequest, publication: Any) -> dict[str, Any]:
    other = _other(request, publication)
    context = {"from_publication": other, "to_publication": publication}
    try:
        old = publication_snapshot(other) if other else None
        return context | {"blast": blast_of(old, publication_snapshot(publication))}
    except SnapshotUntrustedError as error:
        return context | {"error": error}
