"""Hearing notices: one connection of its own per process, on the server's event loop."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import structlog
from django.db import connections
from psycopg import sql

from apps.events.notices import CHANNEL, RECONNECTED, Notice
from apps.events.waiters import waiters

log = structlog.get_logger(__name__)

Callback = Callable[[Notice], Awaitable[None] | None]
BACK_OFF_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
ALIVE_EVERY_S = 30.0

_subscribers: list[Callback] = []


def subscribe(callback: Callback) -> Callable[[], None]:
    """Have a function, plain or async, called on the listener's loop with every notice.

    It also hears `listener.reconnected` after each (re)connect: whatever it caches must then be read again.
    A callback that fails is logged and stays subscribed. Callbacks run one after the other: none may wait long.

    Returns:
        A function that ends the subscription.
    """
    _subscribers.append(callback)

    def unsubscribe() -> None:
        if callback in _subscribers:
            _subscribers.remove(callback)

    return unsubscribe


subscribe(waiters.hear)


class Listener:
    """The one listening connection of a process. Start it in the ASGI lifespan, stop it there.

    A pooler in transaction mode between here and PostgreSQL would break LISTEN: give a direct address.
    """

    def __init__(self, *, alias: str = "default") -> None:
        self._alias = alias
        self._task: asyncio.Task[None] | None = None
        self._is_connected = asyncio.Event()

    @property
    def is_connected(self) -> bool:
        """Say whether notices arrive now; readiness asks it."""
        return self._is_connected.is_set()

    async def start(self) -> None:
        """Begin to listen; returns at once, the connection is made and made again in the background."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="events listener")

    async def wait_connected(self, *, timeout_s: float) -> bool:
        """Wait for the connection.

        Returns:
            False when it did not stand in this time.
        """
        try:
            async with asyncio.timeout(timeout_s):
                await self._is_connected.wait()
        except TimeoutError:
            return False
        return True

    async def stop(self) -> None:
        """End listening and close the connection."""
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        self._is_connected.clear()

    async def _run(self) -> None:
        failures = 0
        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError) as exc:
                wait_s = BACK_OFF_S[min(failures, len(BACK_OFF_S) - 1)]
                failures = 0 if self.is_connected else failures + 1
                log.warning("listener.lost", error=type(exc).__name__, again_in_s=wait_s)
            else:
                wait_s = BACK_OFF_S[0]
            self._is_connected.clear()
            await asyncio.sleep(wait_s)

    async def _listen(self) -> None:
        connection = await psycopg.AsyncConnection.connect(**self._parameters(), autocommit=True)
        async with connection:
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANNEL)))
            self._is_connected.set()
            await deliver(Notice(RECONNECTED, ""))
            while True:
                async for message in connection.notifies(timeout=ALIVE_EVERY_S):
                    notice = Notice.from_text(message.payload)
                    if notice is not None:
                        await deliver(notice)
                # Silence: a dead peer answers no query, so ask one.
                async with asyncio.timeout(BACK_OFF_S[-1]):
                    await connection.execute("SELECT 1")

    def _parameters(self) -> dict[str, Any]:
        parameters = dict(connections[self._alias].get_connection_params())
        for ours in ("cursor_factory", "context", "prepare_threshold"):
            parameters.pop(ours, None)
        return parameters | {"application_name": "openclaw_admin listener", "connect_timeout": 5}


async def deliver(notice: Notice) -> None:
    """Hand a notice to every subscriber of this process; one that fails does not keep it from the others."""
    for callback in tuple(_subscribers):
        try:
            answer = callback(notice)
            if inspect.isawaitable(answer):
                await answer
        except Exception:  # a subscriber's mistake must not end listening for all
            log.exception("listener.subscriber_failed", kind=notice.kind, subscriber=repr(callback))
