"""Coroutines that are begun at once, and go on as tasks only where they wait."""

import asyncio

import pytest

from apps.events.eager import begin


async def test_one_that_waits_for_nothing_has_ended_when_it_was_begun() -> None:
    done: list[str] = []

    async def work() -> None:
        done.append("all")

    assert begin(work()) is None
    assert done == ["all"]


async def test_one_that_waits_goes_on_as_a_task() -> None:
    done: list[str] = []
    first, second = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        for number, event in enumerate((first, second)):
            await event.wait()
            done.append(str(number))
        await asyncio.sleep(0)
        done.append("all")

    task = begin(work())
    assert task is not None and done == []
    first.set()
    second.set()
    async with asyncio.timeout(30):
        await task
    assert done == ["0", "1", "all"]


async def test_a_cancel_reaches_what_waits() -> None:
    done: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            done.append("cancelled")
            raise

    task = begin(work())
    assert task is not None
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == ["cancelled"]


@pytest.mark.parametrize("waits", [False, True])
async def test_a_failure_is_the_tasks_and_not_the_callers(waits: bool) -> None:
    async def work() -> None:
        if waits:
            await asyncio.sleep(0)
        raise ValueError("not yours")

    task = begin(work())
    assert task is not None
    with pytest.raises(ValueError, match="not yours"):
        await task
