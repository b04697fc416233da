"""Work that a cancellation may not cut short, because what it writes must be known afterwards."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def complete(work: Coroutine[Any, Any, T]) -> T:
    """Finish a piece of work though its caller is cancelled, and cancelled again; the cancellation ends here.

    Returns:
        What the work gave.
    """
    task = asyncio.ensure_future(work)
    await _until_done(task)
    return task.result()


async def complete_first(work: Coroutine[Any, Any, T]) -> T:
    """Finish a piece of work though its caller is cancelled, and only then be cancelled.

    What the work must leave behind it keeps itself: a caller that is cancelled gets no return value.

    Raises:
        CancelledError: the caller was cancelled, and the work is done. What the work itself raises comes first.
    """
    task = asyncio.ensure_future(work)
    cancelled = await _until_done(task)
    result = task.result()
    if cancelled is not None:
        raise cancelled
    return result


async def _until_done(task: asyncio.Task[Any]) -> asyncio.CancelledError | None:
    cancelled = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as exc:
            cancelled = exc
    return cancelled
