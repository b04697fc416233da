"""Bodies of requests as they come: at once, in parts, too slowly, not to the end."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from apps.bodies import BodyMissingError, BodyTooLargeError, BodyTooSlowError, body_gathered

Receive = Callable[[], Awaitable[dict[str, Any]]]
LIMIT = 100
WHOLE = {"type": "http.request", "body": b"whole"}
PART = {"type": "http.request", "body": b"part,", "more_body": True}
GONE = {"type": "http.disconnect"}

pytestmark = pytest.mark.every_loop


def sending(*messages: Any) -> Receive:
    """Give messages one by one; a number is how many seconds pass before the next one, an event what it waits for."""
    left = iter(messages)

    async def receive() -> dict[str, Any]:
        for each in left:
            if isinstance(each, dict):
                return each
            await (each.wait() if isinstance(each, asyncio.Event) else asyncio.sleep(each))
        raise AssertionError("nobody may ask for more than there is")

    return receive


async def gathered(*messages: Any, patience_s: float = 5) -> bytes:
    return await body_gathered(sending(*messages), limit_bytes=LIMIT, patience_s=patience_s)


async def test_what_is_there_is_taken_and_what_comes_is_waited_for() -> None:
    assert await gathered(WHOLE) == b"whole"
    assert await gathered(0.01, WHOLE) == b"whole"
    assert await gathered(PART, 0, PART, 0.01, 0.01, WHOLE) == b"part,part,whole"


async def test_what_does_not_come_in_time_ends() -> None:
    for messages in ((60, WHOLE), (PART, 60, WHOLE), (PART, 0.01, 60, WHOLE)):
        with pytest.raises(BodyTooSlowError):
            await gathered(*messages, patience_s=0.05)


async def test_a_sender_that_goes_away_or_sends_too_much_is_told_apart() -> None:
    for before in ((), (0.01,), (PART, 0.01)):
        with pytest.raises(BodyMissingError):
            await gathered(*before, GONE)
        with pytest.raises(BodyTooLargeError):
            await gathered(*before, WHOLE | {"body": b"x" * (LIMIT + 1)})


async def test_what_fails_while_it_is_waited_for_comes_out_as_it_is() -> None:
    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        raise OSError("the line broke")

    with pytest.raises(OSError, match="the line broke"):
        await body_gathered(receive, limit_bytes=LIMIT, patience_s=5)


async def test_whoever_waits_for_a_body_can_be_cancelled() -> None:
    never = asyncio.Event()
    waiting = asyncio.create_task(gathered(PART, never, WHOLE))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
