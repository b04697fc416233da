"""Connections that stay open between calls, closed when nobody uses them: each session has its own to a source as it is
set now, so that what a server remembers of one is not told to another."""

import asyncio
import contextlib
import hashlib
import importlib
import json
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from apps.firewall.tools.connections import Connection
from apps.firewall.tools.mcp.errors import McpBusyError

if TYPE_CHECKING:
    from apps.firewall.tools.mcp.client import McpClient

CLIENT: Final = "apps.firewall.tools.mcp.client"
START_S: Final = 20.0
IDLE_S: Final = 60.0
AGE_LIMIT_S: Final = 1800.0  # half of what a process may live, so that none ends under a call
OPEN_LIMIT: Final = 32


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose calls a connection serves: those of one session, or with no session those of the whole environment."""

    environment: str
    agent: str = ""
    session: str = ""

    @classmethod
    def of(cls, environment: str, agent: str, session: str | None) -> "Owner":
        """Name the owner for a call; a session is an agent's own."""
        return cls(environment, agent, session) if session else cls(environment)


def start_limit_s(connection: Connection) -> float:
    """Tell how long a server may take until it has greeted: `start_timeout_ms` of its settings, else `START_S`."""
    stated = connection.settings.get("start_timeout_ms")
    return stated / 1000 if type(stated) is int and stated > 0 else START_S


async def new_client(connection: Connection) -> "McpClient":
    """Make a client, not yet open. What speaks the protocol takes a second to import, so not in the loop's thread."""
    module: Any = await asyncio.to_thread(importlib.import_module, CLIENT)
    made: McpClient = module.McpClient(connection)
    return made


@contextlib.asynccontextmanager
async def opened(connection: Connection, *, timeout_s: float = START_S) -> AsyncIterator["McpClient"]:
    """Speak with a server while the block lasts.

    Raises:
        McpError: it could not be opened.
    """
    client = await new_client(connection)
    await client.start(timeout_s=timeout_s)
    try:
        yield client
    finally:
        await asyncio.shield(client.stop())


@dataclass(slots=True, eq=False)
class _Kept:
    """One client; `opening` ends when it is open, or could not be. `old_at` is in the loop's time."""

    owner: Owner
    opening: asyncio.Task["McpClient"]
    old_at: float
    users: int = 0
    is_suspect: bool = False
    timer: asyncio.TimerHandle | None = None

    @property
    def client(self) -> "McpClient | None":
        failed = not self.opening.done() or self.opening.cancelled() or self.opening.exception() is not None
        return None if failed else self.opening.result()

    @property
    def is_usable(self) -> bool:
        if self.is_suspect or asyncio.get_running_loop().time() > self.old_at:
            return False
        client = self.client
        return not self.opening.done() or (client is not None and client.is_alive)


class McpSessions:
    """At most `OPEN_LIMIT` connections of one event loop.

    A server that died, did not answer in time or is old is not used again: the next call has a fresh one. Changed
    settings or secrets make another connection.
    """

    def __init__(self, *, idle_s: float = IDLE_S, age_s: float = AGE_LIMIT_S, limit: int = OPEN_LIMIT) -> None:
        self._idle_s = idle_s
        self._age_s = age_s
        self._limit = limit
        self._kept: dict[str, _Kept] = {}
        self._closing: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def client(self, owner: Owner, connection: Connection, *, timeout_s: float) -> AsyncIterator["McpClient"]:
        """Lend the open connection of a session to a source.

        Raises:
            McpError: it could not be opened, or as many as may be are in use.
        """
        key = _key(owner, connection)
        kept = self._take(key, owner, connection, timeout_s)
        try:
            yield await asyncio.shield(kept.opening)
        finally:
            self._give_back(key, kept)

    def distrust(self, client: "McpClient") -> None:
        """Use a connection no more once its present users are done."""
        for kept in self._kept.values():
            if kept.client is client:
                kept.is_suspect = True

    def end(self, owners: Collection[Owner]) -> None:
        """Close the connections of sessions that were ended; those in use fail for their users."""
        for key, kept in list(self._kept.items()):
            if kept.owner in owners:
                self._drop(key, kept)

    async def close(self) -> None:
        """Close all; those in use fail for their users."""
        for key, kept in list(self._kept.items()):
            self._drop(key, kept)
        while self._closing:
            await asyncio.wait(set(self._closing))

    def _take(self, key: str, owner: Owner, connection: Connection, timeout_s: float) -> _Kept:
        kept = self._kept.get(key)
        if kept is None or not kept.is_usable:
            if kept is not None:
                self._forget(key, kept)
            self._make_room()
            old_at = asyncio.get_running_loop().time() + self._age_s
            kept = self._kept[key] = _Kept(owner, asyncio.create_task(_open(connection, timeout_s)), old_at)
        kept.users += 1
        if kept.timer is not None:
            kept.timer.cancel()
        return kept

    def _give_back(self, key: str, kept: _Kept) -> None:
        kept.users -= 1
        if kept.users:
            return
        if self._kept.get(key) is kept and kept.is_usable:
            kept.timer = asyncio.get_running_loop().call_later(self._idle_s, self._drop, key, kept)
        else:
            self._drop(key, kept)

    def _make_room(self) -> None:
        idle = [(key, kept) for key, kept in self._kept.items() if not kept.users]
        if len(self._kept) >= self._limit and idle:
            self._drop(*idle[0])
        if len(self._kept) >= self._limit:
            raise McpBusyError(f"{self._limit} servers are in use already")

    def _forget(self, key: str, kept: _Kept) -> None:
        """Keep no longer; whoever uses it still ends it."""
        if not kept.users:
            self._drop(key, kept)
        elif self._kept.get(key) is kept:
            del self._kept[key]

    def _drop(self, key: str, kept: _Kept) -> None:
        if self._kept.get(key) is kept:
            del self._kept[key]
        if kept.timer is not None:
            kept.timer.cancel()
        closing = asyncio.create_task(_close(kept.opening))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)


async def _open(connection: Connection, timeout_s: float) -> "McpClient":
    client = await new_client(connection)
    await client.start(timeout_s=timeout_s)
    return client


async def _close(opening: asyncio.Task["McpClient"]) -> None:
    if not opening.done():
        opening.cancel()
    await asyncio.wait({opening})
    if not opening.cancelled() and opening.exception() is None:
        await opening.result().stop()


def _key(owner: Owner, connection: Connection) -> str:
    """Name a connection by all that makes it, secrets included, without keeping them."""
    made_of = [
        *(
            owner.environment,
            owner.agent,
            owner.session,
            connection.source,
            connection.kind,
            connection.url,
            connection.cwd,
            connection.ca,
        ),
        *(list(connection.command), dict(connection.env), dict(connection.headers), repr(connection.rules)),
        {name: value for name, value in connection.settings.items() if name in {"limits", "network", "paths"}},
    ]
    text = json.dumps(made_of, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
