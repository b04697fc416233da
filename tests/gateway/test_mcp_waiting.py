"""Calls through MCP that take their time: for people, for news of them, and until their client takes them back."""

import asyncio
from typing import Any

import pytest
from mcp.client.client import Client

from apps.approvals.models import Approval
from apps.gateway.models import CallSlot
from apps.runs.models import ToolRun
from tests.gateway.mcp_clients import MODES, called_id, text_of, through
from tests.gateway.server import Server
from tests.gateway.test_calls import kinds, sleeping, workspace
from tests.gateway.test_decisions import eventually
from tests.gateway.test_waiting import answer

TOUCH = {"command": "touch made"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.slow
def test_a_call_that_waits_too_long_is_gone_on_with_and_runs_once(
    server: Server, secret: str, operator: Any, settings: Any, mode: str
) -> None:
    made = workspace(settings) / "made"

    async def work(client: Client) -> Any:
        first = await client.call_tool("exec", TOUCH)
        approval = await asyncio.to_thread(Approval.objects.get)
        again = await client.call_tool("exec", TOUCH)  # while it waits
        await asyncio.to_thread(lambda: answer("allow-once", operator))
        await asyncio.to_thread(lambda: eventually(made.exists))  # and after it was allowed, and ran
        made.unlink()
        last = await client.call_tool("exec", TOUCH)
        return first, approval, again, last

    first, approval, again, last = through(server, secret, work, query="agent=bot&wait_ms=100", mode=mode)

    for early in (first, again):
        assert early.is_error and early.structured_content["error"] == "awaiting_approval"
        assert approval.shown_id in text_of(early)
    assert not last.is_error, last
    assert called_id(first) == called_id(again) == called_id(last)
    assert not made.exists()
    assert [kind for kind, _ in kinds(called_id(last))][-2:] == ["call_intent", "call_outcome"]
    assert Approval.objects.count() == 1
    assert not CallSlot.objects.exists()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("decision", ["allow-once", "deny"])
@pytest.mark.slow
def test_a_client_who_waits_hears_of_it_and_is_answered_when_the_person_was(
    server: Server, secret: str, operator: Any, mode: str, decision: str
) -> None:
    news: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        news.append((progress, message))

    async def work(client: Client) -> Any:
        calling = asyncio.ensure_future(client.call_tool("exec", TOUCH, progress_callback=hear))
        await asyncio.to_thread(lambda: eventually(lambda: bool(news)))
        await asyncio.to_thread(lambda: answer(decision, operator))
        return await calling

    done = through(server, secret, work, query="agent=bot&wait_ms=60000", mode=mode)

    assert done.is_error == (decision == "deny"), done
    assert any(message is not None and "ap_" in message for _, message in news)
    assert [each for each, _ in news] == sorted({each for each, _ in news})


@pytest.mark.parametrize("mode", MODES)
def test_a_client_that_takes_a_call_back_ends_it(server: Server, secret: str, mode: str) -> None:
    async def work(client: Client) -> None:
        calling = asyncio.ensure_future(client.call_tool("exec", {"command": "sleep 54"}))
        await asyncio.to_thread(lambda: eventually(lambda: bool(sleeping("54"))))
        calling.cancel()
        await asyncio.wait({calling})
        assert await asyncio.to_thread(lambda: eventually(lambda: not sleeping("54")))

    through(server, secret, work, mode=mode)

    made = ToolRun.objects.get().tool_calls.get()
    assert eventually(lambda: kinds(made.shown_id)[-1] == ("call_outcome", "cancelled"))


@pytest.mark.parametrize("mode", MODES)
def test_taking_a_call_back_withdraws_its_question(server: Server, secret: str, mode: str) -> None:
    async def work(client: Client) -> None:
        calling = asyncio.ensure_future(client.call_tool("exec", TOUCH))
        await asyncio.to_thread(lambda: eventually(Approval.objects.exists))
        calling.cancel()
        await asyncio.wait({calling})
        assert await asyncio.to_thread(lambda: eventually(lambda: not Approval.objects.get().is_pending))

    through(server, secret, work, query="agent=bot&wait_ms=60000", mode=mode)

    assert not CallSlot.objects.exists()
