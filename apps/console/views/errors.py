"""Pages that say why something did not work, and that gateways keep enforcing the last snapshot."""

import logging
import sys
import uuid

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.audit.errors import AuditUnavailableError
from apps.console.answers import TITLES, note

logger = logging.getLogger(__name__)

API = "/api/"
FRAGMENT = "HX-Request"


def _answer(request: HttpRequest, status: int, code: str, message: str) -> HttpResponse:
    if request.path.startswith(API):
        return JsonResponse({"code": code, "message": message, "details": []}, status=status)
    if request.headers.get(FRAGMENT):
        return note(request, status)
    return render(request, f"console/errors/{code}.html", {"status": status}, status=status)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001 - Django's signature
    return _answer(request, 403, "forbidden", "you may not open this")


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001 - Django's signature
    return _answer(request, 403, "form_expired", "the form is too old or came from another site")


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001 - Django's signature
    return _answer(request, 404, "not_found", "there is nothing here")


def too_many(request: HttpRequest) -> HttpResponse:
    """Answer who tried too often; allauth calls it."""
    return _answer(request, 429, "too_many", "too many attempts")


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer without database, session or request: any of them may be what broke."""
    if isinstance(sys.exc_info()[1], OperationalError | InterfaceError | AuditUnavailableError):
        return _unavailable(request)
    reference = uuid.uuid4().hex[:8]
    logger.error("request %s failed on %s", reference, request.path)
    if request.path.startswith(API):
        message = f"something broke on our side: reference {reference}"
        return JsonResponse({"code": "server_error", "message": message, "details": []}, status=500)
    context: dict[str, object] = {"reference": reference, "at": timezone.now()}
    if request.headers.get(FRAGMENT):
        context = {"title": TITLES[500], "message": f"Error 500 · {reference}"}
        answer = HttpResponse(render_to_string("console/errors/_note.html", context), status=500)
        answer["HX-Retarget"], answer["HX-Reswap"] = "#flash", "innerHTML"
        return answer
    return HttpResponse(render_to_string("console/errors/server_error.html", context), status=500)


def _unavailable(request: HttpRequest) -> HttpResponse:
    """Answer that the database or the ledger stores nothing at the moment: nothing was changed."""
    logger.error("no database for %s", request.path, exc_info=True)
    if request.path.startswith(API):
        body = {"code": "database_unavailable", "message": "the database does not answer", "details": []}
        answer: HttpResponse = JsonResponse(body, status=503)
    elif request.headers.get(FRAGMENT):
        context = {"title": TITLES[503], "message": _("The database does not answer. Nothing was changed.")}
        answer = HttpResponse(render_to_string("console/errors/_note.html", context), status=503)
        answer["HX-Retarget"], answer["HX-Reswap"] = "#flash", "innerHTML"
    else:
        answer = HttpResponse(render_to_string("console/errors/unavailable.html", {"status": 503}), status=503)
    answer["Retry-After"] = "1"
    return answer
