"""Rows of requests, read once for all who wait in a process."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from apps.events.notices import RECONNECTED, Notice
from apps.firewall.identifiers import new_id
from apps.gateway import requests
from apps.gateway.requests import LiveRequests


class Rows:
    """Rows that count how often they are read."""

    def __init__(self) -> None:
        self.reads = 0

    async def read(self, _function: Any, approval_id: UUID) -> Any:
        self.reads += 1
        number = self.reads
        await asyncio.sleep(0)
        return approval_id, number


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> Rows:
    made = Rows()
    monkeypatch.setattr(requests, "in_database", made.read)
    return made


async def test_everybody_who_asks_after_a_notice_is_given_one_reading(rows: Rows) -> None:
    live: Any = LiveRequests()
    row = new_id()
    assert set(await asyncio.gather(*(live.now(row) for _ in range(5)))) == {(row, 1)}
    assert await live.now(row) == (row, 1)
    live.hear(Notice("approval.resolved", str(row)))
    assert set(await asyncio.gather(*(live.now(row) for _ in range(5)))) == {(row, 2)}


async def test_what_was_begun_before_a_notice_is_not_given_after_it(rows: Rows) -> None:
    live: Any = LiveRequests()
    row = new_id()
    before = asyncio.create_task(live.now(row))
    while not rows.reads:
        await asyncio.sleep(0)
    live.hear(Notice("approval.changed", str(row)))
    assert (await live.now(row), await before) == ((row, 2), (row, 1))


@pytest.mark.parametrize("notice", [Notice(RECONNECTED, ""), None], ids=["the way to the notices broke", "time"])
async def test_without_notices_nothing_is_kept(rows: Rows, notice: Notice | None, monkeypatch: Any) -> None:
    live: Any = LiveRequests()
    row = new_id()
    await live.now(row)
    if notice is None:
        monkeypatch.setattr(requests, "FRESH_S", 0.0)
    else:
        live.hear(notice)
    assert await live.now(row) == (row, 2)


async def test_a_new_request_is_not_read_again(rows: Rows) -> None:
    live: Any = LiveRequests()
    row = new_id()
    asked: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    asking = asyncio.create_task(live.asked(row, asked))
    await asyncio.sleep(0)
    live.hear(Notice("approval.requested", str(row)))
    told = asyncio.create_task(live.now(row))
    asked.set_result("the row")
    assert (await asking, await told, rows.reads) == ("the row", "the row", 0)


async def test_one_that_could_not_be_asked_is_read(rows: Rows) -> None:
    live: Any = LiveRequests()
    row = new_id()

    async def refuse() -> Any:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await live.asked(row, refuse())
    assert await live.now(row) == (row, 1)


async def test_it_keeps_no_more_than_so_many(rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "KEPT", 2)
    live: Any = LiveRequests()
    first = new_id()
    for row in (first, new_id(), new_id(), first):
        await live.now(row)
    assert rows.reads == 4
