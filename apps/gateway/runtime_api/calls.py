"""`POST /api/v1/calls` and `GET /api/v1/calls/{id}`: run a tool, or ask how a call went."""

import hashlib
import time
from dataclasses import dataclass
from typing import Any

import orjson

from apps.accounts.access import Permission
from apps.firewall.identifiers import new_id, read_id
from apps.firewall.runtime.call import Call
from apps.gateway.errors import CallNotFoundError
from apps.gateway.lifecycle import Gateway
from apps.gateway.runtime_api.http import Request, mistakes
from apps.gateway.runtime_api.performing import follow, perform
from apps.gateway.runtime_api.reading import (
    Asker,
    Details,
    environment_of,
    query_number,
    read_asker,
    read_key,
    require,
    whole_number,
)
from apps.gateway.tokens import TokenGrant

WAIT_LIMIT_MS = 30_000
MEMBERS = frozenset({"agent", "session", "tool", "params", "context", "wait_ms", "idempotency", "environment"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A call as it was sent."""

    asker: Asker
    params: dict[str, Any]
    wait_ms: int
    key: str
    body_digest: str


async def make(current: Gateway, grant: TokenGrant, request: Request, _: str) -> tuple[int, Any]:
    """Start a call and wait for its end as long as the caller wants; it goes on without a listener."""
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
        id=new_id(),
    )
    performed = await perform(current, grant, call, key=order.key, body_digest=order.body_digest, deadline=deadline)
    return performed.status, performed.content


async def read(current: Gateway, grant: TokenGrant, request: Request, identifier: str) -> tuple[int, Any]:
    """Tell how a call went, waiting for its end when asked to; also after a restart, then from the record."""
    require(grant, Permission.CALLS_MAKE)
    wait_ms = query_number(request.scope["query_string"], "wait", default=0, maximum=WAIT_LIMIT_MS)
    try:
        call_id = read_id("call", identifier)
    except ValueError:
        raise CallNotFoundError("no such call") from None
    return await follow(current, grant, call_id, time.monotonic() + wait_ms / 1000)


def _read(grant: TokenGrant, body: dict[str, Any], request: Request) -> Order:
    details: Details = [
        {"path": name, "code": "unknown_field", "message": f"`{name}` is not part of a call"}
        for name in sorted(body.keys() - MEMBERS)
    ]
    asker = read_asker(grant, body, details)
    params = body.get("params", {})
    if not isinstance(params, dict):
        details.append({"path": "params", "code": "invalid", "message": "`params` must be an object"})
    wait_ms = whole_number(body.get("wait_ms"), "wait_ms", details, default=WAIT_LIMIT_MS, maximum=WAIT_LIMIT_MS)
    key = read_key(body, request, details)
    if details or asker is None:
        raise mistakes(details)
    meant = {name: body.get(name) for name in sorted(MEMBERS - {"wait_ms", "idempotency"})}
    digest = hashlib.sha256(orjson.dumps(meant, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return Order(asker=asker, params=params, wait_ms=wait_ms, key=key, body_digest=digest)
