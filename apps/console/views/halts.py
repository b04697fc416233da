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
from apps.gateway.stop_effect import stop_names
from apps.halts.errors import HaltExistsError, HaltInvalidError, HaltLiftedError
from apps.halts.selectors import halt_get, halts_holding
from apps.halts.services import halt_ask, halt_lift, halt_place


@require_safe
@gate(Permission.POLICY_READ)
def halts(request: ConsoleRequest) -> HttpResponse:
    """What is stopped and who holds to it; the fragment renews itself."""
    if is_part(request):
        return render(request, "console/halts/_standing.html", _standing(request))
    return _page(request, _form(request))


@require_safe
@gate(Permission.POLICY_READ)
def banner(request: ConsoleRequest) -> HttpResponse:
    """One line above every page while anything is stopped."""
    halts = list(halts_holding(environment_chosen(request)))
    context = {"halts": halts, "may_stop": may(request.user, Permission.CALLS_STOP)}
    return render(request, "console/halts/_banner.html", context)


@require_POST
@gate(Permission.CALLS_STOP)
def place(request: ConsoleRequest) -> HttpResponse:
    """Say what a stop would do, then, confirmed, place it."""
    form = _form(request, request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    if "confirmed" not in request.POST:
        return _confirmation(request, form)
    try:
        halt = halt_place(environment_chosen(request), by=request.user, at=timezone.now(), **form.wanted)
    except (HaltInvalidError, HaltExistsError) as error:
        form.take_refusal(error)
        return _page(request, form, status=422)
    told = _("Stopped: %(scope)s %(name)s.") if halt.name else _("Stopped: everything in this environment.")
    messages.success(request, told % {"scope": str(halt.get_scope_display()).lower(), "name": halt.name})
    return redirect("halts")


def _confirmation(request: ConsoleRequest, form: "shown.HaltForm") -> HttpResponse:
    environment, wanted = environment_chosen(request), form.wanted
    met = shown.consequence_of(environment, wanted["scope"], wanted["name"], at=timezone.now())
    if met.effect.problem:
        form.add_error("target", met.effect.problem)
        return _page(request, form, status=422)
    context = {"met": met, "wanted": wanted | {"name": met.effect.name}, "target": form.cleaned_data["target"]}
    return render(request, "console/halts/confirm.html", context)


def _form(request: ConsoleRequest, given: Any = None) -> "shown.HaltForm":
    initial = {"target": request.GET.get("target", "")}
    return shown.HaltForm(given, names=stop_names(environment_chosen(request)), initial=initial)


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
    context = _standing(request) | {"form": form, "suggested": form.suggested}
    if not context["may_stop"]:
        context["stoppers"] = roles_with(Permission.CALLS_STOP)
    return render(request, "console/halts/halts.html", context, status=status)
