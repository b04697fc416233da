"""The live queue of requests that wait for a person."""

import json
import uuid
from datetime import datetime
from typing import Any

from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission, may
from apps.approvals.access import approval_access
from apps.approvals.assigned import Assigned
from apps.approvals.drafts import GrantScope
from apps.approvals.errors import ApprovalError
from apps.approvals.piles import SIMILAR_FROM
from apps.approvals.selectors import approval_counts, approvals_recent
from apps.approvals.services import approval_resolve
from apps.approvals.states import Decision
from apps.console.answers import status_of
from apps.console.cards import Card, grant_scope
from apps.console.forms import ResolveForm
from apps.console.gate import ConsoleRequest, gate
from apps.console.many import not_shown, queue_cards
from apps.console.presence import present
from apps.console.templatetags.console import visible_text
from apps.console.watching import taken_from, watched_by_others
from apps.gateway import covering

RECENT = 8


@require_safe
@gate(Permission.APPROVALS_READ)
def approvals(request: ConsoleRequest) -> HttpResponse:
    context = _queue(request) | {"present": present(_slug(request))}
    return render(request, "console/approvals/approvals.html", context)


@require_safe
@gate(Permission.APPROVALS_READ)
def queue(request: ConsoleRequest) -> HttpResponse:
    """The whole list again, after a lost connection."""
    return render(request, "console/approvals/_queue_news.html", _queue(request))


def _queue(request: ConsoleRequest) -> dict[str, object]:
    at = timezone.now()
    may_resolve = may(request.user, Permission.APPROVALS_RESOLVE)
    mine = request.GET.get("for") == "me"
    cards = queue_cards(request.environment, may_resolve=may_resolve, by=request.user, at=at, mine=mine)
    return {
        "cards": cards,
        "similar_from": SIMILAR_FROM,
        "not_shown": not_shown(request.environment, cards, by=request.user, at=at, mine=mine),
        "mine": mine,
        "keys": request.user.single_keys,
        "recent": [
            Card(approval, may_resolve=False, at=at) for approval in approvals_recent(request.environment, limit=RECENT)
        ],
        "today": _counts(request, at),
        "may_resolve": may_resolve,
        "may_audit": may(request.user, Permission.AUDIT_READ),
    }


@require_safe
@gate(Permission.APPROVALS_READ)
def card(request: ConsoleRequest, approval_id: uuid.UUID) -> HttpResponse:
    """One card: a fragment for the queue, a page of its own for a link."""
    approval = approval_access(request.user, approval_id)
    context = _card(request, approval)
    template = "console/approvals/_card.html" if request.htmx else "console/approvals/approval.html"
    return render(request, template, context)


def _card(request: ConsoleRequest, approval: Any, error: ApprovalError | None = None) -> dict[str, object]:
    may_resolve = may(request.user, Permission.APPROVALS_RESOLVE)
    at = timezone.now()
    is_mine = approval.is_pending and Assigned(approval.environment, request.user, at).holds(approval)
    card = Card(approval, may_resolve=may_resolve, by=request.user, at=at, is_mine=is_mine)
    return {"card": card, "error": error, "may_resolve": may_resolve}


@require_safe
@gate(Permission.APPROVALS_READ)
def whole(request: ConsoleRequest, approval_id: uuid.UUID) -> HttpResponse:
    """All of what is asked for, as plain text, where a card holds only its ends."""
    approval = approval_access(request.user, approval_id)
    is_line = approval.kind == approval.Kind.EXEC and approval.command
    text = approval.command if is_line else json.dumps(approval.params, indent=2, ensure_ascii=False)
    return HttpResponse(visible_text(text), content_type="text/plain; charset=utf-8")


@require_safe
@gate(Permission.APPROVALS_READ)
def recent_item(request: ConsoleRequest, approval_id: uuid.UUID) -> HttpResponse:
    """One line of the list of what was decided."""
    approval = approval_access(request.user, approval_id)
    return render(request, "console/approvals/_recent_item.html", _card(request, approval))


