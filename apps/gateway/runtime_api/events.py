"""`wss …/api/v1/calls/{id}/events`: each change of a call as `GET /calls/{id}` tells it, until its end."""

import asyncio
import re
import time
from typing import Any

import orjson
import structlog
from django.db import InterfaceError, OperationalError

from apps.accounts.access import Permission
from apps.accounts.errors import PermissionDeniedError, TokenInvalidError
from apps.firewall.identifiers import read_id
from apps.gateway.errors import CallNotFoundError
from apps.gateway.lifecycle import Gateway, gateway
from apps.gateway.runtime_api.http import Receive, Scope, Send
from apps.gateway.runtime_api.performing import changes
from apps.gateway.runtime_api.reading import require
from apps.gateway.tokens import TokenGrant

log = structlog.get_logger(__name__)

PATH = re.compile(r"/api/v1/calls/(?P<id>[^/]+)/events")
NO_TOKEN, NOT_ALLOWED, NOT_FOUND, TOO_MANY, TROUBLE, ENDED = 4401, 4403, 4404, 4429, 1011, 1000
CODES: dict[type[Exception], int] = {
    TokenInvalidError: NO_TOKEN,
    PermissionDeniedError: NOT_ALLOWED,
    CallNotFoundError: NOT_FOUND,
}


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve one socket: the token stands in the header `Authorization`, as everywhere at this door."""
    await receive()
    await send({"type": "websocket.accept"})  # a close before it would reach the caller without its code
    telling = asyncio.ensure_future(_tell(scope, send))
    leaving = asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait({telling, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if telling.done():
            await send({"type": "websocket.close", "code": telling.result()})
    finally:
        telling.cancel()
        leaving.cancel()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "websocket.disconnect":
        pass


async def _tell(scope: Scope, send: Send) -> int:
    """Send every change, and give the code to close with."""
    try:
        current = gateway()
        grant = await _grant(current, scope)
        if grant.bucket.take(time.monotonic()):
            return TOO_MANY
        require(grant, Permission.CALLS_MAKE)
        async for content in changes(current, grant, _call_id(scope)):
            await send({"type": "websocket.send", "text": orjson.dumps(content).decode()})
    except tuple(CODES) as exc:
        return CODES[type(exc)]
    except (OperationalError, InterfaceError, RuntimeError) as exc:
        log.warning("call_events.failed", error=type(exc).__name__)
        return TROUBLE
    return ENDED


async def _grant(current: Gateway, scope: Scope) -> TokenGrant:
    headers: dict[bytes, bytes] = dict(scope["headers"])
    kind, _, secret = headers.get(b"authorization", b"").partition(b" ")
    if kind.lower() != b"bearer" or not secret:
        raise TokenInvalidError("send a token as `Authorization: Bearer …`")
    return await current.tokens.find(secret.strip())


def _call_id(scope: Scope) -> Any:
    match = PATH.fullmatch(scope["path"])
    try:
        return read_id("call", match["id"] if match else "")
    except ValueError:
        raise CallNotFoundError("no such call") from None
