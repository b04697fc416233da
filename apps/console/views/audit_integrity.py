"""The page about the ledger itself: chains, checkpoints, the key, witnesses, and the walk over all of it."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import FileResponse, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission, may
from apps.audit.checkpoints import chains_newest
from apps.audit.errors import AuditKeyError, WitnessInvalidError
from apps.audit.integrity import VERIFIER, checkpoint_now, integrity, verifier_path
from apps.audit.signing import audit_key, public_pem
from apps.audit.statements import statements_newest
from apps.audit.tasks import verification_enqueue
from apps.audit.verification_runs import verification_access, verification_request
from apps.audit.witnesses import receipt_token, receipts, witness_access, witness_add, witness_remove, witness_retry
from apps.console.gate import ConsoleRequest, gate
from apps.console.witness_forms import WitnessForm

ROWS = 10


@require_safe
@gate(Permission.AUDIT_READ)
def page(request: ConsoleRequest) -> HttpResponse:
    return _page(request, WitnessForm())


@require_POST
@gate(Permission.AUDIT_READ)
def verify(request: ConsoleRequest) -> HttpResponse:
    """Ask for a walk over the whole ledger."""
    run = verification_request(request.user, at=timezone.now())
    verification_enqueue(run.pk)
    if not request.htmx:
        return redirect("audit-integrity")
    return render(request, "console/audit/_verification.html", {"run": run})


@require_safe
@gate(Permission.AUDIT_READ)
def verification(request: ConsoleRequest, run_id: UUID) -> HttpResponse:
    """How far a walk is; asks itself again until it has ended."""
    return render(request, "console/audit/_verification.html", {"run": verification_access(request.user, run_id)})


@require_POST
@gate(Permission.AUDIT_READ)
def checkpoint(request: ConsoleRequest) -> HttpResponse:
    try:
        made = checkpoint_now(request.user)
    except AuditKeyError as exc:
        messages.error(request, exc.message)
    else:
        said = _("A checkpoint was signed.") if made else _("No chain moved since the last checkpoint.")
        messages.success(request, said)
    return redirect("audit-integrity")


@require_safe
@gate(Permission.AUDIT_READ)
def verifier(_request: ConsoleRequest) -> FileResponse:
    """The program with which others check exports and dumps."""
    return FileResponse(verifier_path().open("rb"), as_attachment=True, filename=VERIFIER)


@require_safe
@gate(Permission.AUDIT_READ)
def key(_request: ConsoleRequest) -> HttpResponse:
    """The public key, as PEM."""
    answer = HttpResponse(public_pem(audit_key().public), content_type="application/x-pem-file")
    answer["Content-Disposition"] = 'attachment; filename="audit-key.pem"'
    return answer


@require_POST
@gate(Permission.AUDIT_MANAGE)
def witness_new(request: ConsoleRequest) -> HttpResponse:
    form = WitnessForm(request.POST)
    if form.is_valid():
        try:
            witness_add(request.user, **form.cleaned_data)
        except WitnessInvalidError as exc:
            form.take_refusal(exc)
        else:
            return redirect("audit-integrity")
    return _page(request, form, status=422)


@require_POST
@gate(Permission.AUDIT_MANAGE)
def witness_end(request: ConsoleRequest, name: str) -> HttpResponse:
    witness_remove(request.user, witness_access(request.user, name, write=True))
    return redirect("audit-integrity")


@require_POST
@gate(Permission.AUDIT_MANAGE)
def witness_again(request: ConsoleRequest, name: str) -> HttpResponse:
    witness_retry(request.user, witness_access(request.user, name, write=True))
    return redirect("audit-integrity")


@require_safe
@gate(Permission.AUDIT_READ)
def witness_token(request: ConsoleRequest, name: str, number: int) -> HttpResponse:
    """A time-stamp, as the authority gave it."""
    token = receipt_token(witness_access(request.user, name), number)
    answer = HttpResponse(token, content_type="application/timestamp-reply")
    answer["Content-Disposition"] = f'attachment; filename="statement-{number}.tsr"'
    return answer


def _page(request: ConsoleRequest, form: WitnessForm, status: int = 200) -> HttpResponse:
    context: dict[str, Any] = {
        "state": integrity(timezone.now()),
        "chains": chains_newest(limit=ROWS),
        "statements": statements_newest(limit=ROWS),
        "receipts": receipts(limit=ROWS),
        "witness_form": form,
        "may_manage": may(request.user, Permission.AUDIT_MANAGE),
    }
    return render(request, "console/audit/integrity.html", context, status=status)
