"""What one HTTP request at `/api/v1/mcp` is: let in, of a run, and handed to the protocol's own library.

Up to 2025 a client begins with `initialize`: that begins a run, whose id is the session's. Since 2026 it does not: the
run is the one that its address stands for. Either way the row says all, so that any process answers any request.
"""

from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

import orjson
import structlog
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils import timezone
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request
from mcp_types import InitializeRequestParams
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

from apps.accounts.access import Permission
from apps.firewall.identifiers import trace_parent
from apps.gateway.database import in_database
from apps.gateway.lifecycle import Gateway
from apps.gateway.mcp.batches import answered_batch, read_arguments
from apps.gateway.mcp.calling import Door, cancel
from apps.gateway.mcp.joining import WAIT_LIMIT_MS, WAIT_MS, begun_run, joined_run, read_meeting
from apps.gateway.mcp.server import DOOR, SERVER
from apps.gateway.runtime_api.http import SECURITY_HEADERS, Message, Problem, Receive, Request, Send, answer
from apps.gateway.runtime_api.reading import query_number, require
from apps.gateway.tokens import TokenGrant
from apps.gateway.tool_runs.beginning import run_of
from apps.runs.errors import RunNotFoundError
from apps.runs.models import ToolRun
from apps.runs.selectors import run_told
from apps.runs.services import run_end

log = structlog.get_logger(__name__)

PATH: Final = "/api/v1/mcp"
PATHS: Final = frozenset({PATH, f"{PATH}/"})
METHODS: Final = ("DELETE", "POST")
SESSION: Final = b"mcp-session-id"
VERSION: Final = b"mcp-protocol-version"
OF_A_RUN: Final = frozenset({"server/discover", "tools/list", "tools/call"})
CALL: Final = "tools/call"
CANCELLED: Final = "notifications/cancelled"
OURS: Final = tuple(pair for pair in SECURITY_HEADERS if pair[0] not in {b"content-type", b"cache-control"})


def check_way(request: Request) -> None:
    """Let through what comes by a method and from a place that may: a page of another site may not.

    Raises:
        Problem: 405; 421, the address is by a name that this installation does not go by; 403, a foreign origin.
    """
    if request.method not in METHODS:
        allowed = ", ".join(METHODS)
        raise Problem(405, "method_not_allowed", f"use {allowed}", headers=((b"allow", allowed.encode()),))
    host = request.headers.get(b"host", b"").decode("latin-1")
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        raise Problem(421, "host_unknown", "this installation does not go by this name: see ALLOWED_HOSTS")
    origin = request.headers.get(b"origin", b"").decode("latin-1")
    if origin and origin not in settings.CSRF_TRUSTED_ORIGINS and not _is_here(origin, host):
        raise Problem(403, "origin_foreign", "pages of another origin may not come here")


async def answered(current: Gateway, grant: TokenGrant, request: Request, send: Send) -> tuple[int, Any] | None:
    """Answer a request.

    Returns:
        Status and content where it is not the library that answered.
    """
    require(grant, Permission.CALLS_MAKE)
    if request.method == "DELETE":
        run = await _session(grant, request)
        run = await in_database(lambda: run_end(run, outcome="completed", at=timezone.now()))
        return 200, await in_database(run_told, run)
    message = await request.value()
    if isinstance(message, list):
        return await answered_batch(message, request, partial(_answered_one, current, grant), grant)
    if not isinstance(message, dict):
        raise Problem(400, "invalid_json", "the body is not a JSON object")
    await _answered_one(current, grant, request, message, send)
    return None


async def _answered_one(
    current: Gateway, grant: TokenGrant, request: Request, message: dict[str, Any], send: Send
) -> None:
    wrong = read_arguments(message)
    if wrong is not None:
        await answer(send, request, 200, wrong)
        return
    run_and_wait = await _entered(current, grant, request, message)
    door = None
    if run_and_wait is not None:
        run, wait_ms = run_and_wait
        door = Door(
            current=current,
            grant=grant,
            request=request,
            run=run,
            wait_ms=wait_ms,
            leaves_with_client=not _has_sessions(request),
        )
    await _hand_over(request, message, door, send)


