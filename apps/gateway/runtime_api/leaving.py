"""Notices that the caller of a request goes away, once for everything that is done for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from apps.gateway.runtime_api.http import Problem, Request


class Departure:
    """Whether a caller has gone; nobody is told where it makes no difference."""

    def __init__(self) -> None:
        self._gone = asyncio.Event()

    async def wait(self) -> None:
        """Return when the caller has gone."""
        await self._gone.wait()

    def check(self) -> None:
        """Let through what may still begin.

        Raises:
            Problem: nobody waits for it any more.
        """
        if self._gone.is_set():
            raise Problem(400, "disconnected", "the client went away before its request was answered")

    async def watch(self, request: Request) -> None:
        """Wait for the caller of a request to go."""
        await request.gone()
        self._gone.set()


@asynccontextmanager
async def departure_of(request: Request, *, matters: bool) -> AsyncIterator[Departure | None]:
    """Watch the caller of a request for as long as the block runs; None where its going changes nothing."""
    if not matters:
        yield None
        return
    departure = Departure()
    watching = asyncio.ensure_future(departure.watch(request))
    try:
        yield departure
    finally:
        watching.cancel()
