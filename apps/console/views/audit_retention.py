"""The end of records: how long they are kept, what must not go, and the erasure of one subject."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import Permission
from apps.audit.errors import ErasureHeldError, ErasureOpenError, RetentionInvalidError
from apps.audit.retention.classes import (
    CLASSES,
    RetentionClass,
    purge_preview,
    retention_class,
    retention_classes,
    retention_set,
)
from apps.audit.retention.erasing import erasure_access, erasure_preview, erasure_request, erasures
from apps.audit.retention.holds import hold_access, hold_lift, hold_place, holds_active, holds_lifted
from apps.audit.retention.purging import purge_request, purges
from apps.audit.tasks import erasure_enqueue, purge_enqueue
from apps.console.gate import ConsoleRequest, gate
from apps.console.retention_forms import DaysForm, ErasureForm, HoldForm, LiftForm, SubjectForm

HELD_OR_OPEN = (ErasureHeldError, ErasureOpenError)


@require_safe
@gate(Permission.AUDIT_MANAGE)
def page(request: ConsoleRequest) -> HttpResponse:
    return _page(request)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.AUDIT_MANAGE)
def records(request: ConsoleRequest, name: str) -> HttpResponse:
    """One class: how long it is kept, and what a purge would take now."""
    found = _class(name)
    form = DaysForm(request.POST or None, initial={"days": found.days})
    if request.method == "POST" and form.is_valid():
        try:
            retention_set(request.user, name, days=form.cleaned_data["days"], at=timezone.now())
        except RetentionInvalidError as error:
            form.take_refusal(error)
        else:
            messages.success(request, _("Saved. What a purge would take now stands below."))
            return redirect("audit-retention-class", name)
    context = {"each": found, "form": form, **_left(request, name)}
    return render(request, "console/audit/retention_class.html", context, status=422 if form.errors else 200)


@require_safe
@gate(Permission.AUDIT_MANAGE)
def purging(request: ConsoleRequest, name: str) -> HttpResponse:
    """How far a purge of one class is; asks itself again until it has ended."""
    return render(request, "console/audit/_purge.html", {"each": _class(name), **_left(request, name)})


@require_POST
@gate(Permission.AUDIT_MANAGE)
def purge(request: ConsoleRequest, name: str) -> HttpResponse:
    purge_enqueue(purge_request(request.user, _class(name).name, at=timezone.now()).pk)
    return redirect("audit-retention-class", name)


@require_safe
@gate(Permission.AUDIT_MANAGE)
def runs(request: ConsoleRequest) -> HttpResponse:
    """How far the last purges are; asks itself again until all have ended."""
    return render(request, "console/audit/_purges.html", _purges())


@require_POST
@gate(Permission.AUDIT_MANAGE)
def hold(request: ConsoleRequest) -> HttpResponse:
    """Keep records from going."""
    form = HoldForm(request.POST)
    if form.is_valid():
        try:
            hold_place(request.user, at=timezone.now(), **form.cleaned_data)
        except RetentionInvalidError as error:
            form.take_refusal(error)
        else:
            messages.success(request, _("From now on it holds."))
            return redirect("audit-retention")
    return _page(request, hold_form=form, status=422)


@require_http_methods(["GET", "HEAD", "POST"])
@gate(Permission.AUDIT_MANAGE)
def lift(request: ConsoleRequest, hold_id: UUID) -> HttpResponse:
    """Ask why, then let go of a hold."""
    held = hold_access(request.user, hold_id)
    form = LiftForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            hold_lift(request.user, held, reason=form.cleaned_data["reason"], at=timezone.now())
        except RetentionInvalidError as error:
            form.take_refusal(error)
        else:
            messages.success(request, _("It holds no longer."))
            return redirect("audit-retention")
    context = {"hold": held, "form": form}
    return render(request, "console/audit/hold.html", context, status=422 if form.errors else 200)


@require_POST
@gate(Permission.AUDIT_MANAGE)
def look(request: ConsoleRequest) -> HttpResponse:
    """Say how much of a subject there is. A POST, so that who it is stands in no address and no log."""
    form = SubjectForm(request.POST)
    if form.is_valid():
        try:
            return _preview(request, ErasureForm(initial=form.cleaned_data), form.cleaned_data)
        except RetentionInvalidError as error:
            form.take_refusal(error)
    return _page(request, subject_form=form, status=422)


@require_POST
@gate(Permission.AUDIT_MANAGE)
def erase(request: ConsoleRequest) -> HttpResponse:
    """Begin an erasure, once the sender was written twice."""
    form = ErasureForm(request.POST)
    subject = {name: request.POST.get(name, "") for name in ("channel", "sender")}
    if form.is_valid():
        try:
            erasure = erasure_request(request.user, **subject, reason=form.cleaned_data["reason"], at=timezone.now())
        except RetentionInvalidError as error:
            form.take_refusal(error)
        except HELD_OR_OPEN as error:
            form.add_error(None, error.message)
        else:
            erasure_enqueue(erasure.pk)
            return redirect("audit-retention")
    if "channel" in form.errors or "sender" in form.errors:
        return _page(request, subject_form=SubjectForm(request.POST), status=422)
    return _preview(request, form, subject, status=422)


@require_safe
@gate(Permission.AUDIT_MANAGE)
def erasure(request: ConsoleRequest, erasure_id: UUID) -> HttpResponse:
    """How far an erasure is; asks itself again until it has ended."""
    return render(request, "console/audit/_erasure.html", {"erasure": erasure_access(request.user, erasure_id)})


def _preview(request: ConsoleRequest, form: ErasureForm, subject: dict[str, str], status: int = 200) -> HttpResponse:
    named = {name: subject[name].strip() for name in ("channel", "sender")}
    context = {"form": form, "preview": erasure_preview(request.user, **named), **named}
    return render(request, "console/audit/erase.html", context, status=status)


def _page(request: ConsoleRequest, status: int = 200, **forms: Any) -> HttpResponse:
    context = {
        "classes": retention_classes(),
        "holds": holds_active(),
        "lifted": holds_lifted(limit=10),
        "erasures": erasures(limit=10),
        **_purges(),
        "hold_form": HoldForm(),
        "subject_form": SubjectForm(),
        **forms,
    }
    return render(request, "console/audit/retention.html", context, status=status)


def _class(name: str) -> RetentionClass:
    if name not in CLASSES:
        raise Http404
    return retention_class(name)


def _left(request: ConsoleRequest, name: str) -> dict[str, Any]:
    """What a purge of a class would take now, and how the last one of it went."""
    run = next(iter(purges(name, limit=1)), None)
    is_open = run is not None and run.is_open
    return {"run": run, "preview": None if is_open else purge_preview(request.user, name)}


def _purges() -> dict[str, Any]:
    found = purges()
    shown = [{"run": run, "label": CLASSES[run.name][0]} for run in found]
    return {"purges": shown, "is_purging": any(run.is_open for run in found)}
