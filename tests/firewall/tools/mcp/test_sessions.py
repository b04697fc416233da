"""Connections that are kept: shared while they are good, replaced when they are not, gone in the end."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from apps.firewall.tools.connections import Connection, Secrets
from apps.firewall.tools.mcp.errors import McpBusyError, McpEndedError, McpError
from apps.firewall.tools.mcp.sessions import McpSessions, Owner
from tests.firewall.tools.mcp.conftest import Connect

pytestmark = pytest.mark.unhurried


@pytest.fixture
async def sessions() -> AsyncIterator[McpSessions]:
    made = McpSessions(idle_s=30)
    yield made
    await made.close()


async def pid_of(
    sessions: McpSessions, connection: Connection, environment: str = "main", session: str | None = None
) -> int:
    owner = Owner.of(environment, "bot", session)
    async with sessions.client(owner, connection, timeout_s=5) as client:
        answer = await client.call("whoami", {}, timeout_s=5)
        return int(answer.content[0].text.split(" ")[0])  # type: ignore[union-attr]


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def gone(pid: int) -> bool:
    for _ in range(200):
        if not is_running(pid):
            return True
        await asyncio.sleep(0.02)
    return False


async def test_the_next_call_finds_the_same_process(sessions: McpSessions, connect: Connect) -> None:
    connection = connect()

    assert await pid_of(sessions, connection) == await pid_of(sessions, connection)


async def test_calls_at_once_open_one_process(sessions: McpSessions, connect: Connect) -> None:
    connection = connect()

    assert len(set(await asyncio.gather(*(pid_of(sessions, connection) for _ in range(5))))) == 1


async def test_environments_and_secrets_have_processes_of_their_own(sessions: McpSessions, connect: Connect) -> None:
    connection = connect()
    others = [
        await pid_of(sessions, connection),
        await pid_of(sessions, connection, "staging"),
        await pid_of(sessions, replace(connection, env=Secrets({"ONE": "2"}))),
    ]

    assert len(set(others)) == 3


async def test_after_a_crash_the_next_call_has_a_fresh_process(sessions: McpSessions, connect: Connect) -> None:
    connection = connect()
    first = await pid_of(sessions, connection)
    async with sessions.client(Owner("main"), connection, timeout_s=5) as client:
        with pytest.raises(McpEndedError):
            await client.call("die", {}, timeout_s=5)

    assert await pid_of(sessions, connection) not in {first}


async def test_a_distrusted_one_is_not_lent_again_but_serves_its_users(sessions: McpSessions, connect: Connect) -> None:
    connection = connect()
    async with sessions.client(Owner("main"), connection, timeout_s=5) as client:
        sessions.distrust(client)
        other = await pid_of(sessions, connection)
        answer = await client.call("whoami", {}, timeout_s=5)
    mine = int(answer.content[0].text.split(" ")[0])  # type: ignore[union-attr]

    assert mine != other
    assert await gone(mine)
    assert is_running(other)


async def test_one_that_nobody_uses_is_closed(connect: Connect) -> None:
    sessions = McpSessions(idle_s=0.05)
    pid = await pid_of(sessions, connect())

    assert await gone(pid)
    await sessions.close()


async def test_an_old_one_is_replaced(connect: Connect) -> None:
    sessions = McpSessions(age_s=0.0)
    connection = connect()

    assert await pid_of(sessions, connection) != await pid_of(sessions, connection)
    await sessions.close()


async def test_one_that_cannot_be_opened_fails_each_time_anew(sessions: McpSessions, connect: Connect) -> None:
    for _ in range(2):
        with pytest.raises(McpError, match="no licence"):
            await pid_of(sessions, connect("dies_at_start"))


async def test_more_than_may_run_are_refused_and_idle_ones_make_room(connect: Connect) -> None:
    sessions = McpSessions(limit=1)
    connection = connect()
    async with sessions.client(Owner("main"), connection, timeout_s=5):
        with pytest.raises(McpBusyError):
            await pid_of(sessions, connection, "staging")
    first = await pid_of(sessions, connection)
    await pid_of(sessions, connection, "staging")

    assert await gone(first)
    await sessions.close()


async def test_closing_ends_all_processes(connect: Connect) -> None:
    sessions = McpSessions()
    pids = [await pid_of(sessions, connect(), name) for name in ("one", "two")]
    await sessions.close()

    assert not any(is_running(pid) for pid in pids)


async def test_a_cancelled_user_leaves_the_connection_to_the_others(sessions: McpSessions, connect: Connect) -> None:
    connection = connect()
    first, second = (asyncio.create_task(pid_of(sessions, connection)) for _ in range(2))
    await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)

    assert is_running(await second)


async def test_each_session_has_its_own_and_loses_it_when_it_ends(sessions: McpSessions, connect: Connect) -> None:
    connection = connect()
    one, other, shared = [await pid_of(sessions, connection, session=key) for key in ("a", "b", None)]

    sessions.end([Owner("main", "bot", "a")])

    assert len({one, other, shared}) == 3
    assert await gone(one)
    assert (await pid_of(sessions, connection, session="b"), await pid_of(sessions, connection)) == (other, shared)
