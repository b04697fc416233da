"""Review of the draft, and what makes it live."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRedirect

from apps.accounts.access import Permission, may, require
from apps.approvals.grants import grants_of_removed
from apps.console.blast import blast_of, changes_of
from apps.console.changes import RecordChange, records_of
from apps.console.checklist import Check, checks, first_lock
from apps.console.gate import ConsoleRequest, gate
from apps.console.policy_tests import draft_run, failing_rows
from apps.console.record_pages import record_url
from apps.console.release_forms import PublishForm
from apps.console.releasing import requests_shown
from apps.console.replays import replay_panel, review_proof
from apps.console.reviewing import NOW, review_waits
from apps.console.tool_changes import tool_changes
from apps.console.views.start import has_begun
from apps.firewall.engine.snapshot import Snapshot, SnapshotError
from apps.policies.errors import (
    DraftMovedError,
    PublicationConflictError,
    PublicationRefusedError,
    PublishRuleInvalidError,
)
from apps.policies.guardrails import guardrail_failures
from apps.policies.rules_of_release import needs_second_person
from apps.policies.selectors import (
    draft_changes,
    draft_snapshot,
    draft_tool_differences,
    lint,
    live_publication,
    live_snapshot,
    publications,
)
from apps.policies.services import draft_discard, publish_ask
from apps.policies.services import publish as publish_draft

SHOWN_RECORDS = 40
SHOWN_FINDINGS = 60
SHOWN_TOOLS = 20
CHANGES_LIMIT = 2000
HISTORY = 5
LATEST = 3


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def publish(request: ConsoleRequest) -> HttpResponse:
    """The review; a POST publishes."""
    if not has_begun(request):
        return redirect("start")
    if request.method != "POST":
        return render(request, "console/publish/publish.html", _looked_at(request))
    require(request.user, Permission.PUBLISH)
    form = PublishForm(request.POST)
    if not form.is_valid():
        return _refused(request, form, status=422)
    wanted = {**form.cleaned_data, "is_reviewed": True, "may_repeat": False}
    publish_at = wanted.pop("publish_at")
    try:
        if publish_at is not None or needs_second_person(_environment(request)):
            asked = publish_ask(
                _environment(request),
                by=request.user,
                at=timezone.now(),
                publish_at=publish_at,
                **wanted,
            )
            return _asked(request, asked)
        made = publish_draft(_environment(request), by=request.user, **wanted)
    except PublicationConflictError:
        return _refused(request, form, status=409, rival=live_publication(_environment(request)))
    except DraftMovedError as error:
        return _refused(request, form, status=409, moved=error, latest=_latest(request))
    except (PublicationRefusedError, PublishRuleInvalidError) as error:
        return _refused(request, form, status=422, refused=error)
    messages.success(request, _("%(version)s is live. Gateways take it up now.") % {"version": made})
    target = reverse("snapshot", args=[made.pk])
    return HttpResponseClientRedirect(target) if request.htmx else redirect(target)


def _asked(request: ConsoleRequest, asked: Any) -> HttpResponse:
    if asked.state == "waiting":
        messages.success(request, _("Asked. It goes live when a second person confirms it."))
    else:
        messages.success(request, _("Scheduled. It goes live at its time if nothing has moved by then."))
    target = reverse("publish") + "#publish-requests"
    return HttpResponseClientRedirect(target) if request.htmx else redirect(target)


@require_safe
@gate(Permission.POLICY_READ)
def review(request: ConsoleRequest) -> HttpResponse:
    """What the page of a large draft waits for, part by part; without a script it is the whole page."""
    if not has_begun(request) or not request.htmx:
        return redirect(f"{reverse('publish')}?{NOW}")
    return render(request, "console/publish/_reviewed.html", _reviewed(request))


@require_safe
@gate(Permission.POLICY_READ)
def blast(request: ConsoleRequest) -> HttpResponse:
    """The blast radius alone: a fragment, or a page where no script asked for it."""
    if not has_begun(request):
        return redirect("start")
    template = "console/publish/_blast.html" if request.htmx else "console/publish/blast.html"
    return render(request, template, _blast(request))


@require_safe
@gate(Permission.POLICY_READ)
def button(request: ConsoleRequest) -> HttpResponse:
    """The button that publishes, or why it is off: asked for again when a replay has ended or the draft has changed."""
    if not has_begun(request) or not request.htmx:
        return redirect("publish")
    return render(request, "console/publish/_do.html", _form_context(request, PublishForm(initial=_seen(request))))


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def discard(request: ConsoleRequest) -> HttpResponse:
    """Ask, then set the draft back to what is live."""
    live = live_publication(_environment(request)) if has_begun(request) else None
    if live is None:
        return redirect("publish")
    if request.method != "POST":
        context = {"live": live, "records": records_of(draft_changes(_environment(request), limit=CHANGES_LIMIT))}
        return render(request, "console/publish/discard.html", context)
    draft_discard(_environment(request), by=request.user)
    messages.success(request, _("The draft is what is live again."))
    return redirect("publish")


def _environment(request: ConsoleRequest) -> Any:
    return request.environment


def _looked_at(request: ConsoleRequest) -> dict[str, Any]:
    """Give the page its review, or what stands in its place while it is worked out."""
    environment = _environment(request)
    if not review_waits(request, environment):
        return _reviewed(request)
    live = live_publication(environment)
    return {
        "is_waiting": True,
        "live": live,
        "next_number": live.number + 1 if live else 1,
        "history": list(publications(environment)[:HISTORY]),
    }


def _reviewed(request: ConsoleRequest) -> dict[str, Any]:
    return _review(request, PublishForm(initial=_seen(request)))


def _seen(request: ConsoleRequest) -> dict[str, str]:
    live, snapshot = live_publication(_environment(request)), _compiled(_environment(request))
    return {
        "expected_live": live.snapshot_id if live else "",
        "expected_draft": "" if snapshot is None else snapshot.digest,
    }


def _latest(request: ConsoleRequest) -> Sequence[RecordChange]:
    """List what was written last in the draft, of what differs from what is live."""
    records = records_of(draft_changes(_environment(request), limit=CHANGES_LIMIT))
    return sorted(records, key=lambda record: record.at, reverse=True)[:LATEST]


def _refused(request: ConsoleRequest, form: PublishForm, *, status: int, **why: Any) -> HttpResponse:
    if request.htmx:
        context = _form_context(request, form) | why
        return render(request, "console/publish/_form.html", context, status=status)
    return render(request, "console/publish/publish.html", _review(request, form) | why, status=status)


def _form_context(request: ConsoleRequest, form: PublishForm) -> dict[str, Any]:
    environment = _environment(request)
    live = live_publication(environment)
    findings = lint(environment)
    snapshot, guarded = _compiled(environment), 0
    digest = "" if snapshot is None else snapshot.digest
    if snapshot is not None:
        guarded = len(guardrail_failures(environment, snapshot))
    tests = draft_run(environment)
    failing = failing_rows(tests)
    blocking = [finding for finding in findings if finding.severity == "error"]
    warning_count = sum(finding.severity == "warning" for finding in findings)
    is_same = live is not None and digest == live.snapshot_id
    proof = review_proof(environment, draft_digest=digest, live_digest=live.snapshot_id if live else "")
    changes = () if snapshot is None else changes_of(live_snapshot(environment), snapshot)
    wider = sum(each.direction == "wider" for each in changes)
    found = checks(
        compiles=snapshot is not None,
        blocking=len(blocking),
        warnings=warning_count,
        guardrails=guarded,
        tests=len(tests.cases) if tests else 0,
        failing=len(failing),
        is_same=is_same,
        wider=wider,
        other=sum(each.direction == "other" for each in changes),
        ending_grants=0 if snapshot is None else len(grants_of_removed(environment, snapshot, live=live)),
    )
    return {
        "wider": wider,
        "checks": found,
        "locked_because": _locked_because(found, proof),
        "form": form,
        "tests": tests,
        "failing": failing,
        "proof": proof,
        "live": live,
        "next_number": live.number + 1 if live else 1,
        "digest": digest,
        "is_same": is_same,
        "may_publish": may(request.user, Permission.PUBLISH),
        "by_two": needs_second_person(environment),
        "findings": findings,
        "blocking": blocking,
        "warning_count": warning_count,
    }


def _locked_because(found: Sequence[Check], proof: Any) -> Promise | str:
    """Say why the button is off, as the service behind it would refuse; empty where it would publish."""
    lock = first_lock(found)
    if lock is not None:
        return lock.remedy
    if proof is not None and not proof["is_met"]:
        return _("Replay this draft first, and read what would change.")
    if any(each.key == "same" for each in found):
        return _("Nothing to publish: the draft is the same as what is live.")
    return ""


def _compiled(environment: Any) -> Snapshot | None:
    try:
        return draft_snapshot(environment)
    except SnapshotError:
        return None


def _review(request: ConsoleRequest, form: PublishForm) -> dict[str, Any]:
    environment = _environment(request)
    context = _form_context(request, form)
    records = records_of(draft_changes(environment, limit=CHANGES_LIMIT))
    tools = tool_changes(draft_tool_differences(environment))
    shown = len(tools) if "all" in request.GET else SHOWN_TOOLS
    return (
        context
        | replay_panel(request)
        | requests_shown(request)
        | {
            "tool_changes": tools,
            "shown_tools": tools[:shown],
            "tools_left": max(0, len(tools) - shown),
            "all_url": reverse("publish") + "?all",
            "records": records if "all" in request.GET else records[:SHOWN_RECORDS],
            "record_count": len(records),
            "change_count": len(records) + len(tools),
            "records_left": 0 if "all" in request.GET else max(0, len(records) - SHOWN_RECORDS),
            "people_count": len({record.actor for record in records}),
            "shown_findings": [
                (finding, record_url(finding.kind, finding.record)) for finding in context["findings"][:SHOWN_FINDINGS]
            ],
            "findings_left": max(0, len(context["findings"]) - SHOWN_FINDINGS),
            "history": list(publications(environment)[:HISTORY]),
            "may_write": may(request.user, Permission.POLICY_WRITE),
        }
    )


def _blast(request: ConsoleRequest) -> dict[str, Any]:
    environment = _environment(request)
    live = live_publication(environment)
    context: dict[str, Any] = {"from_publication": live, "blast_url": reverse("publish-blast"), "to_draft": True}
    try:
        return context | {"blast": blast_of(live_snapshot(environment), draft_snapshot(environment))}
    except SnapshotError as error:
        return context | {"error": error}
