"""Who may come to the MCP server, with what, and which run it is: sessions, addresses, messages that are none."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from mcp.client.client import Client

from apps.runs.models import ToolRun
from tests.gateway.catalogues import plugin_tools, snapshot_of
from tests.gateway.mcp_clients import CONTROLS, PATH, through
from tests.gateway.server import Holder, Server


@pytest.fixture
def holder(folder: str) -> Holder:
    return Holder(snapshot_of(plugin_tools(folder, 60)))


def rpc(method: str, params: Any = None, number: int = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


GREETING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
JSON = {"Accept": "application/json"}


@contextmanager
def plain(server: Server, secret: str = "", **headers: str) -> Iterator[httpx.Client]:
    """Speak without a library."""
    with server.client(secret, **JSON, **headers) as client:
        yield client


def greeted(client: httpx.Client, query: str = "agent=bot") -> str:
    """Begin a session, and give its id."""
    begun = client.post(f"{PATH}?{query}", json=rpc("initialize", GREETING))
    assert begun.status_code == 200, begun.text
    return begun.headers["mcp-session-id"]


def session_call(client: httpx.Client, session: str, name: str, arguments: Any) -> httpx.Response:
    asked = rpc("tools/call", {"name": name, "arguments": arguments})
    return client.post(PATH, json=asked, headers={"mcp-session-id": session})


def test_a_session_is_a_run_that_any_process_goes_on_with(
    server: Server, secret: str, holder: Holder, agent: httpx.Client
) -> None:
    with plain(server, secret) as client:
        session = greeted(client, "agent=bot&task=write+invoices")
    server.stop()
    other = Server(holder.snapshots()).start()
    try:
        with plain(other, secret) as client:
            called = session_call(client, session, "tool_call", {"id": "invoice_create", "args": {"name": "x"}})
            told = client.get(f"/api/v1/runs/{session}").json()
            ended = client.delete(PATH, headers={"mcp-session-id": session})
            late = session_call(client, session, "tool_search", {"query": "invoice"})
    finally:
        other.stop()

    assert called.json()["result"]["structuredContent"] == {"given": {"name": "x"}}
    assert (told["agent"], told["provider"], told["counts"]["call"]) == ("bot", "mcp", 1)
    assert ended.status_code == 200 and ended.json()["outcome"] == "completed"
    assert (late.status_code, late.json()["code"]) == (404, "session_not_found")


def test_the_session_of_another_token_is_none(server: Server, secret: str, token: Any) -> None:
    with plain(server, secret) as client:
        session = greeted(client)
    strangers = [token("calls_make")[1], token("calls_make", agents=["clerk"])[1], token("calls_make")[1]]
    for each in strangers:
        with plain(server, each) as client:
            for found in (
                session_call(client, session, "tool_search", {"query": "invoice"}),
                session_call(client, "trun_nothing", "tool_search", {"query": "invoice"}),
                client.delete(PATH, headers={"mcp-session-id": session}),
            ):
                assert (found.status_code, found.json()["code"]) == (404, "session_not_found")
    assert ToolRun.objects.get().is_open


@pytest.mark.slow
def test_clients_without_sessions_share_the_run_of_their_address(server: Server, secret: str, token: Any) -> None:
    async def work(client: Client) -> None:
        await client.call_tool("tool_search", {"query": "invoice"})

    for query in ("agent=bot", "agent=bot", "agent=bot&session=agent:bot:two", "agent=clerk"):
        through(server, secret, work, query=query, mode="auto")
    through(server, token("calls_make")[1], work, mode="auto")

    assert sorted(run.searches for run in ToolRun.objects.all()) == [1, 1, 1, 2]


def test_a_token_of_one_agent_needs_no_name_of_it(server: Server, token: Any) -> None:
    listed = through(server, token("calls_make", agents=["bot"])[1], lambda client: client.list_tools(), query="")
    assert {each.name for each in listed.tools} >= CONTROLS
    assert ToolRun.objects.get().agent == "bot"


@pytest.mark.parametrize(
    ("query", "status", "path"),
    [
        ("", 422, "agent"),
        ("agent=bot&colour=red", 422, "colour"),
        ("agent=bot&wait_ms=soon", 422, "wait_ms"),
        ("agent=bot&wait_ms=9999999", 422, "wait_ms"),
        ("agent=bot&takes_code=maybe", 422, "takes_code"),
        ("agent=bot&model=large", 422, "provider"),
        ("agent=bot&session=agent:clerk:main", 422, "session"),
        ("agent=bot&environment=nowhere", 422, ""),
        ("agent=%FF", 422, ""),
    ],
)
def test_an_address_that_says_no_run_begins_none(
    server: Server, secret: str, query: str, status: int, path: str
) -> None:
    with plain(server, secret) as client:
        refused = client.post(f"{PATH}?{query}", json=rpc("initialize", GREETING))
    assert refused.status_code == status, refused.text
    assert path in [each["path"] for each in refused.json()["details"]] + [""]
    assert not ToolRun.objects.exists()


MODERN = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list"}


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b'{"jsonrpc": "2.0"}', {}, 400),
        (b'{"a":' * 80 + b"1" + b"}" * 80, {}, 400),
        (b"{}", {"content-type": "text/plain"}, 415),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 5}}', {}, 200),
        (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "tools/list"}', {}, 400),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', {}, 400),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', MODERN, 400),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', {"mcp-protocol-version": "1999-01-01"}, 400),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "resources/list"}', MODERN, 400),
        (b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 5}', {}, 400),
    ],
)
def test_what_is_no_message_is_refused(
    server: Server, secret: str, body: bytes, headers: dict[str, str], status: int
) -> None:
    with plain(server, secret) as client:
        answered = client.post(
            f"{PATH}?agent=bot", content=body, headers={"content-type": "application/json"} | headers
        )
    assert answered.status_code == status, answered.text
    assert status != 200 or "error" in answered.json()
    assert not ToolRun.objects.exists()


@pytest.mark.parametrize("params", [5, [], {"name": 7}, {}, {"name": "tool_search", "arguments": []}])
def test_a_call_that_names_no_tool_is_refused(server: Server, secret: str, params: Any) -> None:
    with plain(server, secret) as client:
        session = {"mcp-session-id": greeted(client)}
        answered = client.post(PATH, json={**rpc("tools/call"), "params": params}, headers=session)
    assert "error" in answered.json() and answered.json().get("result") is None


@pytest.mark.parametrize(
    ("method", "headers", "status", "code"),
    [
        ("GET", {}, 405, "method_not_allowed"),
        ("PUT", {}, 405, "method_not_allowed"),
        ("POST", {"Host": "rebound.example"}, 421, "host_unknown"),
        ("POST", {"Origin": "https://elsewhere.example"}, 403, "origin_foreign"),
        ("POST", {"Origin": "null"}, 403, "origin_foreign"),
        ("POST", {"Authorization": "Bearer wrong"}, 401, "token_invalid"),
    ],
)
def test_what_comes_by_another_way_is_turned_back(
    server: Server, secret: str, method: str, headers: dict[str, str], status: int, code: str
) -> None:
    with plain(server, secret) as client:
        answered = client.request(
            method, f"{PATH}?agent=bot", headers=headers, json=rpc("initialize", GREETING) if method == "POST" else None
        )
    assert (answered.status_code, answered.json()["code"]) == (status, code)
    assert not ToolRun.objects.exists()


def test_a_page_of_this_installation_may_come(server: Server, secret: str) -> None:
    with plain(server, secret, Origin=server.url) as client:
        assert greeted(client)


def test_a_token_of_too_many_requests_waits(server: Server, token: Any) -> None:
    with plain(server, token("calls_make", rate_per_minute=1)[1]) as client:
        found = [client.post(f"{PATH}?agent=bot", json=rpc("initialize", GREETING)).status_code for _ in range(12)]
    assert (found[0], found[-1]) == (200, 429)


BATCH = [rpc("ping", number=1), rpc("tools/list", number=2)]


def test_a_request_that_does_not_say_what_it_accepts_accepts_anything(server: Server, secret: str) -> None:
    with server.client(secret) as client:
        del client.headers["Accept"]
        begun = client.post(f"{PATH}?agent=bot", json=rpc("initialize", GREETING))
    assert (begun.status_code, begun.headers["content-type"]) == (200, "application/json")


def test_the_address_with_a_slash_is_the_same_door(server: Server, secret: str) -> None:
    with plain(server, secret) as client:
        begun = client.post(f"{PATH}/?agent=bot", json=rpc("initialize", GREETING))
    assert begun.status_code == 200 and begun.headers["mcp-session-id"]


@pytest.mark.parametrize("version", [{}, {"MCP-Protocol-Version": "2025-03-26"}])
def test_a_batch_is_answered_in_one_list(server: Server, secret: str, version: dict[str, str]) -> None:
    with plain(server, secret) as client:
        headers = {"mcp-session-id": greeted(client), **version}
        told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        found = client.post(PATH, json=[BATCH[0], told, BATCH[1], rpc("initialize", GREETING, 3), 7], headers=headers)
        quiet = client.post(PATH, json=[told], headers=headers)
    assert found.status_code == 200
    ping, listed, greeting, number = found.json()
    assert (ping["id"], ping["result"], listed["id"]) == (1, {}, 2)
    assert {each["name"] for each in listed["result"]["tools"]} >= CONTROLS
    assert (greeting["id"], greeting["error"]["code"], number["error"]["code"]) == (3, -32600, -32600)
    assert quiet.status_code == 202


@pytest.mark.parametrize(
    ("messages", "version"),
    [([], "2025-03-26"), (BATCH * 26, "2025-03-26"), (BATCH, "2025-06-18"), (BATCH, "2026-07-28")],
)
def test_what_is_no_batch_is_refused_as_the_protocol_says(
    server: Server, secret: str, messages: Any, version: str
) -> None:
    with plain(server, secret) as client:
        headers = {"mcp-session-id": greeted(client), "MCP-Protocol-Version": version}
        found = client.post(PATH, json=messages, headers=headers)
    assert (found.status_code, found.json()["error"]["code"], found.json()["id"]) == (400, -32600, None)


def test_a_batch_without_a_session_is_refused_message_by_message(server: Server, secret: str) -> None:
    with plain(server, secret) as client:
        found = client.post(f"{PATH}?agent=bot", json=BATCH)
    assert [each["error"]["data"]["code"] for each in found.json()] == ["session_missing"] * 2


def test_arguments_may_be_a_text_that_holds_an_object(server: Server, secret: str) -> None:
    with plain(server, secret) as client:
        session = greeted(client)
        asked = session_call(client, session, "tool_call", '{"id": "invoice_create", "args": {"name": "x"}}').json()
        given: tuple[Any, ...] = ("{", "[1]", 7, [])
        wrong = [session_call(client, session, "tool_search", each).json()["error"] for each in given]
    assert asked["result"]["structuredContent"] == {"given": {"name": "x"}}
    assert {each["code"] for each in wrong} == {-32602}
    assert all("`arguments` must be a JSON object" in each["message"] for each in wrong)


def test_a_cursor_that_was_never_given_is_an_error(server: Server, secret: str) -> None:
    with plain(server, secret) as client:
        headers = {"mcp-session-id": greeted(client)}
        wrong = client.post(PATH, json=rpc("tools/list", {"cursor": "made-up"}), headers=headers).json()
        right = client.post(PATH, json=rpc("tools/list"), headers=headers).json()
    assert wrong["error"]["code"] == -32602 and "cursor" in wrong["error"]["message"]
    assert "nextCursor" not in right["result"]
    for each in right["result"]["tools"]:  # every provider takes these
        assert re.fullmatch("[a-zA-Z0-9_-]{1,64}", each["name"]) and each["inputSchema"]["type"] == "object"
