"""Requests that change what processes hold in memory are answered when the processes hold to it, with who does."""

from collections.abc import Callable
from typing import Final

import orjson
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.events.barrier import HeardBy, barrier_wait, changes

HEADER: Final = "X-Heard-By"
API: Final = "/api/"
TOLD: Final = ("publication.", "halt.")
"""What pages tell of also when every process holds to it: whoever publishes or stops wants to know exactly that."""


class HeardMiddleware:
    """Hold an answer back until every live process holds to the change, or two seconds; say who does."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with changes() as kinds:
            response = self.get_response(request)
        if not kinds or response.status_code >= 400:
            return response
        heard_by = barrier_wait()
        response[HEADER] = f"{heard_by.heard}/{len(heard_by.processes)}"
        if request.path.startswith(API):
            _add(response, heard_by)
        elif heard_by.processes and (not heard_by.all or any(kind.startswith(TOLD) for kind in kinds)):
            _tell(request, heard_by)
        return response


def _add(response: HttpResponse, heard_by: HeardBy) -> None:
    """Say it in the answer itself, where that is a JSON object."""
    if response.streaming or not response.content.startswith(b"{"):
        return
    response.content = orjson.dumps({**orjson.loads(response.content), "heard_by": heard_by.to_json()})
    if "Content-Length" in response:
        response["Content-Length"] = str(len(response.content))


def _tell(request: HttpRequest, heard_by: HeardBy) -> None:
    """Say it on the page that is shown next."""
    of = len(heard_by.processes)
    if heard_by.all:
        text = ngettext("The process that runs calls holds to it.", "All %(of)s processes hold to it.", of)
        messages.info(request, text % {"of": of})
        return
    text = _("%(heard)s of %(of)s processes hold to it. The others did not answer in time: %(silent)s.")
    silent = ", ".join(f"{each.host} ({each.pid})" for each in heard_by.processes if not each.has_heard)
    messages.warning(request, text % {"heard": heard_by.heard, "of": of, "silent": silent})
