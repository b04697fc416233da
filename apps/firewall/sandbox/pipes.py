"""A confined process that stays and is spoken with: its input and output as streams, its tree gone when we leave it."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from apps.firewall.sandbox.forkserver import forkserver
from apps.firewall.sandbox.limits import Limits
from apps.firewall.sandbox.process import Capture, Captured, Ended, order_of
from apps.firewall.sandbox.supervised import CHUNK_BYTES, Supervised

LEAVE_S = 0.3
WATCH_S = 0.1


class PipedProcess:
    """A running command.

    Its tree has ended when `ended` is set; `how` and `error` say how then, in the words of `ProcessResult`.
    """

    def __init__(self, supervised: Supervised, error_limit_bytes: int) -> None:
        self.ended = asyncio.Event()
        self.how: Ended = "lost"
        self.exit_code: int | None = None
        self.signal: int | None = None
        self.error = ""
        self._supervised = supervised
        self._errors = Capture(error_limit_bytes)
        self._keeping = asyncio.create_task(self._keep_errors())

    async def read(self) -> bytes:
        """Wait for the next part of the output, at most `CHUNK_BYTES`; empty when there will be none."""
        return await self._supervised.stdout.read(CHUNK_BYTES)

    async def write(self, content: bytes) -> None:
        """Hand something to the input.

        Raises:
            ConnectionError: the command does not read any more.
        """
        stream = self._supervised.stdin
        if stream is None or stream.is_closing():
            raise BrokenPipeError("the input is closed")
        stream.write(content)
        await stream.drain()

    def errors(self) -> Captured:
        """Give what it said on its error stream so far: the beginning and the end."""
        return self._errors.kept()

    def end(self) -> None:
        """Have its tree ended at once; `ended` is set when it is gone."""
        self._supervised.ask_to_end()

    async def follow(self) -> None:
        """Wait for the report. For `piped_process` only."""
        await self._supervised.hand_over()
        report = await self._supervised.report()
        self.how = report.get("ended", "lost")
        self.exit_code, self.signal = report.get("exit_code"), report.get("signal")
        self.error = report.get("error", "")
        self.ended.set()

    async def leave(self) -> None:
        """Close the input, wait a moment for it to end by itself, then end the tree. For `piped_process` only."""
        if self._supervised.stdin is not None:
            self._supervised.stdin.close()
        draining = asyncio.create_task(self._drain())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_S):
                await self.ended.wait()
        await self._supervised.end()
        await asyncio.gather(draining, self._keeping)

    async def _drain(self) -> None:
        """Read to the end: whoever writes to a full pipe cannot end, and an unread one is never seen to close."""
        with contextlib.suppress(RuntimeError):  # another reader waits for the same end
            while await self.read():
                pass

    async def _keep_errors(self) -> None:
        while part := await self._supervised.stderr.read(CHUNK_BYTES):
            self._errors.add(part)


@contextlib.asynccontextmanager
async def piped_process(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    limits: Limits,
    time_limit_s: float,
    error_limit_bytes: int,
    **held: Any,
) -> AsyncIterator[PipedProcess]:
    """Run a command and speak with it while the block lasts; after it the whole tree has ended.

    It is held as `run_process` says, whose arguments these are. That it could not start is no error of this block:
    its output is empty then, and it has ended.

    Args:
        time_limit_s: after which it is ended, however busy it is.
        error_limit_bytes: kept of the error stream.
        held: what `order_of` takes, too.
    """
    order = order_of(argv, cwd=cwd, env=env, limits=limits, time_limit_s=time_limit_s, **held)
    supervised = Supervised.begin(forkserver(), {**order, "watch_s": WATCH_S}, has_input=True)
    process = PipedProcess(supervised, error_limit_bytes)
    following = asyncio.create_task(process.follow())
    try:
        yield process
    finally:
        await asyncio.shield(_end(process, following, order["temporary"]))


async def _end(process: PipedProcess, following: asyncio.Task[None], temporary: str) -> None:
    await process.leave()
    await following
    if Path(temporary).exists():  # the supervisor was killed, or could not
        await asyncio.to_thread(shutil.rmtree, temporary, ignore_errors=True)
