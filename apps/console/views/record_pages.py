"""From a record of the draft to its page."""

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from apps.accounts.access import Permission
from apps.console.gate import ConsoleRequest, gate
from apps.console.record_pages import page_of_record
from apps.console.views.draft_parts import draft_asked


@require_safe
@gate(Permission.POLICY_READ)
def record_page(request: ConsoleRequest, kind: str, record_id: UUID) -> HttpResponse:
    """Lead to where a record is read and edited."""
    url = page_of_record(kind, draft_asked(request, kind, record_id))
    if not url:
        raise Http404
    return redirect(url)
