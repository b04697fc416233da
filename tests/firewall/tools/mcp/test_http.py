"""MCP servers behind addresses: real sockets of this machine, opened by the connector only."""

import re
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from apps.firewall.tools.connections import AddressRules, Connection, Secrets
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.discovery.mcp import look_mcp
from apps.firewall.tools.executors import McpExecutor
from apps.firewall.tools.mcp_tool import run_mcp_tool
from apps.firewall.tools.running import ToolOutcome
from tests.firewall.tools.mcp import web
from tests.firewall.tools.mcp.conftest import units_server
from tests.firewall.tools.mcp.web import WebServer

pytestmark = pytest.mark.unhurried

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
Serve = Callable[..., Awaitable[Connection]]


def to(port: int, *, networks: tuple[str, ...] = ("127.0.0.1/32",), **changes: Any) -> Connection:
    given = {"source": "web", "kind": "mcp_http", "url": f"http://127.0.0.1:{port}/mcp"}
    return Connection(**{**given, "rules": AddressRules(networks_allowed=networks, ports=(port,)), **changes})


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    servers: list[WebServer] = []

    async def make(answer: web.Answer = web.normal, *, token: str = "", **changes: Any) -> Connection:
        servers.append(WebServer(answer, token=token))
        return to(await servers[-1].start(), **changes)

    yield make
    for server in servers:
        await server.stop()


async def run(connection: Connection, tool: str = "echo", *, timeout_ms: int = 5_000, **params: Any) -> ToolOutcome:
    executor = McpExecutor(source="web", tool=tool)
    definition = Definition(name=f"web__{tool}")
    return await run_mcp_tool(executor, definition, params, connection=connection, timeout_ms=timeout_ms)


def told(outcome: ToolOutcome) -> str:
    assert outcome.error is not None
    return f"{outcome.error['code']}: {outcome.error['message']}"


async def test_a_server_behind_an_address_is_looked_through_and_called(serve: Serve) -> None:
    connection = await serve()
    look = await look_mcp(connection)
    outcome = await run(connection, text="hello")

    assert [each.definition.name for each in look.found if each.definition] == ["web__echo"]
    assert outcome == ToolOutcome(result={"content": [{"type": "text", "text": '{"text": "hello"}'}]})


async def test_an_answer_may_come_in_a_stream(serve: Serve) -> None:
    outcome = await run(await serve(web.streamed))

    assert outcome.result == {"content": [{"type": "text", "text": "in a stream"}]}


async def test_the_token_goes_with_each_request(serve: Serve) -> None:
    connection = await serve(token="t0ken", headers=Secrets({"Authorization": "Bearer t0ken"}))

    assert (await look_mcp(connection)).failure is None


async def test_each_request_of_a_call_carries_its_trace_on() -> None:
    server = WebServer()
    connection = to(await server.start())
    try:
        executor, definition = McpExecutor(source="web", tool="echo"), Definition(name="web__echo")
        outcome = await run_mcp_tool(executor, definition, {}, connection=connection, trace_id=TRACE)
    finally:
        await server.stop()

    assert outcome.error is None
    assert {"initialize", "tools/call"} <= server.traces.keys()
    assert all(re.fullmatch(f"00-{TRACE}-[0-9a-f]{{16}}-01", each) for each in server.traces.values())


async def test_a_refused_token_is_told_by_its_status(serve: Serve) -> None:
    look = await look_mcp(await serve(token="t0ken"))

    assert look.failure is not None
    assert look.failure.code == "mcp_refused"
    assert "401" in look.failure.message


async def test_an_address_of_this_machine_is_not_opened_unless_allowed(serve: Serve) -> None:
    connection = await serve(rules=AddressRules(ports=tuple(range(1024, 65536))))
    outcome = await run(connection)

    assert told(outcome).startswith("mcp_unreachable: ")
    assert outcome.ended == "failed"


async def test_a_redirect_to_another_origin_is_not_followed(serve: Serve) -> None:
    outcome = await run(await serve(web.redirects))

    assert "not followed" in told(outcome)


async def test_nobody_at_the_address_is_named(serve: Serve) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        outcome = await run(to(free.getsockname()[1]))

    assert told(outcome).startswith("mcp_unreachable: ")
    assert outcome.ended == "failed"


@pytest.mark.parametrize(
    ("answer", "ended", "message"),
    [
        (web.hangs, "unknown", "mcp_timed_out: the server did not answer `echo` within 1 s"),
        (web.breaks_off, "unknown", "mcp_unreachable: "),
        (web.rubbish, "unknown", "mcp_protocol_error: the server did not answer: Failed to parse JSON response"),
        (web.ends_stream, "unknown", "mcp_protocol_error: the server did not answer: SSE stream ended"),
        (web.refuses, "failed", "503"),
        (web.is_not_behind_its_address, "unknown", "502"),
        (web.is_a_page, "failed", "text/html"),
        (web.is_huge, "unknown", "bytes"),
        (web.floods, "unknown", "mcp_flooded: "),
    ],
)
async def test_what_a_server_does_instead_of_answering_is_named(
    serve: Serve, answer: web.Answer, ended: str, message: str
) -> None:
    began = time.monotonic()
    outcome = await run(await serve(answer), timeout_ms=1_000 if answer is web.hangs else 10_000)

    assert message in told(outcome)
    assert outcome.ended == ended
    assert time.monotonic() - began < 8


@pytest.fixture(scope="module")
def units() -> Iterator[int]:
    """The living example, with a token."""
    with units_server("let-me-in") as port:
        yield port


@pytest.mark.unhurried
async def test_the_example_behind_an_address_is_found_and_converts(units: int) -> None:
    connection = to(units, headers=Secrets({"Authorization": "Bearer let-me-in"}))
    (found,) = (await look_mcp(connection)).found
    assert found.definition is not None
    outcome = await run_mcp_tool(
        McpExecutor(source="web", tool="length_convert"),
        found.definition,
        {"value": 2, "unit": "mile", "to": "metre"},
        connection=connection,
        timeout_ms=10_000,
    )

    assert found.definition.name == "web__length_convert"
    assert found.definition.parameters["properties"]["unit"]["enum"][0] == "metre"
    assert outcome.ended == "completed"
    assert outcome.result is not None
    assert outcome.result["structuredContent"] == {"value": 3218.688, "unit": "metre"}


@pytest.mark.unhurried
async def test_the_example_refuses_whoever_has_no_token(units: int) -> None:
    assert (await look_mcp(to(units))).failure is not None
