"""Processes for code kept ready: each is used once, and another takes its place when the run is over."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Coroutine, Iterator
from typing import Any, Final

from apps.firewall.runtime.code_mode.crossing import Bridge, Crossing
from apps.firewall.runtime.code_mode.process import CodeProcess
from apps.firewall.runtime.code_mode.results import CodeResult, CodeUnavailableError, End, ended, threw
from apps.firewall.sandbox.levels import Offer, offer
from apps.firewall.sandbox.node import node_problem

SIZE: Final = 2
AT_ONCE: Final = 8
IDLE_S: Final = 600.0
CODE_LIMIT_BYTES: Final = 128 * 1024
TROUBLE_S: Final = 60.0
"""How long a process that could not be started stands for all: then starting one is tried again."""
CLOSED: Final = "code is not run any more: the server ends"


class CodePool:
    """Runs code of models, on one event loop.

    Args:
        size: processes kept ready once code has been run; they are let go when none is for a while.
        at_once: runs at once; a further one waits, within its time.
        offered: what the machine offers to hold them; it is found out when None.
    """

    def __init__(
        self, *, size: int = SIZE, at_once: int = AT_ONCE, idle_s: float = IDLE_S, offered: Offer | None = None
    ) -> None:
        self._size = size
        self._idle_s = idle_s
        self._offered = offered
        self._room = asyncio.Semaphore(at_once)
        self._ready: deque[CodeProcess] = deque()
        self._running: set[CodeProcess] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._runs: set[asyncio.Future[None]] = set()
        self._starting = 0
        self._trouble, self._trouble_until = "", 0.0
        self._rest: asyncio.TimerHandle | None = None
        self._is_closed = False

    def problem(self) -> str:
        """Say why code cannot be isolated here, so that none is run; empty when it can."""
        if self._is_closed:
            return CLOSED
        return node_problem(self._offered) or (self._trouble if time.monotonic() < self._trouble_until else "")

    async def run(self, code: str, bridge: Bridge, *, timeout_ms: int) -> CodeResult:
        """Run the body of an async JavaScript function; its process has ended when this returns or is cancelled.

        Args:
            bridge: serves what it asks for, in tasks of the caller's context; they have ended, too.
            timeout_ms: for all of it, with what it waits for.
        Raises:
            CodeUnavailableError: it cannot be isolated; nothing has run.
        """
        self._check()
        started = time.monotonic()
        refused = _refused(code)
        if refused is not None:
            return _result(refused, None, started)
        crossing: Crossing | None = None
        async with contextlib.AsyncExitStack() as held:
            held.enter_context(self._noted())
            try:
                async with asyncio.timeout(timeout_ms / 1000):
                    await held.enter_async_context(self._room)
                    process = await self._take()
                    held.push_async_callback(self._give_up, process)
                    crossing = process.crossing(bridge)
                    held.push_async_callback(crossing.cancel)
                    held.callback(process.kill)
                    end = await process.carry(code, crossing)
            except TimeoutError:
                end = ended("timed_out")
        return _result(end, crossing, started)

    async def warm(self) -> None:
        """Get as many processes ready as are kept, so that the first run finds one.

        Raises:
            CodeUnavailableError: none can be isolated.
        """
        self._check()
        self._fill()
        while self._starting and self._tasks:
            await asyncio.wait(set(self._tasks), return_when=asyncio.FIRST_COMPLETED)
        if not self._ready and self._trouble:
            raise CodeUnavailableError(self._trouble)

    async def close(self) -> None:
        """End all processes; code that runs is killed."""
        self._is_closed = True
        self._let_go()
        for process in self._running:
            process.kill()
        while left := {*self._tasks, *self._runs}:
            await asyncio.wait(left)

    def _check(self) -> None:
        problem = self.problem()
        if problem:
            raise CodeUnavailableError(problem)

    @contextlib.contextmanager
    def _noted(self) -> Iterator[None]:
        """Let `close` know of a run until it is over."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._runs.add(over)
        try:
            yield
        finally:
            self._runs.discard(over)
            over.set_result(None)

    async def _take(self) -> CodeProcess:
        while self._ready:
            process = self._ready.popleft()
            if process.is_usable:
                break
            self._keep(process.end())
        else:
            process = await self._start()
        if self._is_closed:
            await process.end()
            raise CodeUnavailableError(CLOSED)
        self._running.add(process)
        return process

    async def _start(self) -> CodeProcess:
        try:
            process = await CodeProcess.start(self._offered or offer())
        except CodeUnavailableError as exc:
            self._trouble, self._trouble_until = exc.message, time.monotonic() + TROUBLE_S
            raise
        self._trouble = ""
        return process

    async def _give_up(self, process: CodeProcess) -> None:
        """End a process that was used, whoever is cancelled meanwhile; only then another is made to take its place."""
        await asyncio.shield(self._keep(self._replace(process)))

    async def _replace(self, process: CodeProcess) -> None:
        await process.end()
        self._running.discard(process)
        self._fill()

    def _fill(self) -> None:
        if self._is_closed:
            return
        while len(self._ready) + self._starting < self._size:
            self._starting += 1
            self._keep(self._make_ready())
        self._rest_later()

    async def _make_ready(self) -> None:
        try:
            process = await self._start()
        except CodeUnavailableError:
            return  # it is kept as the trouble there is
        finally:
            self._starting -= 1
        if self._is_closed:
            await process.end()
        else:
            self._ready.append(process)
            self._rest_later()

    def _rest_later(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
        self._rest = asyncio.get_running_loop().call_later(self._idle_s, self._let_go)

    def _let_go(self) -> None:
        """End the processes that are ready."""
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None
        while self._ready:
            self._keep(self._ready.popleft().end())

    def _keep(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _refused(code: str) -> End | None:
    """Refuse code that cannot be handed to a process."""
    try:
        size = len(code.encode())
    except UnicodeEncodeError:
        return threw("code_syntax", "the code holds half of a pair of surrogates, which is no character")
    if size > CODE_LIMIT_BYTES:
        return threw("code_too_large", f"the code has more than {CODE_LIMIT_BYTES} bytes")
    return None


def _result(end: End, crossing: Crossing | None, started: float) -> CodeResult:
    counts = crossing.counts if crossing is not None else {}
    return CodeResult(
        ended=end.ended,
        value=end.value,
        error=end.error,
        logs=tuple(crossing.logs) if crossing is not None else (),
        dropped_bytes=crossing.dropped_bytes if crossing is not None else 0,
        duration_ms=int((time.monotonic() - started) * 1000),
        searches=counts.get("search", 0),
        describes=counts.get("describe", 0),
        calls=counts.get("call", 0),
    )
