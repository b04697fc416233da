"""Around every request of people and programs: an id, one log line, a limit on the body."""

import re
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import orjson
import structlog

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{8,64}")
QUIET_PATHS = ("/static/", "/healthz", "/readyz")

log = structlog.get_logger("openclaw_admin.requests")


def header(scope: Scope, name: bytes) -> bytes:
    """Return a request header, empty when it is missing."""
    return next((value for key, value in scope["headers"] if key == name), b"")


async def send_json(send: Send, status: int, content: object) -> None:
    body = orjson.dumps(content)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class RequestLog:
    """Gives each request an id, logs one line without the query, and refuses a body above the limit."""

    def __init__(self, application: Application, *, body_limit_bytes: int) -> None:
        self.application = application
        self.body_limit_bytes = body_limit_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = header(scope, b"x-request-id")
        request_id = given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8).encode()
        structlog.contextvars.bind_contextvars(request_id=request_id.decode())
        started, status = time.perf_counter(), 500

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id)]
            await send(message)

        try:
            length = header(scope, b"content-length")
            if length.isdigit() and int(length) > self.body_limit_bytes:
                refusal = {"code": "body_too_large", "message": "the body is too large", "details": []}
                await send_json(send_with_id, 413, refusal)
            else:
                await self.application(scope, receive, send_with_id)
        finally:
            if not scope["path"].startswith(QUIET_PATHS):
                duration_ms = round((time.perf_counter() - started) * 1000)
                log.info("request", method=scope["method"], path=scope["path"], status=status, duration_ms=duration_ms)
            structlog.contextvars.unbind_contextvars("request_id")
