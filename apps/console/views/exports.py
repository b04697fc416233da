"""Files of the ledger to take away: ask, watch, get."""

import logging
import uuid

from django.db import transaction
from django.http import FileResponse, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe
from kombu.exceptions import OperationalError

from apps.accounts.access import Permission
from apps.audit.exports import export_access, export_path, export_request
from apps.audit.tasks import export_run_task
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.audit import read_filters

logger = logging.getLogger(__name__)


@require_POST
@gate(Permission.AUDIT_EXPORT)
def exports(request: ConsoleRequest) -> HttpResponse:
    """Ask for a file of what the page's filters select."""
    at = timezone.now()
    filters = read_filters(request, QueryDict(request.POST.get("query", "")), at)
    export = export_request(request.user, filters=filters, format_name=request.POST.get("format", ""), at=at)
    transaction.on_commit(lambda: _enqueue(str(export.pk)))
    if not request.htmx:
        return redirect("audit")
    return render(request, "console/audit/_export.html", {"export": export})


def _enqueue(export_id: str) -> None:
    """Hand the file to a worker; when no broker answers, the task that resumes exports finds it within a minute."""
    try:
        export_run_task.delay(export_id)
    except OperationalError:
        logger.warning("the broker does not answer: export %s waits to be resumed", export_id)


@require_safe
@gate(Permission.AUDIT_EXPORT)
def export(request: ConsoleRequest, export_id: uuid.UUID) -> HttpResponse:
    """How far a file is; asks itself again until it is done."""
    return render(request, "console/audit/_export.html", {"export": export_access(request.user, export_id)})


@require_safe
@gate(Permission.AUDIT_EXPORT)
def export_file(request: ConsoleRequest, export_id: uuid.UUID) -> FileResponse:
    found = export_access(request.user, export_id)
    name = f"openclaw-audit-{found.requested_at:%Y%m%d-%H%M%S}.{found.format}"
    return FileResponse(export_path(found).open("rb"), as_attachment=True, filename=name)
