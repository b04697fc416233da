"""One table from what a room refuses to what the console answers."""

import structlog
from django.db import DataError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from apps.firewall.errors import FirewallError

log = structlog.get_logger(__name__)

STATUS: dict[str, int] = {
    "permission_denied": 403,
    "not_found": 404,
    "link_invalid": 404,
    "conflict": 409,
    "replay_ended": 409,
    "shadow_ended": 409,
    "undo_refused": 409,
    "unavailable": 503,
    "audit_unavailable": 503,
}
TITLES = {
    403: _("You may not open this"),
    404: _("There is nothing here"),
    409: _("Someone else was faster"),
    422: _("This was refused"),
    429: _("Too many attempts"),
    500: _("Something broke on our side"),
    503: _("Not available at the moment"),
}


class OutOfRangeError(FirewallError):
    """The database refused a value that a form or an address let through."""

    code = "value_out_of_range"


def status_of(error: FirewallError) -> int:
    """Say with which status a refusal is answered: 403, 404, 409 and 503 by name, else 422."""
    if error.code.endswith("_not_found"):
        return 404
    if error.code.endswith(("_conflict", "_decided", "_expired", "_cancelled", "_superseded", "_in_use")):
        return 409
    return STATUS.get(error.code, 422)


def answer_of(request: HttpRequest, exception: Exception) -> HttpResponse | None:
    """Answer what a room refused; anything else is a server error and none of ours."""
    if isinstance(exception, DataError):
        log.warning("console.value_out_of_range", error=str(exception))
        exception = OutOfRangeError(str(_("a value is outside what can be stored")))
    if not isinstance(exception, FirewallError):
        return None
    status = status_of(exception)
    if getattr(request, "htmx", False):
        return note(request, status, message=exception.message)
    context = {"status": status, "title": TITLES.get(status, TITLES[422]), "error": exception}
    page = "console/errors/forbidden.html" if status == 403 else "console/errors/refused.html"
    return render(request, page, context, status=status)


def note(request: HttpRequest, status: int, message: str = "") -> HttpResponse:
    """Answer a fragment's request that failed: a note above the page, and the fragment stays as it was."""
    context = {"title": TITLES.get(status, TITLES[422]), "message": message}
    answer = render(request, "console/errors/_note.html", context, status=status)
    answer["HX-Retarget"], answer["HX-Reswap"] = "#flash", "innerHTML"
    return answer
