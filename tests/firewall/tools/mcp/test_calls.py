"""Calls to tools of servers: what becomes of every kind of answer, and of none."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from apps.firewall.tools.connections import Connection
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.executors import McpExecutor
from apps.firewall.tools.mcp.sessions import McpSessions
from apps.firewall.tools.mcp_tool import run_mcp_tool
from apps.firewall.tools.progress import Progress, reported_to
from apps.firewall.tools.running import ToolOutcome
from tests.firewall.tools.mcp.conftest import Connect
from tests.firewall.tools.mcp.server import PNG

pytestmark = pytest.mark.unhurried

COUNTED = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}


@pytest.fixture
async def sessions() -> AsyncIterator[McpSessions]:
    made = McpSessions()
    yield made
    await made.close()


async def run(connection: Connection, tool: str, sessions: McpSessions | None = None, **more: Any) -> ToolOutcome:
    return await run_mcp_tool(
        McpExecutor(source="tester", tool=tool),
        Definition(name=f"tester__{tool}", output=more.pop("output", None)),
        more.pop("params", {}),
        connection=connection,
        timeout_ms=more.pop("timeout_ms", 5_000),
        sessions=sessions,
    )


def code_of(outcome: ToolOutcome) -> str:
    assert outcome.error is not None
    return outcome.error["code"]


def content_of(outcome: ToolOutcome) -> list[dict[str, str]]:
    assert outcome.result is not None
    found: list[dict[str, str]] = outcome.result["content"]
    return found


async def test_text_is_a_result(connect: Connect) -> None:
    outcome = await run(connect(), "echo", params={"text": "你好"})

    assert outcome == ToolOutcome(result={"content": [{"type": "text", "text": "你好"}]})


async def test_news_of_a_server_are_heard_while_it_works(connect: Connect) -> None:
    heard: list[Progress] = []
    with reported_to(heard.append):
        outcome = await run(connect(), "steps")

    assert outcome.ended == "completed"
    assert [(news.message, news.done, news.total) for news in heard] == [(f"step {n}", n, 3) for n in (1, 2, 3)]


async def test_an_image_is_a_result(connect: Connect) -> None:
    assert content_of(await run(connect(), "give_image")) == [{"type": "image", "data": PNG, "mimeType": "image/png"}]


@pytest.mark.parametrize("tool", ["give_rotten_image", "give_svg", "give_sound"])
async def test_what_no_model_can_be_shown_is_left_out_and_said(connect: Connect, tool: str) -> None:
    (block,) = content_of(await run(connect(), tool))

    assert block["type"] == "text"
    assert "left out" in block["text"]


async def test_resources_become_text_and_images(connect: Connect) -> None:
    note, archive, picture, link = content_of(await run(connect(), "give_resources"))

    assert note == {"type": "text", "text": "a note"}
    assert "application/zip" in archive["text"]
    assert picture["type"] == "image"
    assert link["text"] == "[Four: note://4]"


async def test_structured_content_is_kept_beside_the_text(connect: Connect) -> None:
    outcome = await run(connect(), "count", output=COUNTED)

    assert outcome.ended == "completed"
    assert outcome.result is not None
    assert outcome.result["structuredContent"] == {"count": 7}


@pytest.mark.parametrize("tool", ["miscount", "echo"])
async def test_structured_content_that_breaks_the_pinned_promise_is_a_failed_call(connect: Connect, tool: str) -> None:
    outcome = await run(connect(), tool, output=COUNTED)

    assert (outcome.ended, code_of(outcome)) == ("failed", "output_invalid")


@pytest.mark.parametrize("tool", ["count_far", "count_deep"])
async def test_structured_content_that_nothing_could_keep_is_a_failed_call(connect: Connect, tool: str) -> None:
    outcome = await run(connect(), tool)

    assert (outcome.ended, code_of(outcome)) == ("failed", "output_invalid")


async def test_a_number_that_is_none_becomes_null(connect: Connect) -> None:
    outcome = await run(connect(), "count_nothing")

    assert outcome.result is not None
    assert outcome.result["structuredContent"] == {"count": None}


async def test_a_tool_that_says_it_failed_is_a_failed_call_with_its_words(connect: Connect) -> None:
    outcome = await run(connect(), "fail")

    assert (outcome.ended, code_of(outcome)) == ("failed", "tool_failed")
    assert outcome.error is not None
    assert outcome.error["message"] == "no such city"


async def test_parts_without_end_are_cut(connect: Connect) -> None:
    content = content_of(await run(connect(), "many"))

    assert len(content) == 201
    assert content[-1]["text"] == "[300 further parts left out]"


async def test_a_refusal_of_the_protocol_is_a_failed_call(connect: Connect) -> None:
    outcome = await run(connect(), "refuse")

    assert (outcome.ended, code_of(outcome)) == ("failed", "mcp_refused")


async def test_a_server_that_does_not_start_is_a_failed_call(connect: Connect) -> None:
    outcome = await run(connect("dies_at_start"), "echo")

    assert (outcome.ended, code_of(outcome)) == ("failed", "mcp_ended")


@pytest.mark.parametrize(
    ("tool", "code"),
    [
        ("die", "mcp_ended"),
        ("hang", "mcp_timed_out"),
        ("flood", "mcp_flooded"),
        ("rubbish", "mcp_protocol_error"),
    ],
)
async def test_nobody_knows_what_a_server_did_that_took_a_call_and_gave_no_answer(
    connect: Connect, sessions: McpSessions, tool: str, code: str
) -> None:
    connection = connect()
    outcome = await run(connection, tool, sessions, timeout_ms=5_000 if tool != "hang" else 300)
    after = await run(connection, "echo", sessions, params={"text": "again"})

    assert (outcome.ended, code_of(outcome)) == ("unknown", code)
    assert content_of(after)[0]["text"] == "again"


async def test_a_cancelled_call_keeps_no_later_one_waiting(connect: Connect, sessions: McpSessions) -> None:
    connection = connect()
    await run(connection, "echo", sessions)
    hanging = asyncio.create_task(run(connection, "hang", sessions, timeout_ms=30_000))
    await asyncio.sleep(0.1)
    hanging.cancel()
    await asyncio.gather(hanging, return_exceptions=True)

    assert (await run(connection, "echo", sessions)).ended == "completed"