@require_safe
@gate(Permission.APPROVALS_READ)
def coverage(request: ConsoleRequest, approval_id: uuid.UUID) -> HttpResponse:
    """How many past calls an "always" would also have covered; counted when a person looks at the card."""
    approval = approval_access(request.user, approval_id)
    every_agent = request.GET.get("agents") == "every"
    covered = covering.coverage(approval, every_agent=every_agent)
    context = {"approval": approval, "like": next(iter(covered), None), "patterns": covered[1:]}
    return render(request, "console/approvals/_coverage.html", context)


@require_POST
@gate(Permission.APPROVALS_READ)
def resolve(request: ConsoleRequest, approval_id: uuid.UUID) -> HttpResponse:
    approval = approval_access(request.user, approval_id, write=True)
    form = ResolveForm(request.POST)
    if not form.is_valid():
        return HttpResponseBadRequest()  # no button of ours sends this

    decision, reason = form.cleaned_data["decision"], form.cleaned_data["reason"]
    if decision == Decision.ALLOW_ALWAYS and not form.cleaned_data["confirmed"]:
        return _confirmation(request, approval, form.cleaned_data)
    scope = _scope(approval, form.cleaned_data) if decision == Decision.ALLOW_ALWAYS else None
    error: ApprovalError | None = None
    try:
        approval = approval_resolve(
            approval, decision=decision, by=request.user, at=timezone.now(), reason=reason, scope=scope
        )
    except ApprovalError as exc:
        error = exc
        approval = approval_access(request.user, approval_id)

    if not request.htmx and error is None:
        return redirect("approvals")
    template = "console/approvals/_card.html" if request.htmx else "console/approvals/approval.html"
    status = 200 if error is None else status_of(error)
    return render(request, template, _card(request, approval, error), status=status)


def _confirmation(request: ConsoleRequest, approval: Any, chosen: dict[str, Any]) -> HttpResponse:
    """Ask once more, with what an "always" would save: whoever has no scripts is asked by a page."""
    if request.htmx:
        return HttpResponseBadRequest()  # with scripts a dialog has asked
    context = _card(request, approval)
    card: Any = context["card"]
    every_agent = chosen["agents"] == "every"
    standing = card.standing(chosen["scope"], every_agent=every_agent, days=chosen["days"])
    if standing is None or not card.may_always or not approval.is_pending:
        return render(request, "console/approvals/approval.html", context, status=422)
    return render(request, "console/approvals/confirm.html", context | {"standing": standing, "chosen": chosen})


@require_safe
@gate(Permission.APPROVALS_READ)
def today(request: ConsoleRequest) -> HttpResponse:
    """The figures of today, asked for again when a request has ended."""
    return render(request, "console/approvals/_today.html", {"today": _counts(request, timezone.now())})


def _counts(request: ConsoleRequest, at: datetime) -> Any:
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    return approval_counts(request.environment, since=midnight)


def _scope(approval: Any, chosen: dict[str, Any]) -> GrantScope:
    return grant_scope(approval, chosen["scope"], every_agent=chosen["agents"] == "every", days=chosen["days"])


@require_safe
@gate(Permission.APPROVALS_READ)
def watchers(request: ConsoleRequest) -> HttpResponse:
    """Who else looks at which request now, and who took one over."""
    context = {
        "watched": watched_by_others(_slug(request), request.user.username).items(),
        "taken": taken_from(_slug(request), request.user.username).items(),
        "may_resolve": may(request.user, Permission.APPROVALS_RESOLVE),
    }
    return render(request, "console/approvals/_watchers.html", context)


@require_safe
@gate(Permission.APPROVALS_READ)
def status(request: ConsoleRequest) -> HttpResponse:
    """Counts for menu and tab bar, and who is on duty."""
    return render(request, "console/approvals/_status.html", {"present": present(_slug(request))})


def _slug(request: ConsoleRequest) -> str:
    return request.environment.slug if request.environment else ""
