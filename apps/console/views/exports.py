"""Files of the ledger to take away: ask, watch, get."""

import uuid

from django.http import FileResponse, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission
from apps.audit.errors import ExportStateError
from apps.audit.export_files import manifest_path
from apps.audit.exports import export_access, export_cancel, export_path, export_request, name_of
from apps.audit.keeping import preference_of, zone_of
from apps.audit.tasks import export_enqueue
from apps.console.gate import ConsoleRequest, gate
from apps.console.views.audit import read_filters


@require_POST
@gate(Permission.AUDIT_EXPORT)
def exports(request: ConsoleRequest) -> HttpResponse:
    """Ask for a file of what the page's filters select."""
    at = timezone.now()
    with timezone.override(zone_of(preference_of(request.user))):
        filters = read_filters(request, QueryDict(request.POST.get("query", "")), at)
    export = export_request(request.user, filters=filters, format_name=request.POST.get("format", ""), at=at)
    export_enqueue(export.pk)
    if not request.htmx:
        return redirect("audit")
    return render(request, "console/audit/_export.html", {"export": export})


@require_safe
@gate(Permission.AUDIT_EXPORT)
def export(request: ConsoleRequest, export_id: uuid.UUID) -> HttpResponse:
    """How far a file is; asks itself again until it is done."""
    return render(request, "console/audit/_export.html", {"export": export_access(request.user, export_id)})


@require_safe
@gate(Permission.AUDIT_EXPORT)
def export_file(request: ConsoleRequest, export_id: uuid.UUID) -> FileResponse:
    found = export_access(request.user, export_id)
    name = name_of(found)
    return FileResponse(export_path(found).open("rb"), as_attachment=True, filename=name)


@require_safe
@gate(Permission.AUDIT_EXPORT)
def export_manifest(request: ConsoleRequest, export_id: uuid.UUID) -> FileResponse:
    found = export_access(request.user, export_id)
    name = name_of(found, suffix=".manifest.json")
    return FileResponse(manifest_path(export_path(found)).open("rb"), as_attachment=True, filename=name)


@require_POST
@gate(Permission.AUDIT_EXPORT)
def cancel(request: ConsoleRequest, export_id: uuid.UUID) -> HttpResponse:
    """End an export; one that has ended meanwhile is shown as it is."""
    found = export_access(request.user, export_id)
    try:
        export_cancel(request.user, found, at=timezone.now())
    except ExportStateError:
        found.refresh_from_db()
    if not request.htmx:
        return redirect("audit-exports")
    return render(request, "console/audit/_export.html", {"export": found})
