"""The page of coverage: each way to run a call, and what its last probe found."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import Permission, may
from apps.console.coverage import page_of
from apps.console.gate import ConsoleRequest, gate
from apps.gateway.doors import probes_ask
from apps.gateway.errors import ProbesBusyError


@require_safe
@gate(Permission.AUDIT_READ)
def coverage(request: ConsoleRequest) -> HttpResponse:
    return _page(request)


@require_POST
@gate(Permission.AUDIT_MANAGE)
def probe(request: ConsoleRequest) -> HttpResponse:
    error = None
    try:
        probes_ask(request.user, at=timezone.now())
    except ProbesBusyError as exc:
        error = exc
    if not request.htmx and error is None:
        return redirect("audit-coverage")
    return _page(request, error=error, status=200 if error is None else 409)


def _page(request: ConsoleRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    is_part = bool(request.htmx) and not request.htmx.history_restore_request
    template = "console/audit/_coverage.html" if is_part else "console/audit/coverage.html"
    context = page_of(timezone.now()) | {"may_probe": may(request.user, Permission.AUDIT_MANAGE)} | more
    return render(request, template, context, status=status)
