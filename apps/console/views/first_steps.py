"""The first steps: choosing the release, connecting a gateway, seeing its first call, putting a step aside."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission, may
from apps.accounts.services import step_skip, token_create
from apps.console import first_steps as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.gateways import Made
from apps.console.records import token_changed
from apps.console.release_forms import ImportForm
from apps.openclaw_gateways.errors import OpenClawGatewayError
from apps.openclaw_gateways.services import enrolment_create
from apps.policies.selectors import agent_keys
from apps.registry.services import environment_default, environment_set_dialect

SCOPES = (Permission.CALLS_MAKE, Permission.DECISIONS_ASK)


def steps_page(request: ConsoleRequest, *, status: int = 200, wanted: str = "", **more: Any) -> HttpResponse:
    """The page of all steps with one of them open."""
    steps = shown.first_steps(request, wanted=wanted)
    dialect = request.environment.dialect if request.environment else None
    context = {
        "steps": steps,
        "may_write": may(request.user, Permission.POLICY_WRITE),
        "may_connect": may(request.user, Permission.TOKENS_MANAGE),
        "may_read_calls": may(request.user, Permission.AUDIT_READ),
        "may_invite": may(request.user, Permission.USERS_MANAGE),
        "form": ImportForm(auto_id="start_%s"),
        "release_form": shown.ReleaseForm(initial={"dialect": dialect}),
        "connect_form": shown.ConnectForm(initial={"way": "program"}),
        **more,
    }
    return render(request, "console/start/start.html", context, status=status)


@require_POST
@gate(Permission.POLICY_WRITE)
def skip(request: ConsoleRequest) -> HttpResponse:
    """Put a step aside, or take it up again."""
    step = request.POST.get("step", "")
    if step not in shown.KEYS:
        return HttpResponseBadRequest()  # no form of ours sends this
    is_skipped = request.POST.get("do") != "resume"
    step_skip(request.user, step, is_skipped=is_skipped)
    return redirect("start") if is_skipped else redirect(_address(step))


@require_POST
@gate(Permission.POLICY_WRITE)
def release(request: ConsoleRequest) -> HttpResponse:
    """Choose the release that the environment speaks; to keep the one that is there is a choice, too."""
    form = shown.ReleaseForm(request.POST)
    if not form.is_valid():
        return steps_page(request, status=422, wanted="release", release_form=form)
    environment = request.environment or environment_default()
    if environment.dialect == form.cleaned_data["dialect"]:
        step_skip(request.user, "release")
    else:
        environment_set_dialect(environment, dialect=form.cleaned_data["dialect"], by=request.user)
    messages.success(request, _("Saved."))
    return redirect("start")


@sensitive_variables("secret", "made", "command")
@require_POST
@gate(Permission.TOKENS_MANAGE)
def connect(request: ConsoleRequest) -> HttpResponse:
    """Make what a program or a gateway needs to call here; its secret is in the answer and nowhere else."""
    environment = request.environment or environment_default()
    form = shown.ConnectForm(request.POST)
    if not form.is_valid():
        return steps_page(request, status=422, wanted="connect", connect_form=form)
    name = form.cleaned_data["name"]
    if form.cleaned_data["way"] == "program":
        with transaction.atomic():
            token, secret = token_create(name=name, scopes=SCOPES, by=request.user, environment=environment.slug)
            token_changed(request.user, token, what="created")
        keys = agent_keys(environment)
        command = shown.call_command(secret, keys[0] if keys else "main")
        return steps_page(request, wanted="connect", secret=secret, command=command, made_name=name)
    try:
        enrolment, secret = enrolment_create(environment, name=name, by=request.user, at=timezone.now())
    except OpenClawGatewayError as error:
        form.take_refusal(error)
        return steps_page(request, status=422, wanted="connect", connect_form=form)
    made = Made(enrolment.name, secret, enrolment.expires_at)
    return steps_page(request, wanted="connect", secret=secret, command=made.commands, made_name=name)


@require_safe
@gate(Permission.AUDIT_READ)
def first_call(request: ConsoleRequest) -> HttpResponse:
    """Whether the first call has come: a part that asks again until it has."""
    if not request.environment:
        return redirect("start")
    return render(request, "console/start/_first_call.html", {"steps": shown.first_steps(request)})


def _address(step: str) -> str:
    return f"{reverse('start')}?step={step}"
