"""One command that may run on when its call has ended."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from apps.firewall.sandbox.leash import Leash
from apps.firewall.sandbox.process import ProcessResult, Watch
from apps.firewall.tools.background.transcript import Transcript

INSIST_S: Final = 5.0

Start: TypeAlias = Callable[[Watch, Leash], Awaitable[ProcessResult]]
"""Runs the command until its whole tree has ended; what it says goes through the watch."""


class HeldCommand:
    """A command and its task.

    Args:
        news: hears what it says while its call waits for it.
    """

    def __init__(self, start: Start, *, has_terminal: bool, news: Watch) -> None:
        self.transcript = Transcript()
        self.leash = Leash(has_terminal=has_terminal)
        self._news: Watch | None = news
        self._task = asyncio.ensure_future(start(self._watch, self.leash))

    def _watch(self, stream: str, part: bytes) -> bytes:
        self.transcript.add(stream, part)
        return part if self._news is None else self._news(stream, part)

    def let_go(self) -> None:
        """Tell nobody any more what it says: its call ends."""
        self._news = None

    async def wait(self, seconds: float | None = None) -> ProcessResult | None:
        """Wait until its tree has ended, at most so long; None when it runs on. Cancelling ends nothing.

        Raises:
            LauncherError: it could not be started.
        """
        done, _ = await asyncio.wait({self._task}, timeout=seconds)
        if not done:
            return None
        self.transcript.close()
        return self._task.result()

    async def end(self) -> None:
        """End its tree; returns when that is gone. Harmless when it has ended."""
        self.leash.end()
        if not (await asyncio.wait({self._task}, timeout=INSIST_S))[0]:
            self._task.cancel()
            await asyncio.wait({self._task})
