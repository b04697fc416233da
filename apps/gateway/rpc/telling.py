"""Telling the sockets of this process what is asked and answered: `{"type": "event", "event", "payload", "seq"}`.

A socket hears of what its token may list, by `may_list`. What it hears is read anew from the row, once for all of them.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final
from uuid import UUID

import orjson
import structlog

from apps.accounts.errors import TokenInvalidError
from apps.approvals.models import Approval
from apps.events.notices import Notice
from apps.events.outbox import Outbox
from apps.gateway.requests import LiveRequests
from apps.gateway.rpc.shown import milliseconds, request_shown
from apps.gateway.seeing import may_list
from apps.gateway.tokens import TokenGrant

log = structlog.get_logger(__name__)

REQUESTED, RESOLVED = "exec.approval.requested", "exec.approval.resolved"
EVENTS: Final = {"approval.requested": REQUESTED, "approval.resolved": RESOLVED}
LAG_LIMIT = 200
"""Events that may wait for one socket; each may hold a long command."""


class Listener:
    """One socket: who it is now, and what it is still to be told.

    Args:
        find: gives the grant of its token as it is now; it raises when there is none any more.
    """

    def __init__(
        self,
        find: Callable[[], Awaitable[TokenGrant]],
        send: Callable[[str], Awaitable[None]],
        let_go: Callable[[], Awaitable[None]],
    ) -> None:
        self.find = find
        self.outbox = Outbox(send, let_go, limit=LAG_LIMIT)
        self._told = 0

    def tell(self, event: str, payload: str) -> None:
        """Send an event, numbered as the events of this socket are."""
        self._told += 1
        self.outbox.put(f'{{"type":"event","event":"{event}","payload":{payload},"seq":{self._told}}}')


class Listeners:
    """The sockets of this process. Events are told in the order in which they happened.

    Args:
        requests: where the row of an event is read, once for all of them.
    """

    def __init__(self, requests: LiveRequests) -> None:
        self._requests = requests
        self._listeners: set[Listener] = set()
        self._news: deque[Notice] = deque()
        self._teller: asyncio.Task[None] | None = None

    def join(self, listener: Listener) -> None:
        self._listeners.add(listener)

    def leave(self, listener: Listener) -> None:
        """Tell a socket nothing more."""
        self._listeners.discard(listener)
        listener.outbox.close()

    def hear(self, notice: Notice) -> None:
        """Take a notice; sockets hear of it once its row was read."""
        if notice.kind not in EVENTS or not self._listeners:
            return
        self._news.append(notice)
        if self._teller is None:
            self._teller = asyncio.create_task(self._tell_all(), name="rpc events")

    def stop(self) -> None:
        """Tell nobody anything more."""
        if self._teller is not None:
            self._teller.cancel()

    async def _tell_all(self) -> None:
        try:
            while self._news:
                await self._tell(self._news.popleft())
        finally:
            self._teller = None

    async def _tell(self, notice: Notice) -> None:
        try:
            approval = await self._requests.now(UUID(notice.id))
        except Exception as exc:  # noqa: BLE001 - the database may be away; who listens lists anew
            log.warning("rpc_events.untold", kind=notice.kind, error=type(exc).__name__)
            return
        event = EVENTS[notice.kind]
        if approval is None or approval.is_pending is not (event == REQUESTED):
            return  # what it was announced for is over: the next notice tells it as it is now
        payloads: dict[bool, str] = {}  # the id is another one for whoever asked
        for listener in tuple(self._listeners):
            actor = await _hearing(listener, approval)
            if actor is None:
                continue
            is_own = actor == approval.actor
            if is_own not in payloads:
                payloads[is_own] = orjson.dumps(_payload(approval, actor)).decode()
            listener.tell(event, payloads[is_own])


def _payload(approval: Approval, actor: str) -> dict[str, Any]:
    shown = request_shown(approval, actor)
    return shown if approval.is_pending else shown | {"ts": milliseconds(approval.decided_at)}


async def _hearing(listener: Listener, approval: Approval) -> str | None:
    """Name who hears of a request at a socket; None for whoever may not."""
    try:
        grant = await listener.find()
    except TokenInvalidError:
        return None  # its own task closes it when it next speaks
    except Exception as exc:  # noqa: BLE001 - nobody knows what it may: it hears nothing
        log.warning("rpc_events.unheard", error=type(exc).__name__)
        return None
    return grant.actor if may_list(grant, approval) else None
