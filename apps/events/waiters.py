"""Waiting inside one process for a row to change, without polling and without losing a change.

The order that loses nothing: watch first, then read the row, then wait.

    async with waiters.watch(approval_id) as watch:
        while (row := await read(approval_id)).is_pending and await watch.changed(timeout_s=left):
            ...
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from apps.events.notices import RECONNECTED, Notice


class Watch:
    """One wait for one row. Belongs to the event loop that made it."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def wake(self) -> None:
        self._event.set()

    async def changed(self, *, timeout_s: float) -> bool:
        """Wait until the row may have changed since the last call.

        Returns:
            True: read the row again; False: nothing was heard in this time.
        """
        if timeout_s <= 0 and not self._event.is_set():
            return False
        try:
            async with asyncio.timeout(timeout_s):
                await self._event.wait()
        except TimeoutError:
            return False
        self._event.clear()
        return True


class Waiters:
    """All waits of one process, found by the id of the row they wait for."""

    def __init__(self) -> None:
        self._watches: dict[str, set[Watch]] = defaultdict(set)

    @asynccontextmanager
    async def watch(self, id: object) -> AsyncIterator[Watch]:  # noqa: A002 - as in Notice
        """Watch a row for as long as the block lasts."""
        key = str(id)
        watch = Watch()
        self._watches[key].add(watch)
        try:
            yield watch
        finally:
            self._watches[key].discard(watch)
            if not self._watches[key]:
                del self._watches[key]

    def hear(self, notice: Notice) -> None:
        """Wake who waits for the row of a notice; after a reconnect everybody reads again."""
        if notice.kind == RECONNECTED:
            woken = [watch for watches in self._watches.values() for watch in watches]
        else:
            woken = list(self._watches.get(notice.id, ()))
        for watch in woken:
            watch.wake()

    def __len__(self) -> int:
        return sum(len(watches) for watches in self._watches.values())


waiters = Waiters()
