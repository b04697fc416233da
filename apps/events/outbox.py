"""What one socket is still to be told. Nobody waits for a slow reader, and nothing is kept for it without an end."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from apps.events.eager import begin

LIMIT = 1000
"""Texts that may wait for one socket: more than a storm of requests says at once."""


class Outbox:
    """Sends texts to one socket in the order in which they were put; belongs to the event loop that made it.

    Args:
        send: sends one text; it may wait for the reader.
        let_go: closes the socket; called once, when its reader lags too far behind.
    """

    def __init__(
        self, send: Callable[[str], Awaitable[None]], let_go: Callable[[], Awaitable[None]], *, limit: int = LIMIT
    ) -> None:
        self._send = send
        self._let_go = let_go
        self._limit = limit
        self._waiting: deque[str] = deque()
        self._sending: asyncio.Task[None] | None = None
        self._leaving: asyncio.Task[None] | None = None
        self._is_closed = False

    def put(self, text: str) -> None:
        """Have a text sent; whoever does not read what it is told is let go, and asks anew when it comes back."""
        if self._is_closed:
            return
        self._waiting.append(text)
        if len(self._waiting) > self._limit:
            self.close()
            self._leaving = asyncio.create_task(self._quietly(self._let_go()))
        elif self._sending is None:
            self._sending = begin(self._drain())

    def close(self) -> None:
        """Send nothing more."""
        self._is_closed = True
        self._waiting.clear()
        if self._sending is not None:
            self._sending.cancel()

    async def _drain(self) -> None:
        try:
            while self._waiting:
                await self._quietly(self._send(self._waiting.popleft()))
        finally:
            self._sending = None

    async def _quietly(self, work: Awaitable[None]) -> None:
        try:
            await work
        except (OSError, RuntimeError):  # the reader is gone; its own task notices
            self._is_closed = True
            self._waiting.clear()
