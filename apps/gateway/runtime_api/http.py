"""Requests and answers of the agents' door: limits first, one shape for every error."""

import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

import orjson
from django.conf import settings

from apps.bodies import BodyError, body_gathered, length_check
from apps.firewall.errors import FirewallError
from apps.firewall.identifiers import trace_parent
from apps.firewall.tools.members import Members, unknown_members
from apps.firewall.tools.numbers import NumberInexactError, read_json

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

DEPTH_LIMIT = 64
REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{8,64}")
TRACE_PARENT = re.compile(
    rb"(?!ff)[0-9a-f]{2}-(?!0{32})(?P<trace>[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?"
)
SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
)

STATUS_OF_CODE: dict[str, int] = {
    "token_invalid": 401,
    "enrolment_invalid": 401,
    "permission_denied": 403,
    "agent_not_allowed": 403,
    "environment_not_allowed": 403,
    "tool_not_found": 404,
    "call_not_found": 404,
    "approval_not_found": 404,
    "run_not_found": 404,
    "not_found": 404,
    "method_not_found": 404,
    "idempotency_conflict": 409,
    "own_request": 403,
    "not_an_approver": 403,
    "caller_ended": 409,
    "approval_already_decided": 409,
    "approval_expired": 409,
    "approval_cancelled": 409,
    "approval_superseded": 409,
    "approval_frozen": 409,
    "approval_id_pending": 409,
    "report_refused": 409,
    "run_ended": 409,
    "too_busy": 503,
    "queue_full": 503,
    "queue_missing": 503,
    "stopping": 503,
    "audit_unavailable": 503,
    "sessions_unavailable": 503,
}
"""Codes whose status is not 422, the answer to a request that was understood and refused."""


class Problem(Exception):  # noqa: N818 - it is an answer, not a defect
    """An answer that is no success."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        details: list[dict[str, str]] | None = None,
        headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"code": code, "message": message, "details": details or []}
        self.headers = headers


def problem_of(exc: FirewallError) -> Problem:
    """Translate an error of a room."""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    status = STATUS_OF_CODE.get(exc.code, 422)
    if status == 401:
        headers = ((b"www-authenticate", b"Bearer"),)
    elif status == 503:
        headers = ((b"retry-after", b"1"),)
    return Problem(status, exc.code, exc.message, getattr(exc, "details", None), headers)


def mistakes(details: list[dict[str, str]]) -> Problem:
    """Answer that the request has mistakes, all of them."""
    return Problem(422, "invalid_request", "the request has mistakes", details)


@dataclass(slots=True)
class Request:
    """One request: what the endpoints need of it.

    Args:
        known: the members that its body may have; None for any.
    """

    scope: Scope
    receive: Receive
    headers: dict[bytes, bytes]
    request_id: bytes
    trace_id: str
    known: Members | None = None

    @classmethod
    def of(cls, scope: Scope, receive: Receive) -> "Request":
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        request_id = given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8).encode()
        parent = TRACE_PARENT.fullmatch(headers.get(b"traceparent", b""))
        trace_id = parent["trace"].decode() if parent else secrets.token_hex(16)
        return cls(scope, receive, headers, request_id, trace_id)

    @property
    def method(self) -> str:
        return str(self.scope["method"])

    async def body(self, *, limit_bytes: int | None = None) -> bytes:
        """Read the whole body.

        Raises:
            Problem: 413 above the limit, found before it is read where the length is stated; 408 when it is slow.
        """
        limit = settings.BODY_LIMIT_BYTES if limit_bytes is None else limit_bytes
        try:
            length_check(self.headers.get(b"content-length", b""), limit_bytes=limit)
            return await body_gathered(self.receive, limit_bytes=limit, patience_s=settings.SLOW_CLIENT_S)
        except BodyError as exc:
            raise Problem(exc.status, exc.code, exc.message) from exc

    async def gone(self) -> None:
        """Return when the caller goes away; after the whole body was read."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def json(self, *, limit_bytes: int | None = None) -> dict[str, Any]:
        """Read a JSON object, as `value`.

        Raises:
            Problem: also 400 for JSON that is no object.
        """
        value = await self.value(limit_bytes=limit_bytes)
        if not isinstance(value, dict):
            raise Problem(400, "invalid_json", "the body is not a JSON object")
        return value

    async def value(self, *, limit_bytes: int | None = None) -> Any:
        """Read a JSON value.

        Raises:
            Problem: 415, 413, 408 or 400, whatever is wrong first; 422 for members that the operation does not know,
                and for numbers that could not be kept as they were sent.
        """
        kind = self.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != b"application/json":
            raise Problem(415, "unsupported_media_type", "send JSON, as `Content-Type: application/json`")
        body = await self.body(limit_bytes=limit_bytes)
        try:
            value = read_json(body)
        except NumberInexactError as exc:
            raise mistakes(exc.details) from exc
        except ValueError as exc:
            raise Problem(400, "invalid_json", f"the body is not JSON: {exc}") from exc
        if not isinstance(value, dict | list):
            return value
        check_depth(value, body.count(b"{") + body.count(b"["))
        if self.known is not None:
            strangers = unknown_members(value, self.known)
            if strangers:
                raise mistakes(strangers)
        return value


def check_depth(value: Any, brackets: int) -> None:
    """Refuse JSON that is nested too deeply; what has few brackets is not.

    Raises:
        Problem: 400.
    """
    if brackets > DEPTH_LIMIT and _depth(value) > DEPTH_LIMIT:
        raise Problem(400, "json_too_deep", f"what was sent is nested deeper than {DEPTH_LIMIT} levels")


def _depth(value: Any) -> int:
    """Measure how deep a value is nested, at most one level beyond the limit."""
    level, depth = [value], 0
    while level and depth <= DEPTH_LIMIT:
        depth += 1
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
    return depth


async def answer(
    send: Send, request: Request, status: int, content: Any, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    """Send JSON with the headers every answer has."""
    body = orjson.dumps(content)
    all_headers = [
        *SECURITY_HEADERS,
        (b"content-length", b"%d" % len(body)),
        (b"x-request-id", request.request_id),
        (b"traceparent", trace_parent(request.trace_id).encode()),
        *headers,
    ]
    await send({"type": "http.response.start", "status": status, "headers": all_headers})
    await send({"type": "http.response.body", "body": body})
