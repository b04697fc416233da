"""OpenClaw Gateways: the list, one gateway, enrolling and revoking, alarms seen to."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission, may
from apps.console import gateways as shown
from apps.console.agents import roles_with
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.agents import environment_chosen
from apps.openclaw_gateways.access import alarm_access, gateway_access
from apps.openclaw_gateways.alarms import alarm_clear
from apps.openclaw_gateways.errors import OpenClawGatewayError
from apps.openclaw_gateways.selectors import alarms_of, alarms_standing, calls_latest, calls_newest
from apps.openclaw_gateways.selectors import gateways as gateways_of
from apps.openclaw_gateways.services import enrolment_create, gateway_revoke
from apps.policies.selectors import live_publication


@require_safe
@gate(Permission.POLICY_READ)
def gateways(request: ConsoleRequest) -> HttpResponse:
    """The page, or its list when the clock asked for it."""
    is_part = bool(request.htmx) and not request.htmx.history_restore_request
    if is_part:
        return render(request, "console/gateways/_list.html", _list(request))
    return _page(request, shown.EnrolForm())


@sensitive_variables("secret", "made")
@require_POST
@gate(Permission.GATEWAYS_MANAGE)
def enrol(request: ConsoleRequest) -> HttpResponse:
    """Make leave to enrol a gateway; its secret is in the answer and nowhere else."""
    environment = environment_chosen(request)
    form = shown.EnrolForm(request.POST)
    if form.is_valid():
        name = form.cleaned_data["name"]
        try:
            enrolment, secret = enrolment_create(environment, name=name, by=request.user, at=timezone.now())
        except OpenClawGatewayError as error:
            form.take_refusal(error)
        else:
            made = shown.Made(enrolment.name, secret, enrolment.expires_at)
            return _page(request, shown.EnrolForm(), made=made)
    return _page(request, form)


@require_safe
@gate(Permission.POLICY_READ)
def gateway(request: ConsoleRequest, gateway_id: uuid.UUID) -> HttpResponse:
    """One gateway: how it stands, what it runs, its latest calls."""
    found = _asked(request, gateway_id)
    is_part = bool(request.htmx) and not request.htmx.history_restore_request
    template = "console/gateways/_now.html" if is_part else "console/gateways/gateway.html"
    context = {
        "shown": shown.ShownGateway(found),
        "gateway": found,
        "alarms": alarms_of(found),
        "calls": [shown.ShownGatewayCall(each) for each in calls_newest(found)],
        "may_write": may(request.user, Permission.GATEWAYS_MANAGE),
        "may_read_calls": may(request.user, Permission.AUDIT_READ),
    }
    return render(request, template, context)


@require_POST
@gate(Permission.GATEWAYS_MANAGE)
def revoke(request: ConsoleRequest, gateway_id: uuid.UUID) -> HttpResponse:
    found = gateway_revoke(_asked(request, gateway_id, write=True), by=request.user, at=timezone.now())
    messages.success(request, _("The gateway was revoked: every call of its agents is blocked there."))
    return redirect("gateway", found.pk)


@require_POST
@gate(Permission.GATEWAYS_MANAGE)
def alarm_seen(request: ConsoleRequest, alarm_id: uuid.UUID) -> HttpResponse:
    """Clear an alarm; the next ungoverned call raises a new one."""
    alarm = alarm_access(request.user, alarm_id)
    if alarm.gateway.environment != environment_chosen(request):
        raise Http404
    alarm_clear(alarm, by=request.user, at=timezone.now())
    messages.success(request, _("The alarm was cleared. The next such call raises a new one."))
    return redirect("gateway", alarm.gateway_id)


def _page(request: ConsoleRequest, form: shown.EnrolForm, *, made: shown.Made | None = None) -> HttpResponse:
    context = _list(request) | {"form": form, "made": made}
    context["writers"] = "" if context["may_write"] else roles_with(Permission.GATEWAYS_MANAGE)
    return render(request, "console/gateways/gateways.html", context, status=422 if form.errors else 200)


def _asked(request: ConsoleRequest, gateway_id: uuid.UUID, *, write: bool = False) -> "shown.GatewayRecord":
    found = gateway_access(request.user, gateway_id, write=write)
    if found.environment != environment_chosen(request):
        raise Http404
    return found


def _list(request: ConsoleRequest) -> dict[str, Any]:
    environment = environment_chosen(request)
    rows = list(gateways_of(environment))
    context = shown.list_context(rows, calls_latest(each.pk for each in rows))
    may_write = may(request.user, Permission.GATEWAYS_MANAGE)
    is_published = live_publication(environment) is not None
    return context | {"alarms": alarms_standing(environment), "may_write": may_write, "is_published": is_published}
