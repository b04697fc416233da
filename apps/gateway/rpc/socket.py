"""`wss …/api/v1/rpc`: many calls over one socket, each answered when its answer is there.

Frames are OpenClaw's: a call is `{"type": "req", "id", "method", "params"}`, its answer
`{"type": "res", "id", "ok": true, "payload"}` or `{"type": "res", "id", "ok": false, "error"}`. What is asked and
answered meanwhile comes as `{"type": "event", "event", "payload", "seq"}` (`telling`).
"""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson
import structlog
from django.db import InterfaceError, OperationalError

from apps.accounts.errors import TokenInvalidError
from apps.firewall.errors import FirewallError
from apps.firewall.tools.numbers import NumberInexactError, read_json
from apps.gateway.lifecycle import Gateway, gateway
from apps.gateway.rpc.methods import Asking, call
from apps.gateway.rpc.telling import Listener
from apps.gateway.runtime_api.http import Problem, Receive, Request, Scope, Send, check_depth, mistakes, problem_of

log = structlog.get_logger(__name__)

PATH = "/api/v1/rpc"
NO_TOKEN, TOO_LARGE, TROUBLE, LAGGING = 4401, 1009, 1011, 1013
FRAME_LIMIT = 256 * 1024
AT_ONCE = 256
ID_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Frame:
    """One call as it came."""

    id: str
    method: str
    params: dict[str, Any]


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve one socket: the token stands in the header `Authorization`, as everywhere at this door."""
    await receive()
    await send({"type": "websocket.accept"})  # a close before it would reach the caller without its code
    calls: set[asyncio.Task[None]] = set()
    try:
        code = await _serve(scope, receive, send, calls)
        if code is not None:
            await send({"type": "websocket.close", "code": code})
    finally:
        for each in calls:
            each.cancel()


async def _serve(scope: Scope, receive: Receive, send: Send, calls: set[asyncio.Task[None]]) -> int | None:
    """Take frames until the caller leaves.

    Returns:
        The code to close with; None when the caller went away.
    """
    try:
        current, secret = gateway(), _secret(scope)
        await current.tokens.find(secret)
        with _listening(current, secret, send):
            return await _take(scope, receive, send, calls, current=current, secret=secret)
    except TokenInvalidError:
        return NO_TOKEN
    except (OperationalError, InterfaceError, RuntimeError) as exc:
        log.warning("rpc_socket.failed", error=type(exc).__name__)
        return TROUBLE


@contextmanager
def _listening(current: Gateway, secret: bytes, send: Send) -> Iterator[None]:
    """Have the socket told what is asked and answered, for as long as the block lasts."""

    async def tell(text: str) -> None:
        await send({"type": "websocket.send", "text": text})

    async def let_go() -> None:
        await send({"type": "websocket.close", "code": LAGGING})

    listener = Listener(lambda: current.tokens.find(secret), tell, let_go)
    current.listeners.join(listener)
    try:
        yield
    finally:
        current.listeners.leave(listener)


async def _take(
    scope: Scope,
    receive: Receive,
    send: Send,
    calls: set[asyncio.Task[None]],
    *,
    current: Gateway,
    secret: bytes,
) -> int | None:
    while True:
        message = await receive()
        if message["type"] == "websocket.disconnect":
            return None
        text = message.get("text") or ""
        if len(text) > FRAME_LIMIT or message.get("bytes"):
            return TOO_LARGE
        trace_id = Request.of(scope, receive).trace_id
        grant = await current.tokens.find(secret)  # it may have been revoked since the last frame
        is_busy = len(calls) >= AT_ONCE
        find = partial(current.tokens.find, secret)
        asking = Asking(current=current, grant=grant, find=find, trace_id=trace_id, longest_ms=None)
        answer = _answer(asking, text, send, is_busy=is_busy)
        if is_busy:  # who does not read what it is told is not read from either
            await answer
            continue
        task = asyncio.create_task(answer)
        calls.add(task)
        task.add_done_callback(calls.discard)


async def _answer(asking: Asking, text: str, send: Send, *, is_busy: bool) -> None:
    identifier: str | None = None
    try:
        frame = _read(text)
        identifier = frame.id
        if is_busy or asking.grant.bucket.take(time.monotonic()):
            raise Problem(429, "rate_limited", "too many calls at once on this socket, or with this token")
        payload = await call(asking, frame.method, frame.params)
    except Problem as exc:
        await _send(send, {"id": identifier, "ok": False, "error": exc.body})
    except FirewallError as exc:
        await _send(send, {"id": identifier, "ok": False, "error": problem_of(exc).body})
    except Exception as exc:  # fail closed, and tell the caller nothing of what went wrong inside
        log.exception("rpc_socket.call_failed", error=type(exc).__name__)
        error = {"code": "internal_error", "message": f"an internal error: {type(exc).__name__}", "details": []}
        await _send(send, {"id": identifier, "ok": False, "error": error})
    else:
        await _send(send, {"id": identifier, "ok": True, "payload": payload})


async def _send(send: Send, frame: dict[str, Any]) -> None:
    try:
        await send({"type": "websocket.send", "text": orjson.dumps({"type": "res", **frame}).decode()})
    except (OSError, RuntimeError) as exc:  # the caller is gone; what was decided stays decided
        log.info("rpc_socket.unheard", error=type(exc).__name__)


def _read(text: str) -> Frame:
    try:
        value = read_json(text)
    except NumberInexactError as exc:
        raise mistakes(exc.details) from exc
    except ValueError as exc:
        raise Problem(400, "invalid_json", "the frame is not JSON") from exc
    check_depth(value, text.count("{") + text.count("["))
    if not isinstance(value, dict) or value.get("type") != "req":
        raise Problem(400, "invalid_frame", 'a call is `{"type": "req", "id", "method", "params"}`')
    identifier, method, params = value.get("id"), value.get("method"), value.get("params", {})
    if not isinstance(identifier, str) or not 0 < len(identifier) <= ID_LIMIT:
        raise Problem(400, "invalid_frame", "a call has an `id` of its own")
    if not isinstance(method, str) or not isinstance(params, dict):
        raise Problem(400, "invalid_frame", "a call names its `method`, and has `params` that are an object")
    return Frame(identifier, method, params)


def _secret(scope: Scope) -> bytes:
    headers: dict[bytes, bytes] = dict(scope["headers"])
    kind, _, secret = headers.get(b"authorization", b"").partition(b" ")
    if kind.lower() != b"bearer" or not secret:
        raise TokenInvalidError("send a token as `Authorization: Bearer …`")
    return secret.strip()
