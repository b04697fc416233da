"""Around every request of people and programs: an id, and one log line."""

import re
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
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


def json_messages(status: int, content: object) -> list[Message]:
    """Make the messages of an answer in JSON."""
    body = orjson.dumps(content)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    ]
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers.append((b"retry-after", b"1"))
    return [
        {"type": "http.response.start", "status": status, "headers": headers},
        {"type": "http.response.body", "body": body},
    ]


async def send_json(send: Send, status: int, content: object) -> None:
    for message in json_messages(status, content):
        await send(message)


class RequestLog:
    """Gives each request an id, and logs one line without the query."""

    def __init__(self, application: Application) -> None:
        self.application = application

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
            await self.application(scope, receive, send_with_id)
        finally:
            if not scope["path"].startswith(QUIET_PATHS):
                duration_ms = round((time.perf_counter() - started) * 1000)
                log.info("request", method=scope["method"], path=scope["path"], status=status, duration_ms=duration_ms)
            structlog.contextvars.unbind_contextvars("request_id")
