"""One socket's outbox: in order, without waiting for whoever reads, and not without an end."""

import asyncio

from apps.events.outbox import Outbox


class Reader:
    """A socket whose reader may stop reading."""

    def __init__(self) -> None:
        self.reads = asyncio.Event()
        self.reads.set()
        self.heard: list[str] = []
        self.closed = asyncio.Event()

    async def send(self, text: str) -> None:
        await self.reads.wait()
        self.heard.append(text)

    async def close(self) -> None:
        self.closed.set()


async def test_it_sends_in_order_and_waits_for_nobody() -> None:
    reader = Reader()
    reader.reads.clear()
    outbox = Outbox(reader.send, reader.close)
    for number in range(10):
        outbox.put(str(number))
    await asyncio.sleep(0)
    assert reader.heard == []
    reader.reads.set()
    async with asyncio.timeout(30):
        while len(reader.heard) < 10:
            await asyncio.sleep(0)
    assert reader.heard == [str(number) for number in range(10)]


async def test_a_reader_that_lags_too_far_behind_is_let_go() -> None:
    reader = Reader()
    reader.reads.clear()
    outbox = Outbox(reader.send, reader.close, limit=3)
    for number in range(6):
        outbox.put(str(number))
    async with asyncio.timeout(30):
        await reader.closed.wait()
    reader.reads.set()
    outbox.put("later")
    await asyncio.sleep(0)
    assert reader.heard == []


async def test_a_reader_that_is_gone_is_told_nothing_more() -> None:
    async def gone(_: str) -> None:
        raise RuntimeError("the socket is closed")

    reader = Reader()
    outbox = Outbox(gone, reader.close)
    outbox.put("one")
    await asyncio.sleep(0.01)
    outbox.put("two")
    await asyncio.sleep(0.01)
    assert not reader.closed.is_set()
