"""`POST /api/v1/calls`, `GET` and `DELETE /api/v1/calls/{id}`: run a tool, ask how a call went, end it."""

import hashlib
import time
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from apps.accounts.access import Permission
from apps.firewall.identifiers import new_id, read_id
from apps.firewall.runtime.call import Call, Deferral
from apps.gateway.errors import CallNotFoundError
from apps.gateway.lifecycle import Gateway
from apps.gateway.runtime_api import performing
from apps.gateway.runtime_api.deferring import read_deferral, read_disconnect
from apps.gateway.runtime_api.http import Request, mistakes
from apps.gateway.runtime_api.performing import follow, perform
from apps.gateway.runtime_api.reading import (
    Asker,
    Details,
    environment_of,
    query_number,
    read_asker,
    read_key,
    read_run,
    require,
    whole_number,
)
from apps.gateway.tokens import TokenGrant

WAIT_LIMIT_MS = 30_000
NEWS_MAXIMUM = 999_999_999
END_WAIT_MS = 5_000
MEANT = frozenset({"agent", "session", "tool", "params", "context", "environment"})
MEANT_WHERE_GIVEN = frozenset({"mode", "callback", "run"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A call as it was sent."""

    asker: Asker
    params: dict[str, Any]
    run: str
    wait_ms: int
    key: str
    body_digest: str
    deferral: Deferral | None
    ends_with_caller: bool


async def make(current: Gateway, grant: TokenGrant, request: Request, _: str) -> tuple[int, Any]:
    """Start a call and wait for its end as long as the caller wants, or queue it and answer at once."""
    require(grant, Permission.CALLS_MAKE)
    body = await request.json()
    environment = environment_of(current, grant, body)
    order = _read(grant, body, request)
    deadline = time.monotonic() + order.wait_ms / 1000
    call = Call(
        environment=environment,
        agent=order.asker.agent,
        tool=order.asker.tool,
        params=order.params,
        context=order.asker.context,
        actor=grant.actor,
        requester=grant.requester,
        trace_id=request.trace_id,
        run=order.run,
        deferral=order.deferral,
        id=new_id(),
    )
    performed = await perform(
        current,
        grant,
        call,
        key=order.key,
        body_digest=order.body_digest,
        deadline=deadline,
        gone=request.gone if order.ends_with_caller else None,
    )
    return performed.status, performed.content


async def read(current: Gateway, grant: TokenGrant, request: Request, identifier: str) -> tuple[int, Any]:
    """Tell how a call went, waiting for its end when asked to; also after a restart, then from the record."""
    require(grant, Permission.CALLS_MAKE)
    wait_ms = query_number(request.scope["query_string"], "wait", default=0, maximum=WAIT_LIMIT_MS)
    after = query_number(request.scope["query_string"], "after", default=-1, maximum=NEWS_MAXIMUM)
    until = time.monotonic() + wait_ms / 1000
    return await follow(current, grant, _call_id(identifier), until, after=None if after < 0 else after)


async def end(current: Gateway, grant: TokenGrant, request: Request, identifier: str) -> tuple[int, Any]:
    """End a call of this token, in whatever process it runs; one that has ended stays as it is."""
    require(grant, Permission.CALLS_MAKE)
    wait_ms = query_number(request.scope["query_string"], "wait", default=END_WAIT_MS, maximum=WAIT_LIMIT_MS)
    return await performing.end(current, grant, _call_id(identifier), time.monotonic() + wait_ms / 1000)


def _call_id(identifier: str) -> UUID:
    try:
        return read_id("call", identifier)
    except ValueError:
        raise CallNotFoundError("no such call") from None


def _read(grant: TokenGrant, body: dict[str, Any], request: Request) -> Order:
    details: Details = []
    asker = read_asker(grant, body, details)
    params = body.get("params", {})
    if not isinstance(params, dict):
        details.append({"path": "params", "code": "invalid", "message": "`params` must be an object"})
    deferral = read_deferral(body, details)
    wait_default = WAIT_LIMIT_MS if deferral is None else 0
    wait_ms = whole_number(body.get("wait_ms"), "wait_ms", details, default=wait_default, maximum=WAIT_LIMIT_MS)
    key = read_key(body, request, details)
    run = read_run(body, details)
    ends_with_caller = read_disconnect(body, details, default=not key and deferral is None)
    if details or asker is None:
        raise mistakes(details)
    meant = {name: body.get(name) for name in MEANT} | {name: body[name] for name in MEANT_WHERE_GIVEN & body.keys()}
    digest = hashlib.sha256(orjson.dumps(meant, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return Order(
        asker=asker,
        params=params,
        run=run,
        wait_ms=wait_ms,
        key=key,
        body_digest=digest,
        deferral=deferral,
        ends_with_caller=ends_with_caller,
    )
