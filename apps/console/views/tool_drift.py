"""A changed definition: what differs, and an administrator's word about it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.accounts.access import Permission, may, require
from apps.console import drifts as shown
from apps.console import tool_page as page
from apps.console.agents import roles_with
from apps.console.answers import status_of
from apps.console.gate import ConsoleRequest, gate
from apps.console.registry_forms import DriftForm
from apps.console.views.tools import tool_asked
from apps.registry.errors import RegistryError
from apps.registry.selectors import drift_pending
from apps.registry.services import drift_accept, drift_dismiss

DECISIONS = {"accept": drift_accept, "dismiss": drift_dismiss}


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def tool_drift(request: ConsoleRequest, name: str) -> HttpResponse:
    """What a source made of a tool's definition; POST accepts or dismisses it."""
    record = tool_asked(request, name)
    if request.method != "POST":
        return render(request, "console/tools/drift.html", _context(request, record))
    require(request.user, Permission.PUBLISH)
    form = DriftForm(request.POST)
    drift = drift_pending(record)
    error = None
    if form.is_valid() and drift is not None and drift.found_digest == form.cleaned_data["digest"]:
        try:
            DECISIONS[form.cleaned_data["decision"]](drift, by=request.user)
        except RegistryError as exc:
            error = exc
        else:
            is_accepted = form.cleaned_data["decision"] == "accept"
            words = _("Accepted. Agents see it with the next publication.") if is_accepted else _("Dismissed.")
            messages.success(request, words)
            return redirect("tool", record.name)
    status = 409 if error is None else status_of(error)
    context = _context(request, record) | {"error": error, "is_stale": error is None}
    return render(request, "console/tools/drift.html", context, status=status)


def _context(request: ConsoleRequest, record: "page.ToolRecord") -> dict[str, Any]:
    drift = drift_pending(record)
    may_decide = may(request.user, Permission.PUBLISH)
    return {
        "record": record,
        "drift": drift,
        "shown": None if drift is None else shown.drift_shown(drift),
        "keeps": shown.keeps_calls(record),
        "earlier": shown.earlier_of(record),
        "may_decide": may_decide,
        "deciders": "" if may_decide else roles_with(Permission.PUBLISH),
    }
