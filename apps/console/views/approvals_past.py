"""Requests that ended: the history with its filters."""

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from apps.accounts.access import Permission, may
from apps.approvals.past import ENDS, PastFilters, approvals_ended
from apps.console.cards import VERDICTS, Card
from apps.console.gate import ConsoleRequest, gate
from apps.firewall.identifiers import read_id, show_id

PAGE = 50
NAMES = ("state", "kind", "agent", "by", "text")


@require_safe
@gate(Permission.APPROVALS_READ)
def past(request: ConsoleRequest) -> HttpResponse:
    chosen = {name: request.GET.get(name, "").replace("\0", "").strip() for name in NAMES}
    if chosen["state"] not in {"", *ENDS} or chosen["kind"] not in {"", "exec", "tool"}:
        raise Http404
    before = request.GET.get("before", "")
    found = approvals_ended(request.environment, PastFilters(**chosen), before=_cursor(before), limit=PAGE + 1)
    at = timezone.now()
    used = {name: value for name, value in chosen.items() if value}
    context = {
        "cards": [Card(approval, may_resolve=False, by=request.user, at=at) for approval in found[:PAGE]],
        "older": urlencode({**used, "before": show_id("ap", found[PAGE - 1].pk)}) if len(found) > PAGE else "",
        "newest": urlencode(used),
        "is_first": not before,
        "is_filtered": bool(used),
        "chosen": chosen,
        "ends": [(state, VERDICTS[state].label) for state in ENDS],
        "may_resolve": may(request.user, Permission.APPROVALS_RESOLVE),
    }
    return render(request, "console/approvals/history.html", context)


def _cursor(text: str) -> UUID | None:
    try:
        return read_id("ap", text) if text else None
    except ValueError:
        raise Http404 from None
