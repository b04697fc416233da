"""The second person, the way back, and the rule that asks for one."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.access import Permission, may, require
from apps.console.gate import ConsoleRequest, gate
from apps.console.release_forms import PublishRuleForm
from apps.policies import rules_of_release
from apps.policies.errors import (
    OwnPublishRequestError,
    PublicationConflictError,
    PublicationRefusedError,
    PublishRequestClosedError,
)
from apps.policies.services import publish_confirm, publish_rule_save, publish_withdraw

STATUS: dict[type[Exception], int] = {PublicationRefusedError: 422, OwnPublishRequestError: 403}


@require_POST
@gate(Permission.PUBLISH)
def confirm(request: ConsoleRequest, request_id: UUID) -> HttpResponse:
    """Be the second person: it goes live now, or at its time."""
    wanted = _request(request, request_id)
    try:
        wanted = publish_confirm(wanted, by=request.user, at=timezone.now())
    except (
        OwnPublishRequestError,
        PublicationConflictError,
        PublicationRefusedError,
        PublishRequestClosedError,
    ) as error:
        return _refused(request, error)
    if wanted.publication_id is not None:
        messages.success(request, _("%(version)s is live. Gateways take it up now.") % {"version": wanted.publication})
        return redirect("snapshot", wanted.publication_id)
    messages.success(request, _("Confirmed. It goes live at its time if nothing has moved by then."))
    return redirect("publish")


@require_POST
@gate(Permission.PUBLISH)
def withdraw(request: ConsoleRequest, request_id: UUID) -> HttpResponse:
    """Take a request back."""
    try:
        publish_withdraw(_request(request, request_id), by=request.user, at=timezone.now())
    except PublishRequestClosedError as error:
        return _refused(request, error)
    messages.success(request, _("Withdrawn. Nothing goes live."))
    return redirect("publish")


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def publish_rule(request: ConsoleRequest) -> HttpResponse:
    """Whether publishing takes a second person; a POST changes it."""
    environment: Any = request.environment
    if not environment:
        return redirect("start")
    rule = rules_of_release.publish_rule(environment)
    initial = {"needs_second_person": rule.needs_second_person, "hours": rule.hours}
    form = PublishRuleForm(request.POST if request.method == "POST" else None, initial=initial)
    if request.method == "POST":
        require(request.user, Permission.PUBLISH)
        if form.is_valid():
            publish_rule_save(environment, by=request.user, **form.cleaned_data)
            messages.success(request, _("Saved."))
            return redirect("publish-rule")
    context = {"form": form, "rule": rule, "may_publish": may(request.user, Permission.PUBLISH)}
    return render(request, "console/publish/rule.html", context, status=422 if form.errors else 200)


def _request(request: ConsoleRequest, request_id: UUID) -> Any:
    environment: Any = request.environment
    found = rules_of_release.publish_request_get(environment, request_id) if environment else None
    if found is None:
        raise Http404
    return found


def _refused(request: ConsoleRequest, error: Any) -> HttpResponse:
    status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 409)
    return render(request, "console/publish/refused.html", {"error": error}, status=status)
