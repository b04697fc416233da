"""One process that runs code: started and tried ahead, used for one run, gone with it."""

import asyncio
import contextlib
import secrets
import tempfile
from collections.abc import AsyncIterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson

from apps.firewall.errors import FirewallError
from apps.firewall.runtime.code_mode.crossing import (
    ALL_CALLS_LIMIT_BYTES,
    CALL_LIMIT_BYTES,
    CALLS_LIMIT,
    LINE_LIMIT_BYTES,
    Bridge,
    Crossing,
    MisspokeError,
    OverflowedError,
)
from apps.firewall.runtime.code_mode.results import (
    ERROR_CHARACTERS,
    LOG_LIMIT_BYTES,
    LOG_LINES,
    RESULT_LIMIT_BYTES,
    CodeUnavailableError,
    End,
    ended,
)
from apps.firewall.sandbox.levels import Offer
from apps.firewall.sandbox.node import node_process
from apps.firewall.sandbox.pipes import PipedProcess
from apps.firewall.tools.remote_json import JsonRefusedError, plain_text, read_json

HARNESS: Final = Path(__file__).with_name("harness.js")
REALM: Final = Path(__file__).with_name("realm.js")
START_LIMIT_S: Final = 30.0
LIFETIME_S: Final = 3600.0
AGE_LIMIT_S: Final = LIFETIME_S - 120
"""Older ones are not used any more: a run may take as long as what is left."""
LIMITS: Final = {
    "calls": CALLS_LIMIT,
    "callBytes": CALL_LIMIT_BYTES,
    "allCallBytes": ALL_CALLS_LIMIT_BYTES,
    "logBytes": LOG_LIMIT_BYTES,
    "logLines": LOG_LINES,
    "resultBytes": RESULT_LIMIT_BYTES,
    "errorCharacters": ERROR_CHARACTERS,
}
OUT_OF_MEMORY: Final = ("out of memory", "bad_alloc")
"""What Node writes then, whichever part of it was refused."""
LINE_LETTERS: Final = 300


class CodeProcess:
    """A process that waits for code, or runs it. `start` makes one."""

    def __init__(self, piped: PipedProcess, word: str, held: contextlib.AsyncExitStack) -> None:
        self._piped = piped
        self._word = word
        self._held = held
        self._lines = _lines(piped)
        self._old_at = asyncio.get_running_loop().time() + AGE_LIMIT_S
        self._ending: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, offered: Offer) -> "CodeProcess":
        """Start one, and have it try that it is held.

        Raises:
            CodeUnavailableError: it cannot be started, or is not held.
        """
        word = secrets.token_hex(32)
        async with contextlib.AsyncExitStack() as held:
            try:
                folder = held.enter_context(tempfile.TemporaryDirectory(prefix="openclaw-code-"))
                running = node_process(_source(HARNESS), cwd=folder, time_limit_s=LIFETIME_S, offered=offered)
                piped = await held.enter_async_context(running)
                process = cls(piped, word, held)
                async with asyncio.timeout(START_LIMIT_S):
                    await process._greet()
            except CodeUnavailableError:
                raise
            except TimeoutError as exc:
                raise CodeUnavailableError("no process for code can be started: it takes too long") from exc
            except (FirewallError, OSError) as exc:
                raise CodeUnavailableError(f"no process for code can be started: {exc}") from exc
            process._held = held.pop_all()
        return process

    @property
    def is_usable(self) -> bool:
        return not self._piped.ended.is_set() and asyncio.get_running_loop().time() < self._old_at

    def crossing(self, bridge: Bridge) -> Crossing:
        """Make the server's side of a bridge to it."""
        return Crossing(bridge, self._word, self._write)

    async def carry(self, code: str, crossing: Crossing) -> End:
        """Run code and serve what it asks for until it ends."""
        with contextlib.suppress(ConnectionError):  # then it has ended, which its output tells
            await self._write(orjson.dumps({"do": "run", "code": code}))
        try:
            async for line in self._lines:
                end = crossing.hear(line)
                if end is not None:
                    return end
        except MisspokeError as exc:
            return ended("misspoke", exc.message)
        except OverflowedError:
            return ended("output_limit")
        return await self._how()

    def kill(self) -> None:
        """Have its tree ended; `end` waits for that."""
        self._piped.end()

    async def end(self) -> None:
        """End it, and wait until its tree is gone."""
        if self._ending is None:
            self.kill()
            self._ending = asyncio.create_task(self._held.aclose())
        await asyncio.shield(self._ending)

    async def _greet(self) -> None:
        with contextlib.suppress(ConnectionError):
            await self._write(orjson.dumps({"word": self._word, "limits": LIMITS, "realm": _source(REALM)}))
        first = await anext(self._lines, None)
        if first is None:
            await self._piped.ended.wait()
            raise CodeUnavailableError(f"the process for code ended at once: {_trouble(self._piped)}")
        said: Any = None
        with contextlib.suppress(JsonRefusedError):
            said = read_json(first)
        if not isinstance(said, dict) or said.get("word") != self._word or said.get("do") != "ready":
            why = plain_text(said.get("text"), LINE_LETTERS) if isinstance(said, dict) else "it wrote rubbish"
            raise CodeUnavailableError(f"the process for code is not held: {why}")

    async def _how(self) -> End:
        """Say how a process ended that did not say so itself."""
        await self._piped.ended.wait()
        wrote = self._piped.errors().text()
        if self._piped.how == "memory_limit" or any(words in wrote for words in OUT_OF_MEMORY):
            return ended("memory_limit")
        if self._piped.how in {"cpu_limit", "timed_out"}:
            return ended("timed_out")
        return ended("killed", _trouble(self._piped))

    async def _write(self, line: bytes) -> None:
        await self._piped.write(line + b"\n")


def _trouble(piped: PipedProcess) -> str:
    """Say in a few words how a process ended."""
    if piped.error:
        return plain_text(piped.error, LINE_LETTERS)
    if piped.how != "ended":
        return piped.how
    return f"signal {piped.signal}" if piped.signal else f"exit code {piped.exit_code}"


async def _lines(piped: PipedProcess) -> AsyncIterator[bytes]:
    kept = bytearray()
    while part := await piped.read():
        *complete, rest = (kept + part).split(b"\n")
        for line in complete:
            yield bytes(line)
        kept = bytearray(rest)
        if len(kept) > LINE_LIMIT_BYTES:
            raise OverflowedError("a line without an end")


@cache
def _source(file: Path) -> str:
    return file.read_text(encoding="utf-8")
