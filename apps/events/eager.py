"""Coroutines that mostly wait for nothing: run at once, and become a task only where they wait.

A task for each of a thousand texts costs as much as sending them. Python 3.12 has this as `asyncio.eager_task_factory`.
"""

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any


def begin(work: Coroutine[Any, None, None]) -> asyncio.Task[None] | None:
    """Run a coroutine to where it first waits; a task does the rest.

    Returns:
        The task; None when nothing is left to do.
    """
    try:
        waits_for = work.send(None)
    except StopIteration:
        return None
    except Exception as exc:  # noqa: BLE001 - as in a task: it is not the caller's
        return asyncio.create_task(_fail(exc))
    return asyncio.create_task(_finish(work, waits_for))


async def _finish(work: Coroutine[Any, None, None], waits_for: Any) -> None:
    await _Rest(work, waits_for)


class _Rest:
    """What is left of a coroutine that has begun, and waits for something."""

    def __init__(self, work: Coroutine[Any, None, None], waits_for: Any) -> None:
        self._work = work
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, None, None]:
        while True:
            try:
                try:
                    yield self._waits_for
                except BaseException as exc:  # noqa: BLE001 - a cancel, most of all: it is the coroutine's to answer
                    self._waits_for = self._work.throw(exc)
                else:
                    self._waits_for = self._work.send(None)
            except StopIteration:
                return


async def _fail(exc: Exception) -> None:
    raise exc
