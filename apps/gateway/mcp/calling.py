"""One call of a tool through MCP: made as every other call, told of while it runs, gone on with when it is repeated."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from uuid import UUID, uuid5

import orjson
from django.utils import timezone

from apps.events.listener import subscribe
from apps.events.notices import Notice, announce
from apps.firewall.runtime.call import Call
from apps.firewall.tools.wire_names import NameRule, tool_behind
from apps.gateway.database import in_database
from apps.gateway.errors import CallNotFoundError
from apps.gateway.lifecycle import Gateway
from apps.gateway.mcp.answers import AWAITING
from apps.gateway.runtime_api import performing
from apps.gateway.runtime_api.http import Request
from apps.gateway.runtime_api.performing import Performed, end_unheard, follow, perform
from apps.gateway.services import slot_find, slot_free, slot_keep
from apps.gateway.tokens import TokenGrant
from apps.gateway.tool_runs.calls import Meant, begun, call_of, meant_by
from apps.gateway.tool_runs.surface import surface_of
from apps.runs.models import ToolRun

NAMES: Final = NameRule("A-Za-z0-9_.-", "A-Za-z0-9_.-", 128, "letters, digits, `_`, `-` and `.`, at most 128")
"""Source: Model Context Protocol, revision 2025-11-25, "Tool names"."""

CANCELLED: Final = "mcp_request.cancelled"
NEWS_S: Final = 5.0
LATE_S: Final = 1.0
Tell = Callable[[float, float | None, str | None], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Whose request it is, and of which run.

    Args:
        leaves_with_client: a client cancels by closing the answer, and not by a message.
    """

    current: Gateway
    grant: TokenGrant
    request: Request
    run: ToolRun
    wait_ms: int
    leaves_with_client: bool