async def _entered(
    current: Gateway, grant: TokenGrant, request: Request, message: dict[str, Any]
) -> tuple[ToolRun, int] | None:
    """Find or begin the run of a message, and say how long its calls wait for people; None where it needs no run."""
    method, is_request = message.get("method"), "id" in message
    if not _has_sessions(request):
        if not is_request or not _is_of_a_run(method) or not _is_understood(request, message):
            return None
        meeting = read_meeting(current, grant, request)
        return await joined_run(current, meeting), meeting.wait_ms
    if method == "initialize" and is_request:
        meeting = read_meeting(current, grant, request)
        return (await begun_run(current, meeting), meeting.wait_ms) if _is_greeting(message) else None
    run = await _session(grant, request)
    if method == CANCELLED and isinstance(message.get("params"), dict):
        await cancel(run, message["params"].get("requestId"))
    return run, query_number(request.scope["query_string"], "wait_ms", default=WAIT_MS, maximum=WAIT_LIMIT_MS)


async def _session(grant: TokenGrant, request: Request) -> ToolRun:
    """Find the run of a session; of one that has ended a client hears as of none, and begins another."""
    identifier = request.headers.get(SESSION, b"").decode("latin-1")
    if not identifier:
        raise Problem(400, "session_missing", "send `initialize` first, and then the `Mcp-Session-Id` of its answer")
    try:
        run = await run_of(grant, identifier)
    except RunNotFoundError:
        run = None
    if run is None or not run.is_open:
        raise Problem(404, "session_not_found", "no such session, or it has ended: send `initialize` again")
    return run


async def _hand_over(request: Request, message: dict[str, Any], door: Door | None, send: Send) -> None:
    """Have the library answer; a manager of its own for each request, as nothing outlives one."""
    is_call = message.get("method") == CALL
    manager = StreamableHTTPSessionManager(
        SERVER,
        json_response=not (is_call and _takes_events(request)),
        stateless=True,
        max_request_body_size=settings.BODY_LIMIT_BYTES,
    )
    is_begun = message.get("method") == "initialize" and door is not None and "id" in message
    sending = _Sending(request, send, door.run.shown_id if is_begun and door is not None else "")
    try:
        async with manager.run():
            scope = {**request.scope, "headers": _accepting(request), DOOR: door}
            await manager.handle_request(scope, _again(message, request.receive), sending)
    except Exception:
        if not sending.has_begun:
            raise
        log.exception("mcp.answer_broken", request_id=request.request_id.decode())


class _Sending:
    """Sends the library's answer with the headers that every answer of this door has."""

    def __init__(self, request: Request, send: Send, session: str) -> None:
        self._send = send
        self.has_begun = False
        self._headers = [
            *OURS,
            (b"x-request-id", request.request_id),
            (b"traceparent", trace_parent(request.trace_id).encode()),
            *([(SESSION, session.encode())] if session else []),
        ]

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            message = {**message, "headers": [*message.get("headers", []), *self._headers]}
        await self._send(message)


def _accepting(request: Request) -> list[tuple[bytes, bytes]]:
    """Give the headers of a request: one that does not say what it accepts accepts anything."""
    headers: list[tuple[bytes, bytes]] = list(request.scope["headers"])
    return headers if b"accept" in request.headers else [*headers, (b"accept", b"*/*")]


def _again(message: dict[str, Any], receive: Receive) -> Receive:
    """Give a message that was read once more, exactly as it was understood."""
    given = [{"type": "http.request", "body": orjson.dumps(message), "more_body": False}]

    async def again() -> Message:
        return given.pop() if given else await receive()

    return again


def _has_sessions(request: Request) -> bool:
    """Say whether the protocol of a request is one with a greeting and sessions; without a version it is."""
    version = request.headers.get(VERSION)
    return version is None or version.decode("latin-1") in HANDSHAKE_PROTOCOL_VERSIONS


def _is_of_a_run(method: Any) -> bool:
    return isinstance(method, str) and method in OF_A_RUN


def _is_greeting(message: dict[str, Any]) -> bool:
    """Say whether the library will take a greeting: one that it refuses begins no run."""
    try:
        InitializeRequestParams.model_validate(message.get("params"), by_name=False)
    except ValidationError:
        return False
    return True


def _is_understood(request: Request, message: dict[str, Any]) -> bool:
    """Say whether the library will take a request of a protocol without sessions."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in request.headers.items()}
    return not isinstance(classify_inbound_request(message, headers=headers), InboundLadderRejection)


def _takes_events(request: Request) -> bool:
    accepted = request.headers.get(b"accept", b"").lower()
    return b"text/event-stream" in accepted and (b"application/json" in accepted or b"*/*" in accepted)


def _is_here(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and parts.netloc == host
