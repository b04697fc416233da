"""The agents' door as one plain ASGI application: who calls, what they ask for, and every error in one shape."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError

from apps.firewall.errors import FirewallError
from apps.gateway.counters import counters
from apps.gateway.lifecycle import Gateway, gateway
from apps.gateway.mcp import door as mcp
from apps.gateway.openclaw import asking, presence, reporting, stops
from apps.gateway.rpc.http import answering
from apps.gateway.rpc.methods import METHODS
from apps.gateway.runtime_api import approvals, calls, decisions, runs, tools, turns
from apps.gateway.runtime_api.http import Problem, Receive, Request, Scope, Send, answer, problem_of
from apps.gateway.runtime_api.sent import OPERATIONS, check_query
from apps.gateway.tokens import TokenGrant
from apps.gateway.tool_runs.calls import CONTROLS_OF_PATHS

log = structlog.get_logger(__name__)

Answer = tuple[int, Any]
Endpoint = Callable[[Gateway, TokenGrant, Request, str], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Route:
    """A path and what answers each method; `(?P<id>…)` is handed to the endpoint."""

    path: str
    pattern: re.Pattern[str]
    methods: dict[str, Endpoint]


def _route(path: str, methods: dict[str, Endpoint]) -> Route:
    return Route(path, re.compile(re.escape(path).replace(r"\{id\}", "(?P<id>[^/]+)")), methods)


ROUTES: tuple[Route, ...] = (
    _route("/api/v1/decisions", {"POST": decisions.ask}),
    _route("/api/v1/calls", {"POST": calls.make}),
    _route("/api/v1/calls/{id}", {"GET": calls.read, "DELETE": calls.end}),
    _route("/api/v1/tools", {"GET": tools.offer}),
    _route("/api/v1/turns", {"POST": turns.make}),
    _route("/api/v1/runs", {"POST": runs.begin}),
    _route("/api/v1/runs/{id}", {"GET": runs.read}),
    _route("/api/v1/runs/{id}/end", {"POST": runs.end}),
    _route("/api/v1/runs/{id}/turns", {"POST": runs.turn}),
    _route("/api/v1/runs/{id}/tools", {"GET": runs.offered}),
    *(_route(f"/api/v1/runs/{{id}}/tools/{each}", {"POST": runs.control(each)}) for each in CONTROLS_OF_PATHS),
    _route("/api/v1/runs/{id}/tools/call", {"POST": runs.call}),
    _route("/api/v1/runs/{id}/tools/outcome", {"POST": runs.outcome}),
    _route("/api/v1/approvals/{id}/wait", {"GET": approvals.wait}),
    _route("/api/v1/openclaw/calls", {"POST": asking.ask}),
    _route("/api/v1/openclaw/calls/{id}", {"GET": asking.wait, "DELETE": asking.withdraw}),
    _route("/api/v1/openclaw/calls/{id}/outcome", {"POST": reporting.outcome}),
    _route("/api/v1/openclaw/ungoverned", {"POST": reporting.ungoverned}),
    _route("/api/v1/openclaw/blocked", {"POST": reporting.blocked}),
    _route("/api/v1/openclaw/heartbeat", {"POST": presence.heartbeat}),
    _route("/api/v1/openclaw/stops", {"POST": stops.hold}),
    *(_route(f"/api/v1/rpc/{name}", {"POST": answering(name)}) for name in METHODS),
)
ENROL = "/api/v1/openclaw/enrol"  # who comes here has no token yet
ENROLMENT = OPERATIONS["/api/v1/openclaw/heartbeat", "POST"].body  # it says what a heartbeat says
_EXACT = {route.path: route for route in ROUTES if "{" not in route.path}


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one HTTP request of an agent."""
    request = Request.of(scope, receive)
    headers: tuple[tuple[bytes, bytes], ...] = ()
    try:
        answered = await _dispatch(request, send)
        if answered is None:
            return
        status, content = answered
    except Problem as exc:
        status, content, headers = exc.status, exc.body, exc.headers
    except FirewallError as exc:
        problem = problem_of(exc)
        status, content, headers = problem.status, problem.body, problem.headers
    except asyncio.CancelledError:
        raise
    except (OperationalError, InterfaceError):
        log.exception("agents_door.no_database", path=scope["path"], request_id=request.request_id.decode())
        status, headers = 503, ((b"retry-after", b"1"),)
        content = {"code": "database_unavailable", "message": "the database does not answer", "details": []}
    except Exception as exc:  # fail closed, and tell the caller nothing of what went wrong inside
        log.exception("agents_door.failed", path=scope["path"], request_id=request.request_id.decode())
        status = 500
        content = {"code": "internal_error", "message": f"an internal error: {type(exc).__name__}", "details": []}
    if status >= 400:
        counters.add(f"refused.{status}")
    await answer(send, request, status, content, headers)


async def _dispatch(request: Request, send: Send) -> Answer | None:
    if request.scope["path"] == ENROL and request.method == "POST":
        request.known = ENROLMENT
        return await presence.enrol(request)
    if request.scope["path"] in mcp.PATHS:
        mcp.check_way(request)
        current = gateway()
        return await mcp.answered(current, await _authenticate(current, request), request, send)
    route, identifier = _find(request.scope["path"])
    endpoint = route.methods.get(request.method)
    if endpoint is None:
        allowed = ", ".join(sorted(route.methods))
        raise Problem(405, "method_not_allowed", f"use {allowed}", headers=((b"allow", allowed.encode()),))
    current = gateway()
    grant = await _authenticate(current, request)
    sent = OPERATIONS[route.path, request.method]
    if request.scope["query_string"]:
        check_query(request.scope["query_string"], sent)
    request.known = sent.body
    return await endpoint(current, grant, request, identifier)


def _find(path: str) -> tuple[Route, str]:
    exact = _EXACT.get(path)
    if exact is not None:
        return exact, ""
    for route in ROUTES:
        match = route.pattern.fullmatch(path)
        if match is not None:
            return route, match.groupdict().get("id", "")
    raise Problem(404, "not_found", "no such path")


async def _authenticate(current: Gateway, request: Request) -> TokenGrant:
    kind, _, secret = request.headers.get(b"authorization", b"").partition(b" ")
    if kind.lower() != b"bearer" or not secret:
        bearer = ((b"www-authenticate", b"Bearer"),)
        raise Problem(401, "token_missing", "send a token as `Authorization: Bearer …`", headers=bearer)
    grant = await current.tokens.find(secret.strip())
    wait_s = grant.bucket.take(time.monotonic())
    if wait_s:
        seconds = str(int(wait_s) + 1).encode()
        raise Problem(429, "rate_limited", "too many requests with this token", headers=((b"retry-after", seconds),))
    return grant
