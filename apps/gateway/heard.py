"""Requests that change what processes hold in memory are answered when the processes hold to it, with who does."""

import time
from collections.abc import Callable
from typing import Final

import orjson
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.access import bound_of
from apps.events.barrier import BOUND_S, HeardBy, barrier_wait, changes
from apps.gateway.gateways_held import GatewayHolds, gateways_wait, to_json

HEADER: Final = "X-Heard-By"
API: Final = "/api/"
STOPS: Final = "halt."
TOLD: Final = ("publication.", STOPS)
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
        began = time.monotonic()
        heard_by = barrier_wait()
        stopped = {each for kind, where in kinds.items() if kind.startswith(STOPS) for each in where}
        held = gateways_wait(stopped, bound_s=BOUND_S - (time.monotonic() - began)) if stopped else []
        response[HEADER] = f"{heard_by.heard}/{len(heard_by.processes)}"
        if request.path.startswith(API):
            _add(request, response, heard_by, held)
        elif heard_by.processes and (not heard_by.all or any(kind.startswith(TOLD) for kind in kinds)):
            _tell(request, heard_by)
        if not request.path.startswith(API):
            _tell_of_gateways(request, held)
        return response


def _add(request: HttpRequest, response: HttpResponse, heard_by: HeardBy, held: list[GatewayHolds]) -> None:
    """Say it in the answer itself, where that is a JSON object."""
    if response.streaming or not response.content.startswith(b"{"):
        return
    may_name = not bound_of(getattr(request, "user", None))
    said = heard_by.to_json() | ({"gateways": to_json(held)} if held and may_name else {})
    response.content = orjson.dumps({**orjson.loads(response.content), "heard_by": said})
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


def _tell_of_gateways(request: HttpRequest, held: list[GatewayHolds]) -> None:
    """Name the gateways that hold to a stop on the page that is shown next, and those that have not said so yet."""
    holding = ", ".join(each.name for each in held if each.holds)
    silent = ", ".join(each.name for each in held if not each.holds)
    if holding:
        messages.info(request, _("Gateways that hold to it: %(names)s.") % {"names": holding})
    if silent:
        messages.warning(
            request, _("Gateways that have not said yet that they hold to it: %(names)s.") % {"names": silent}
        )