class Cancels:
    """Requests of this process that their clients may still take back, wherever the message about it arrives."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = {}

    @asynccontextmanager
    async def of(self, identifier: UUID) -> AsyncIterator[asyncio.Event]:
        """Give what is set when a request is taken back."""
        key, event = str(identifier), asyncio.Event()
        self._waiting.setdefault(key, set()).add(event)
        try:
            yield event
        finally:
            self._waiting[key].discard(event)
            if not self._waiting[key]:
                del self._waiting[key]

    def hear(self, notice: Notice) -> None:
        """Take back the request that a notice names."""
        if notice.kind == CANCELLED:
            for event in self._waiting.get(notice.id, ()):
                event.set()


cancels = Cancels()
subscribe(cancels.hear)


def request_key(run: ToolRun, request_id: object) -> UUID:
    """Name a request of a run for every process."""
    return uuid5(run.pk, orjson.dumps(request_id).decode())


async def cancel(run: ToolRun, request_id: object) -> None:
    """Take a request of a run back, in whatever process it is answered."""
    key = request_key(run, request_id)
    cancels.hear(Notice(CANCELLED, str(key)))
    await in_database(announce, CANCELLED, id=key, environment=run.environment.slug)


@dataclass(slots=True, kw_only=True)
class Calling:
    """One call, from its client's request to its answer.

    Args:
        tell: tells the client how far the call has come; None where it did not ask.
    """

    door: Door
    tell: Tell | None
    until: float
    call: Call | None = None
    known: UUID | None = None
    told: float = 0.0
    number: int = 0
    is_taken_back: bool = False

    async def make(self, name: str, arguments: dict[str, Any]) -> Performed:
        """Make the call, or go on with the one that its client was told to repeat; return when it has ended.

        A call that waits for a person is left waiting when its time is over.
        """
        door = self.door
        meant = await _meant(door, name, arguments)
        key = _key(door.run, meant)
        left = await in_database(slot_find, door.grant.token_id, key)
        performed = await self._began(meant) if left is None else await self._went_on(left)
        performed = await self._ended(performed)
        if performed.status == 202:
            token_id, call_id = door.grant.token_id, performed.call_id
            await in_database(slot_keep, token_id, key=key, call_id=call_id, at=timezone.now())
        elif left is not None:
            await in_database(slot_free, door.grant.token_id, key)
        return performed

    async def end(self) -> None:
        """End the call: its client does not want it any more."""
        self.is_taken_back = True
        door, call_id = self.door, self.known or (self.call.id if self.call is not None else None)
        if call_id is None:
            return
        try:
            await performing.end(door.current, door.grant, call_id, time.monotonic())
        except CallNotFoundError:  # it is not on record yet
            if self.call is not None:
                await end_unheard(door.current, door.grant, self.call)

    async def _began(self, meant: Meant) -> Performed:
        door = self.door
        self.call = call_of(door.run, door.grant, meant, trace_id=door.request.trace_id)
        return await perform(
            door.current,
            door.grant,
            self.call,
            key="",
            body_digest="",
            deadline=self._deadline(),
            begin=partial(begun, door.run, meant),
        )

    async def _went_on(self, call_id: UUID) -> Performed:
        self.known = call_id
        return Performed(call_id, *await follow(self.door.current, self.door.grant, call_id, self._deadline()))

    async def _ended(self, performed: Performed) -> Performed:
        door = self.door
        while performed.status == 202:
            if self.is_taken_back and self.known != performed.call_id:
                await performing.end(door.current, door.grant, performed.call_id, time.monotonic())
            self.known = performed.call_id
            await self._news(performed.content)
            if performed.content["status"] == AWAITING and time.monotonic() >= self.until:
                break
            after = None if self.tell is None else self.number
            status, content = await follow(door.current, door.grant, performed.call_id, self._deadline(), after=after)
            performed = Performed(performed.call_id, status, content)
        return performed

    def _deadline(self) -> float:
        """Say until when to wait before looking again at how it stands, and telling the client."""
        now = time.monotonic()
        return now + LATE_S if now >= self.until else min(self.until, now + NEWS_S)

    async def _news(self, content: dict[str, Any]) -> None:
        if self.tell is None:
            return
        news = content.get("progress", {})
        self.number = max(self.number, int(news.get("number", 0)))
        done, total = news.get("done"), news.get("total")
        message = news.get("message") or content["status"]
        if content["status"] == AWAITING:
            message = f"waits for a person: {content.get('approval', {}).get('id', '')}"
        is_further = isinstance(done, int | float) and done > self.told
        self.told = float(done) if is_further else self.told + 1
        await self.tell(self.told, total if is_further else None, str(message))


async def called(
    door: Door, name: str, arguments: dict[str, Any], *, request_id: object, tell: Tell | None
) -> Performed:
    """Make a call for a client, and end it when the client takes it back."""
    calling = Calling(door=door, tell=tell, until=time.monotonic() + door.wait_ms / 1000)
    async with cancels.of(request_key(door.run, request_id)) as taken_back:
        making = asyncio.ensure_future(calling.make(name, arguments))
        leaving = asyncio.ensure_future(taken_back.wait())
        try:
            await asyncio.wait({making, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not making.done():
                await calling.end()
            return await making
        except asyncio.CancelledError:
            if door.leaves_with_client:
                door.current.desk.background(calling.end())
            making.cancel()
            raise
        finally:
            leaving.cancel()


async def _meant(door: Door, name: str, arguments: dict[str, Any]) -> Meant:
    surface = await surface_of(door.current, door.run)
    catalogue = surface.catalogue
    known = () if catalogue is None else tuple(each.name for each in catalogue.tools.descriptors)
    return meant_by(surface, tool_behind(name, known, NAMES), arguments)


def _key(run: ToolRun, meant: Meant) -> str:
    """Name a call by what it means, for the one that is made again because a person had to allow it first."""
    meaning = [run.shown_id, meant.tool, meant.params, meant.unreadable]
    return f"mcp {hashlib.sha256(orjson.dumps(meaning, option=orjson.OPT_SORT_KEYS)).hexdigest()}"
