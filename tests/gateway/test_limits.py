"""Rates, breakers, repetitions and remembered results at the agents' door; the tool server is a real one."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from psycopg import sql

from apps.audit.models import Entry
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.tools.catalog import BUILTINS
from apps.limits import services
from apps.limits.models import KeptResult, RateCounter, ToolBreaker
from apps.registry.services import source_create
from tests import database
from tests.gateway.conftest import call
from tests.gateway.server import Holder, Server
from tests.gateway.test_decisions import eventually


class ToolServer:
    """Counts what it is asked, and answers with the statuses it is told, then with the last of them."""

    def __init__(self) -> None:
        self.asked = 0
        self.statuses = [200]
        self.more: dict[str, str] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        tools = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                tools.asked += 1
                status = tools.statuses.pop(0) if len(tools.statuses) > 1 else tools.statuses[0]
                body = json.dumps({"result": {"n": tools.asked} | tools.more} if status == 200 else {}).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        return Handler

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def tools() -> Iterator[ToolServer]:
    made = ToolServer()
    yield made
    made.close()


def snapshot_of(tools: ToolServer) -> Snapshot:
    """Offer the tools of a server, each with other traits, and the built-in ones."""

    def remote(name: str, **traits: Any) -> ToolEntry:
        executor = {"kind": "http", "source": "server", "url": f"{tools.url}/{name}"}
        return ToolEntry(name, source="plugin", plugin="server", executor=executor, traits=traits)

    again = {"idempotent": True, "retry": {"max_retries": 2, "delay_ms": 1}}
    entries = [ToolEntry(name, params=tool.definition.parameters) for name, tool in BUILTINS.items()]
    entries += [
        remote("plain"),
        remote("repeated", **again),
        remote("risky", retry=again["retry"]),
        remote("remembered", cache={"ttl_ms": 600_000}),
        remote("rare", rate_limit={"requests_per_minute": 1}),
        remote("small", rate_limit={"tokens_per_request": 10}),
    ]
    agents = [AgentSource("bot"), AgentSource("clerk")]
    return build_snapshot(SnapshotSource(environment="production", tools=entries, agents=agents))


@pytest.fixture
def holder(tools: ToolServer, environment: Any) -> Holder:
    settings = {"url": tools.url, "allow_networks": ["127.0.0.0/8"]}
    source_create(environment, key="server", kind="remote", settings=settings)
    return Holder(snapshot_of(tools))


def ended(answer: httpx.Response) -> tuple[str, str]:
    """Tell how a call ended: its status and the code of its error."""
    said = answer.json()
    return said["status"], (said["error"] or {}).get("code", "")


def codes(answer: httpx.Response) -> list[str]:
    return [warning["code"] for warning in answer.json().get("warnings", [])]


def limited(agent: httpx.Client, tool: str = "plain") -> Callable[[], bool]:
    return lambda: ended(call(agent, tool)) == ("denied", "rate_limited")


def test_a_rate_holds_at_once_and_its_refusal_says_which_it_was(
    agent: httpx.Client, environment: Any, tools: ToolServer
) -> None:
    assert ended(call(agent, "plain")) == ("completed", "")
    services.rate_limit_create(environment, name="calm", per_minute=1, per="agent", tools=["pl*"])
    assert eventually(limited(agent))
    asked = tools.asked

    refused = call(agent, "plain").json()
    other = agent.post("/api/v1/calls", json={"agent": "clerk", "tool": "plain", "params": {}})

    assert "calm allows 1 call a minute; try again in" in refused["error"]["message"]
    assert refused["error"]["details"][0]["code"] == "retry_after"
    assert (ended(other), tools.asked) == (("completed", ""), asked + 1)
    denial = Entry.objects.filter(kind="denial", tool="plain").latest("at")
    assert (denial.decision_layer, denial.decision_rule) == ("limits", "calm")
    assert RateCounter.objects.get(subject="bot").refused >= 2


def test_a_rate_that_is_removed_or_switched_off_holds_no_more(agent: httpx.Client, environment: Any) -> None:
    limit = services.rate_limit_create(environment, name="calm", per_minute=1)
    assert eventually(limited(agent))
    limit = services.rate_limit_save(limit, is_enabled=False)
    assert eventually(lambda: ended(call(agent, "plain"))[0] == "completed")
    services.rate_limit_save(limit, is_enabled=True)
    assert eventually(limited(agent))
    services.rate_limit_delete(limit)
    assert eventually(lambda: ended(call(agent, "plain"))[0] == "completed")


def test_the_rate_that_a_definition_states_is_counted_for_everybody(agent: httpx.Client, tools: ToolServer) -> None:
    assert ended(call(agent, "rare")) == ("completed", "")
    other = agent.post("/api/v1/calls", json={"agent": "clerk", "tool": "rare", "params": {}})
    assert (ended(other), tools.asked) == (("denied", "rate_limited"), 1)


def test_params_beyond_the_tokens_of_a_call_do_not_reach_the_tool(agent: httpx.Client, tools: ToolServer) -> None:
    assert ended(call(agent, "small", {"a": "x"})) == ("completed", "")
    assert ended(call(agent, "small", {"a": "x" * 60})) == ("denied", "tokens_exceeded")
    assert tools.asked == 1


def test_a_result_beyond_the_tokens_of_a_call_is_withheld(agent: httpx.Client, tools: ToolServer) -> None:
    tools.more = {"text": "x" * 60}
    answer = call(agent, "small").json()
    assert (answer["status"], answer["error"]["code"], answer["result"]) == ("failed", "tokens_exceeded", None)


def test_only_what_its_author_calls_idempotent_runs_again(agent: httpx.Client, tools: ToolServer) -> None:
    tools.statuses = [503, 503, 200]
    repeated = call(agent, "repeated")
    assert (ended(repeated), tools.asked, codes(repeated)) == (("completed", ""), 3, ["retried"])
    assert Entry.objects.filter(kind="call_intent", tool="repeated").count() == 1

    tools.statuses = [503, 200]
    assert ended(call(agent, "risky")) == ("failed", "tool_server_busy")
    assert tools.asked == 4


def test_an_equal_call_is_answered_by_the_result_that_was_kept(agent: httpx.Client, tools: ToolServer) -> None:
    first = call(agent, "remembered", {"city": "Bern"})
    again = call(agent, "remembered", {"city": "Bern"})
    other = call(agent, "remembered", {"city": "Basel"})

    assert first.json()["result"] == again.json()["result"] == {"n": 1}
    assert other.json()["result"] == {"n": 2}
    assert codes(again) == ["remembered"] and first.json()["id"] in again.json()["warnings"][0]["message"]
    assert Entry.objects.filter(kind="call_outcome", tool="remembered", status="completed").count() == 3
    assert b"n" not in bytes(KeptResult.objects.first().sealed)[21:22]  # type: ignore[union-attr]


def test_another_agent_gets_no_result_of_this_one(agent: httpx.Client, tools: ToolServer) -> None:
    call(agent, "remembered", {"city": "Bern"})
    other = agent.post("/api/v1/calls", json={"agent": "clerk", "tool": "remembered", "params": {"city": "Bern"}})
    assert (other.json()["result"], tools.asked) == ({"n": 2}, 2)


def test_a_failure_is_never_remembered(agent: httpx.Client, tools: ToolServer) -> None:
    tools.statuses = [500, 200]
    assert ended(call(agent, "remembered"))[0] == "failed"
    assert ended(call(agent, "remembered")) == ("completed", "")


def test_a_tool_that_keeps_failing_is_left_alone_then_tried_once(
    agent: httpx.Client, environment: Any, tools: ToolServer, server: Server
) -> None:
    services.breaker_policy_save(environment, failures=2, pause_s=1)
    tools.statuses = [503]
    assert eventually(lambda: ended(call(agent, "plain")) == ("denied", "tool_unavailable"))
    asked = tools.asked
    assert ended(call(agent, "plain")) == ("denied", "tool_unavailable") and tools.asked == asked
    assert ended(call(agent, "repeated"))[1] == "tool_server_busy", "each tool has its own breaker"

    tools.statuses = [200]
    assert eventually(lambda: ended(call(agent, "plain")) == ("completed", ""))
    assert not ToolBreaker.objects.filter(tool="plain").exists()
    assert ended(call(agent, "plain")) == ("completed", "")


@pytest.mark.skipif(not database.HAS_TWO_ROLES, reason="needs a role of its own for the application")
def test_a_breaker_that_cannot_be_counted_changes_no_outcome(
    agent: httpx.Client, environment: Any, tools: ToolServer
) -> None:
    services.breaker_policy_save(environment, failures=100, pause_s=3600)
    tools.statuses = [503]
    assert eventually(lambda: call(agent, "plain").is_success and ToolBreaker.objects.filter(tool="plain").exists())
    counted = ToolBreaker.objects.get(tool="plain").failures
    role = sql.Identifier(str(database.APPLICATION["USER"]))
    with database.owner_connection() as owner:
        owner.execute(sql.SQL("REVOKE INSERT, UPDATE, DELETE ON limits_toolbreaker FROM {}").format(role))
        try:
            failed = call(agent, "plain")
            tools.statuses = [200]
            fine = call(agent, "plain")
        finally:
            owner.execute(sql.SQL("GRANT INSERT, UPDATE, DELETE ON limits_toolbreaker TO {}").format(role))

    assert (ended(failed), ended(fine)) == (("failed", "tool_server_busy"), ("completed", ""))
    assert fine.json()["result"] == {"n": tools.asked}
    assert ToolBreaker.objects.get(tool="plain").failures == counted


def test_an_operator_closes_a_breaker_and_its_rule_can_be_switched_off(
    agent: httpx.Client, environment: Any, tools: ToolServer
) -> None:
    services.breaker_policy_save(environment, failures=1, pause_s=3600)
    tools.statuses = [503, 200]
    assert eventually(lambda: ended(call(agent, "plain")) in {("denied", "tool_unavailable"), ("completed", "")})
    tools.statuses = [503]
    assert eventually(lambda: ended(call(agent, "plain")) == ("denied", "tool_unavailable"))

    tools.statuses = [200]
    assert services.breaker_close(environment, "plain")
    assert eventually(lambda: ended(call(agent, "plain")) == ("completed", ""))

    services.breaker_policy_save(environment, is_enabled=False)
    tools.statuses = [503]
    for _ in range(3):
        assert eventually(lambda: ended(call(agent, "plain"))[1] == "tool_server_busy")


def test_what_a_tool_refuses_by_its_params_opens_no_breaker(
    agent: httpx.Client, environment: Any, tools: ToolServer
) -> None:
    services.breaker_policy_save(environment, failures=1, pause_s=3600)
    tools.statuses = [404]
    for _ in range(3):
        assert ended(call(agent, "plain")) == ("failed", "tool_server_refused")
    assert not ToolBreaker.objects.exists()
