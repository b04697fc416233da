"""Guardrails: the list with what draft and live make of them, one guardrail, and accepting that one fails."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission, may, require
from apps.console import guardrails as shown
from apps.console.gate import ConsoleRequest, gate
from apps.console.guardrail_forms import GuardrailEditForm, form_initial, initial_of
from apps.console.views.agents import environment_chosen, is_part, writing
from apps.console.views.record_parts import form_status, record_remove, record_save
from apps.firewall.engine.guardrail_form import GuardrailForm
from apps.policies.errors import GuardrailNotAcceptedError
from apps.policies.guardrail_words import sentence
from apps.policies.guardrails import guardrail_get
from apps.policies.selectors import live_publication
from apps.policies.services import guardrail_accept, guardrail_create, guardrail_delete, guardrail_save


def guardrail_asked(request: ConsoleRequest, guardrail_id: UUID) -> "shown.GuardrailRecord":
    """Find the guardrail of a page.

    Raises:
        Http404: there is none in the chosen environment.
    """
    record = guardrail_get(environment_chosen(request), guardrail_id)
    if record is None:
        raise Http404
    return record


@require_safe
@gate(Permission.POLICY_READ)
def guardrails(request: ConsoleRequest) -> HttpResponse:
    """Every guardrail with what draft and live make of it; the fragment renews itself when the draft changes."""
    environment = environment_chosen(request)
    context = {
        "guarding": shown.guarding(environment, with_live=True),
        "live": live_publication(environment),
        "starts": shown.STARTS,
    } | writing(request)
    template = "_list.html" if is_part(request) else "guardrails.html"
    return render(request, f"console/guardrails/{template}", context)


@require_safe
@gate(Permission.POLICY_READ)
def guardrail_review(request: ConsoleRequest) -> HttpResponse:
    """What keeps the draft from being published: a fragment of the review, or a page where no script asked for it."""
    return _review(request)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_WRITE)
def guardrail_new(request: ConsoleRequest) -> HttpResponse:
    """A new guardrail: empty, or one that is ready made (`?start=`)."""
    form = GuardrailEditForm(request.POST if request.method == "POST" else None, initial=_started(request))
    if request.POST.get("do") == "try":
        return _tried(request, form, None)

    def create() -> "shown.GuardrailRecord":
        return guardrail_create(environment_chosen(request), by=request.user, **form.values())

    if record_save(request, form, create, told=_("Added. No publication may fail it from now on.")).record:
        return redirect("guardrails")
    return _page(request, form, None)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.POLICY_READ)
def guardrail(request: ConsoleRequest, guardrail_id: UUID) -> HttpResponse:
    """One guardrail; POST saves it."""
    record = guardrail_asked(request, guardrail_id)
    form = GuardrailEditForm(request.POST if request.method == "POST" else None, initial=initial_of(record))
    if request.POST.get("do") == "try":
        return _tried(request, form, record)
    if request.method == "POST":
        require(request.user, Permission.POLICY_WRITE)

    def save() -> "shown.GuardrailRecord":
        version = form.cleaned_data["version"] or 0
        return guardrail_save(record, expected_version=version, by=request.user, **form.values())

    saved = record_save(request, form, save, told=_("Saved."))
    if saved.record:
        return redirect("guardrails")
    return _page(request, form, record, conflict=saved.is_conflict)


@require_POST
@gate(Permission.POLICY_WRITE)
def guardrail_remove(request: ConsoleRequest, guardrail_id: UUID) -> HttpResponse:
    """Remove a guardrail."""
    record_remove(request, guardrail_asked(request, guardrail_id), guardrail_delete)
    return redirect("guardrails")


@require_POST
@gate(Permission.PUBLISH)
def guardrail_accepted(request: ConsoleRequest, guardrail_id: UUID) -> HttpResponse:
    """Accept by name, with a reason, what fails of a guardrail in the draft."""
    record, given = guardrail_asked(request, guardrail_id), request.POST
    fingerprint, reason = given.get("fingerprint", ""), given.get("reason", "")
    try:
        guardrail_accept(record, by=request.user, fingerprint=fingerprint, reason=reason)
    except GuardrailNotAcceptedError as error:
        refused = {"record": record, "reason": reason, "message": (error.details or [{"message": error.message}])[0]}
        return _review(request, refused=refused, status=422)
    if is_part(request):
        return _review(request)
    messages.success(request, _("Accepted. It counts as long as exactly the same fails."))
    return redirect("publish")


def _review(request: ConsoleRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    context = {
        "guarding": shown.guarding(environment_chosen(request)),
        "may_publish": may(request.user, Permission.PUBLISH),
        **more,
    }
    template = "_review.html" if is_part(request) else "review.html"
    return render(request, f"console/guardrails/{template}", context, status=status)


def _started(request: ConsoleRequest) -> dict[str, Any]:
    wanted = request.GET.get("start", "")
    for key, title, form in shown.STARTS:
        if key == wanted:
            return {"name": title} | form_initial(form)
    return {}


def _tried(request: ConsoleRequest, form: GuardrailEditForm, record: "shown.GuardrailRecord | None") -> HttpResponse:
    if is_part(request):
        return render(request, "console/guardrails/_reads.html", {"reads": _reads(request, form)})
    return _page(request, form, record, status=200)


def _reads(request: ConsoleRequest, form: GuardrailEditForm) -> dict[str, Any]:
    """Say how the form reads, and what draft and live make of it."""
    typed = form.form_typed()
    if not isinstance(typed, GuardrailForm):
        return {"mistake": typed}
    return {"mistake": "", "sentence": sentence(typed), "answers": shown.trial(environment_chosen(request), typed)}


def _page(
    request: ConsoleRequest,
    form: GuardrailEditForm,
    record: "shown.GuardrailRecord | None",
    *,
    conflict: bool = False,
    status: int | None = None,
) -> HttpResponse:
    environment = environment_chosen(request)
    context = {
        "form": form,
        "record": record,
        "conflict": conflict,
        "reads": _reads(request, form) if form.is_bound or form.initial else None,
        "vocabularies": shown.vocabularies(environment),
        "acceptances": shown.acceptances(record) if record is not None else (),
        **writing(request),
    }
    status = form_status(form, conflict=conflict) if status is None else status
    return render(request, "console/guardrails/guardrail.html", context, status=status)
