"""Many requests: the list of what waits, and one answer to several of them."""

import re
from typing import Any

from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission, may
from apps.approvals.batch import batch_outlook, batch_resolve
from apps.approvals.errors import BatchInvalidError
from apps.console import many
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.agents import environment_chosen

SHAPE = re.compile(r"[0-9a-f]{64}")


@require_safe
@gate(Permission.APPROVALS_READ)
def waiting(request: ConsoleRequest) -> HttpResponse:
    """What waits, of one shape or all of it, to be answered together."""
    return render(request, "console/approvals/waiting.html", _waiting(request, request.GET))


@require_POST
@gate(Permission.APPROVALS_RESOLVE)
def answer(request: ConsoleRequest) -> HttpResponse:
    """Show what one answer to many requests would do; once that was confirmed, give it and show what it did."""
    form, at = many.BatchForm(request.POST), timezone.now()
    if not form.is_valid():
        return HttpResponseBadRequest()  # no button of ours sends this
    decision, reason = form.cleaned_data["decision"], form.cleaned_data["reason"]
    try:
        ids = many.ids_of(request.POST.getlist("id"))
        if request.POST.get("every"):
            shape = _shape(request.POST)
            ids = many.ids_of_all(environment_chosen(request), shape=shape, by=request.user, at=at)
        if form.cleaned_data["confirmed"]:
            _batch, items = batch_resolve(ids, decision=decision, by=request.user, at=at, reason=reason)
        else:
            items = batch_outlook(ids, decision=decision, by=request.user, at=at)
    except BatchInvalidError as error:
        return render(
            request, "console/approvals/waiting.html", _waiting(request, request.POST) | {"error": error}, status=422
        )
    except ValueError:
        return HttpResponseBadRequest()
    context = {
        "form": form,
        "rows": many.rows_of(items, decision),
        "counted": sum(item.counts for item in items),
        "decision": decision,
        "reason": reason,
        "is_done": form.cleaned_data["confirmed"],
        "shape": _shape(request.POST),
    }
    return render(request, "console/approvals/batch.html", context)


def _waiting(request: ConsoleRequest, asked: Any) -> dict[str, Any]:
    text = asked.get("page", "")
    page = int(text) if text.isascii() and text.isdecimal() and len(text) < 8 else 1
    context = many.waiting_page(
        environment_chosen(request), shape=_shape(asked), page=page, by=request.user, at=timezone.now()
    )
    return context | {"may_resolve": may(request.user, Permission.APPROVALS_RESOLVE)}


def _shape(asked: Any) -> str:
    text: str = asked.get("shape", "")
    return text if SHAPE.fullmatch(text) else ""
