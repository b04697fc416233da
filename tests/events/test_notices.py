"""Notices commit with their rows, reach every listener, and wake who waits."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, connections, transaction

from apps.events.listener import Listener, deliver, subscribe
from apps.events.notices import RECONNECTED, Notice, announce
from apps.events.waiters import Waiters, waiters

pytestmark = pytest.mark.django_db(transaction=True)


@asynccontextmanager
async def listening() -> AsyncIterator[tuple[Listener, asyncio.Queue[Notice]]]:
    """A listener that stands, and what it hears."""
    heard: asyncio.Queue[Notice] = asyncio.Queue()
    unsubscribe = subscribe(heard.put)
    listener = Listener()
    await listener.start()
    try:
        assert await listener.wait_connected(timeout_s=5)
        assert (await asyncio.wait_for(heard.get(), 60)).kind == RECONNECTED
        yield listener, heard
    finally:
        unsubscribe()
        await listener.stop()


def in_thread(function: Callable[[], None]) -> Callable[[], asyncio.Future[None]]:
    """Run database work as a view would, and give the connection back."""

    def work() -> None:
        try:
            function()
        finally:
            connections.close_all()

    return sync_to_async(work, thread_sensitive=False)  # type: ignore[return-value]


def tell(kind: str, id_: str) -> Callable[[], asyncio.Future[None]]:
    return in_thread(lambda: announce(kind, id=id_, environment="production"))


async def test_a_notice_arrives() -> None:
    async with listening() as (_, heard):
        await tell("approval.requested", "ap_1")()
        notice = await asyncio.wait_for(heard.get(), 60)
    assert notice == Notice("approval.requested", "ap_1", "production")


async def test_a_notice_of_a_change_that_was_taken_back_never_arrives() -> None:
    def refused() -> None:
        with transaction.atomic():
            announce("approval.requested", id="never")
            transaction.set_rollback(True)

    async with listening() as (_, heard):
        await in_thread(refused)()
        await tell("approval.requested", "after")()
        assert (await asyncio.wait_for(heard.get(), 60)).id == "after"


async def test_what_others_send_on_the_channel_is_passed_over() -> None:
    def rubbish() -> None:
        with connection.cursor() as cursor:
            for payload in ("", "{", "[]", '{"kind": 1}', '{"id": "x"}'):
                cursor.execute("SELECT pg_notify('openclaw_admin', %s)", [payload])

    async with listening() as (_, heard):
        await in_thread(rubbish)()
        await tell("tool.changed", "ours")()
        assert (await asyncio.wait_for(heard.get(), 60)).id == "ours"


async def test_a_lost_connection_is_made_again_and_says_so() -> None:
    def cut() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'openclaw_admin listener' AND datname = current_database()"
            )

    async with listening() as (listener, heard):
        await in_thread(cut)()
        assert (await asyncio.wait_for(heard.get(), 60)).kind == RECONNECTED
        assert listener.is_connected
        await tell("approval.resolved", "ap_2")()
        assert (await asyncio.wait_for(heard.get(), 60)).id == "ap_2"


async def test_a_subscriber_that_fails_does_not_keep_it_from_the_others() -> None:
    def fails(notice: Notice) -> None:
        raise RuntimeError("mine")

    unsubscribe = subscribe(fails)
    try:
        async with listening() as (_, heard):
            await tell("tool.changed", "x")()
            assert (await asyncio.wait_for(heard.get(), 60)).id == "x"
    finally:
        unsubscribe()


async def test_starting_twice_is_one_listener_and_stopping_twice_is_harmless() -> None:
    listener = Listener()
    await listener.start()
    await listener.start()
    assert await listener.wait_connected(timeout_s=5)
    await listener.stop()
    await listener.stop()
    assert not listener.is_connected


def test_a_notice_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="too long"):
        announce("tool.changed", id="x" * 8000)


# --- waiters ---


async def test_a_waiter_is_woken_through_the_database() -> None:
    async with listening(), waiters.watch("ap_3") as watch:
        waiting = asyncio.create_task(watch.changed(timeout_s=5))
        await tell("approval.resolved", "ap_3")()
        assert await waiting


async def test_a_change_between_watching_and_waiting_is_not_lost() -> None:
    room = Waiters()
    async with room.watch("ap_4") as watch:
        room.hear(Notice("approval.resolved", "ap_4"))
        assert await watch.changed(timeout_s=0.5)
        assert not await watch.changed(timeout_s=0.01)


async def test_a_change_of_another_row_wakes_nobody() -> None:
    room = Waiters()
    async with room.watch("ap_5") as watch:
        room.hear(Notice("approval.resolved", "ap_6"))
        assert not await watch.changed(timeout_s=0.02)


async def test_everybody_reads_again_after_a_reconnect() -> None:
    room = Waiters()
    async with room.watch("ap_7") as one, room.watch("ap_8") as other:
        room.hear(Notice(RECONNECTED, ""))
        assert await one.changed(timeout_s=0.5)
        assert await other.changed(timeout_s=0.5)


async def test_nothing_is_kept_of_who_waited() -> None:
    room = Waiters()
    async with room.watch("ap_9"):
        assert len(room) == 1
    assert len(room) == 0


async def test_a_wait_of_no_time_answers_at_once() -> None:
    async with Waiters().watch("ap_10") as watch:
        assert not await watch.changed(timeout_s=0)


async def test_delivery_without_a_listener_reaches_waiters() -> None:
    async with waiters.watch("ap_11") as watch:
        await deliver(Notice("approval.resolved", "ap_11"))
        assert await watch.changed(timeout_s=0.5)
