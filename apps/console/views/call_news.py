"""What a running call tells of itself, while somebody looks."""

import uuid

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.access import Permission
from apps.audit.selectors import call_record
from apps.console.gate import ConsoleRequest, gate
from apps.gateway.progress import call_progress


@require_safe
@gate(Permission.AUDIT_READ)
def news(request: ConsoleRequest, call_id: uuid.UUID) -> HttpResponse:
    """The latest news of a call; once it has ended its page is read again."""
    record = call_record(call_id)
    slug = request.environment.slug if request.environment else ""
    if record is None or record.environment not in {slug, ""}:
        raise Http404
    if record.status != "running":
        return HttpResponse(headers={"HX-Refresh": "true"})
    return render(request, "console/audit/_news.html", {"call_id": call_id, "news": call_progress(call_id)})
