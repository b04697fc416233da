"""The kill switch: what is stopped, stopping, and the way back."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission, may
from apps.console import halts as shown
from apps.console.agents import roles_with
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.agents import environment_chosen, is_part
from apps.halts.errors import HaltExistsError, HaltInvalidError, HaltLiftedError
from apps.halts.selectors import halt_get, halts_holding
from apps.halts.services import halt_ask, halt_lift, halt_place


@require_safe
@gate(Permission.POLICY_READ)
def halts(request: ConsoleRequest) -> HttpResponse:
    """What is stopped and who holds to it; the fragment renews itself."""
    if is_part(request):
        return render(request, "console/halts/_standing.html", _standing(request))
    return _page(request, shown.HaltForm())


@require_safe
@gate(Permission.POLICY_READ)
def banner(request: ConsoleRequest) -> HttpResponse:
    """One line above every page while anything is stopped."""
    halts = list(halts_holding(environment_chosen(request)))
    context = {"halts": halts, "may_stop": may(request.user, Permission.CALLS_STOP)}
    return render(request, "console/halts/_banner.html", context)


@require_safe
@gate(Permission.CALLS_STOP)
def consequence(request: ConsoleRequest) -> HttpResponse:
    """What a stop would meet, before anybody presses."""
    form = shown.HaltForm(request.GET)
    scope = request.GET.get("scope", "")
    known = scope in dict(form.fields["scope"].choices)  # type: ignore[attr-defined]
    name = request.GET.get("name", "") if scope != "environment" else ""
    if not known or (scope != "environment" and not name.strip()):
        return render(request, "console/halts/_consequence.html", {})
    met = shown.consequence_of(environment_chosen(request), scope, name, at=timezone.now())
    return render(request, "console/halts/_consequence.html", {"met": met})


@require_POST
@gate(Permission.CALLS_STOP)
def place(request: ConsoleRequest) -> HttpResponse:
    form = shown.HaltForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    values = form.cleaned_data | ({"name": ""} if form.cleaned_data["scope"] == "environment" else {})
    try:
        halt_place(environment_chosen(request), by=request.user, at=timezone.now(), **values)
    except (HaltInvalidError, HaltExistsError) as error:
        form.take_refusal(error)
        return _page(request, form, status=422)
    messages.success(request, _("Stopped."))
    return redirect("halts")


@require_POST
@gate(Permission.CALLS_STOP)
def ask(request: ConsoleRequest, halt_id: UUID) -> HttpResponse:
    return _step(request, halt_id, halt_ask, _("Calls run again, each after a person's yes."))


@require_POST
@gate(Permission.CALLS_STOP)
def lift(request: ConsoleRequest, halt_id: UUID) -> HttpResponse:
    return _step(request, halt_id, halt_lift, _("Lifted: calls run as the policy says."))


def _step(request: ConsoleRequest, halt_id: UUID, step: Any, told: str) -> HttpResponse:
    found = halt_get(environment_chosen(request), halt_id)
    if found is None:
        raise Http404
    try:
        step(found, by=request.user, at=timezone.now())
    except (HaltInvalidError, HaltLiftedError) as error:
        messages.warning(request, error.message)
    else:
        messages.success(request, told)
    return redirect("halts")


def _standing(request: ConsoleRequest) -> dict[str, Any]:
    return shown.page_of(environment_chosen(request), at=timezone.now()) | {
        "may_stop": may(request.user, Permission.CALLS_STOP)
    }


def _page(request: ConsoleRequest, form: "shown.HaltForm", *, status: int = 200) -> HttpResponse:
    context = _standing(request) | {"form": form, "names": shown.names_of(environment_chosen(request))}
    if not context["may_stop"]:
        context["stoppers"] = roles_with(Permission.CALLS_STOP)
    return render(request, "console/halts/halts.html", context, status=status)
