"""`POST /api/v1/rpc/<name>`: one call, the params in the body."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from apps.gateway.lifecycle import Gateway
from apps.gateway.rpc.methods import Asking, call, require_scope
from apps.gateway.runtime_api.http import Request
from apps.gateway.tokens import TokenGrant


def answering(method: str) -> Callable[[Gateway, TokenGrant, Request, str], Awaitable[tuple[int, Any]]]:
    """Make the endpoint of a method; it waits for half a minute at most."""

    async def post(current: Gateway, grant: TokenGrant, request: Request, _: str) -> tuple[int, Any]:
        require_scope(grant, method)
        secret = request.headers[b"authorization"].partition(b" ")[2].strip()  # it was let through with this one
        find = partial(current.tokens.find, secret)
        asking = Asking(current=current, grant=grant, find=find, trace_id=request.trace_id)
        return 200, await call(asking, method, await request.json())

    return post
