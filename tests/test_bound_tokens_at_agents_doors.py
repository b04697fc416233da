"""A token that is bound to one agent, at the doors of agents: nothing of another is told, answered or ended.

It is tried in its worst cases: the very token that made the other agent's calls and was bound later, and another token
of the same person. A route, a method or a socket without a line in a table fails.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from django.utils import timezone
from websockets.exceptions import ConnectionClosed

from apps.accounts.access import OF_AGENTS, Permission
from apps.accounts.models import ApiToken
from apps.approvals.models import Approval
from apps.approvals.services import approval_resolve
from apps.audit.models import Entry
from apps.firewall.identifiers import read_id
from apps.gateway.lifecycle import gateway
from apps.gateway.models import AsyncCall
from apps.gateway.rpc.methods import METHODS
from apps.runs.models import ToolRun
from tests.doors import AGENTS, SOCKETS
from tests.gateway.conftest import holder, server  # noqa: F401 - fixtures
from tests.gateway.replies import REPLIES
from tests.gateway.server import Server
from tests.gateway.test_async_calls import later
from tests.gateway.test_call_events import listen
from tests.gateway.test_mcp_sessions import GREETING, rpc
from tests.gateway.test_rpc import ASK, open_socket, over_http, over_socket
from tests.gateway.test_waiting import asked

pytestmark = pytest.mark.django_db(transaction=True)
NOT_THEIRS = {403, 404}
LATER = "bound later"
SESSIONLESS = "2026-07-28"
QUIET_S, NOTHING_HERE = 1.5, 4404
BOT = {"agent": "bot"}
READ = {**BOT, "tool": "read", "params": {"path": "a"}}
REPLY = REPLIES["openai-chat"]([("read", {"path": "a"})], "one")
# What is sent where a path takes a body, about the other agent.
BODIES: dict[str, Any] = {
    "/api/v1/decisions": READ,
    "/api/v1/calls": READ,
    "/api/v1/turns": {**BOT, "provider": "acme", "form": "openai-chat", "response": REPLY},
    "/api/v1/runs": {**BOT, "provider": "acme"},
    "/api/v1/runs/{id}/end": {},
    "/api/v1/runs/{id}/turns": {"response": REPLY},
    "/api/v1/runs/{id}/tools/search": {"query": "read"},
    "/api/v1/runs/{id}/tools/describe": {"id": "core:read"},
    "/api/v1/runs/{id}/tools/code": {"code": "1"},
    "/api/v1/runs/{id}/tools/call": {"id": "read", "args": {"path": "a"}},
    "/api/v1/runs/{id}/tools/outcome": {"call": "call_1", "error": "no"},
    "/api/v1/mcp": rpc("tools/list"),
    "/api/v1/openclaw/calls": {**READ, "key": "a" * 32, "boot": "boot-0001"},
    "/api/v1/openclaw/calls/{id}/outcome": {"is_error": True},
    "/api/v1/openclaw/ungoverned": READ,
    "/api/v1/openclaw/blocked": {"attempts": [{**READ, "key": "a" * 32}]},
    "/api/v1/openclaw/stops": {"boot": "boot-0001", "heard": "", "wait_ms": 0},
    "/api/v1/openclaw/heartbeat": {"boot": "boot-0001"},
}
MESSAGES: list[dict[str, Any]] = [
    rpc("tools/list"),
    rpc("tools/call", {"name": "read", "arguments": {"path": "a"}}),
    rpc("ping"),
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
]
QUERIES = {"/api/v1/tools": "?agent=bot", "/api/v1/approvals/{id}/wait": "?wait=0"}


def params_of(given_id: str) -> dict[str, dict[str, Any]]:
    """Give what is sent to each method about the other agent's request."""
    return {
        "exec.approval.request": {**ASK, "agentId": "bot", "twoPhase": True},
        "exec.approval.waitDecision": {"id": given_id, "waitMs": 50},
        "exec.approval.resolve": {"id": given_id, "decision": "deny"},
        "exec.approval.list": {},
        "exec.approval.get": {"id": given_id},
    }


@dataclass(frozen=True)
class Other:
    """What the agent `bot` has: a call that waits for people, one in the queue, a run, a session, a question."""

    approval: str
    waiting: str
    queued: str
    run: str
    session: str
    question: str

    def path(self, route: str) -> str:
        """Give the address of a route, of what is this agent's."""
        of_calls = self.queued if route.startswith("/api/v1/calls") else self.run
        return route.replace("{id}", self.approval if "/approvals/" in route else of_calls) + QUERIES.get(route, "")


@pytest.fixture
def maker(token: Callable[..., Any], admin: Any) -> tuple[Any, str]:
    return token(*OF_AGENTS, by=admin, name="makes", rate_per_minute=100_000)  # type: ignore[no-any-return]


@pytest.fixture
def other(server: Server, maker: tuple[Any, str]) -> Other:  # noqa: F811 - a fixture
    with server.client(maker[1]) as client:
        waiting = asked(client)
        queued = later(client, "exec", {"command": "sleep 1"}).json()["id"]
        run = client.post("/api/v1/runs", json={**BOT, "provider": "acme"}).json()["id"]
        greeted = client.post("/api/v1/mcp?agent=bot", json=rpc("initialize", GREETING))
        question = over_http(client)("exec.approval.request", {**ASK, "id": "job", "twoPhase": True})
    return Other(
        waiting["approval"]["id"], waiting["id"], queued, run, greeted.headers["mcp-session-id"], question["approvalId"]
    )


@pytest.fixture(params=[LATER, "of the same person"])
def bound(
    request: pytest.FixtureRequest,
    server: Server,  # noqa: F811 - a fixture
    other: Other,
    maker: tuple[Any, str],
    token: Callable[..., Any],
    admin: Any,
) -> str:
    """A token that may speak for `clerk` alone, with every permission that such a token can have."""
    row, secret = maker
    if request.param == "of the same person":
        row, secret = token(*OF_AGENTS, by=admin, name="another", rate_per_minute=100_000)
    ApiToken.objects.filter(pk=row.pk).update(agents=["clerk"], scopes=sorted(Permission))
    assert server.loop is not None
    server.loop.call_soon_threadsafe(gateway().tokens.forget)
    return str(secret)


@pytest.fixture
def client(server: Server, bound: str) -> Iterator[httpx.Client]:  # noqa: F811 - a fixture
    with server.client(bound, Accept="application/json") as each:
        yield each


@pytest.fixture
def untouched(request: pytest.FixtureRequest, bound: str, other: Other) -> Iterator[None]:
    """Nothing of the other agent changes, and nothing is recorded as its.

    What a token asked that may not speak for the agent any more is withdrawn by the product itself, without an answer.
    """
    has_lost = request.node.callspec.params["bound"] == LATER
    before = everything(has_lost=has_lost)
    yield
    assert everything(has_lost=has_lost) == before


def everything(*, has_lost: bool) -> tuple[Any, ...]:
    withdrawn = {"cancelled"} if has_lost else set()
    requests = Approval.objects.order_by("pk").values_list("pk", "state")
    return (
        [(pk, "requested" if state in withdrawn else state) for pk, state in requests],
        list(AsyncCall.objects.order_by("pk").values_list("pk", *([] if has_lost else ["state"]))),
        list(ToolRun.objects.order_by("pk").values_list("pk", "agent", "ended_at", "searches", "describes", "calls")),
        Entry.objects.filter(agent="bot", kind="call_intent").count(),
    )


def is_told_of(text: str, other: Other) -> bool:
    """Say whether an answer holds an id or a command of the other agent."""
    ids = (other.approval, other.waiting, other.queued, other.run, other.session, other.question)
    return any(each in text for each in ids) or "make deploy" in text or "touch made" in text


def test_every_route_method_and_socket_has_a_line() -> None:
    taking_a_body = {path for method, path in AGENTS if method == "POST" and "/rpc/" not in path}
    assert set(BODIES) == taking_a_body
    assert set(params_of("")) == set(METHODS)
    assert set(SOCKETS) == {"/ws/console/", *HEARD}


@pytest.mark.usefixtures("untouched")
def test_no_route_answers_with_what_is_another_agents(client: httpx.Client, other: Other) -> None:
    wrong = {}
    for method, route in AGENTS:
        if "/rpc/" in route:
            continue  # below, by both ways
        path = other.path(route)
        headers = {"mcp-session-id": other.session} if route == "/api/v1/mcp" else {}
        answer = client.request(method, path, json=BODIES.get(route), headers=headers)
        if answer.status_code not in NOT_THEIRS:
            wrong[method, path] = (answer.status_code, answer.text[:200])
    for method in ("GET", "DELETE"):
        answer = client.request(method, f"/api/v1/calls/{other.waiting}")
        assert (method, answer.status_code) == (method, 404)
    assert wrong == {}


@pytest.mark.usefixtures("untouched")
def test_no_method_answers_with_what_is_another_agents(
    server: Server,  # noqa: F811 - a fixture
    client: httpx.Client,
    bound: str,
    other: Other,
) -> None:
    with open_socket(server, bound) as socket:
        for ask in (over_http(client), over_socket(socket)):
            for given_id in (other.approval, other.question, "job"):
                for name, params in params_of(given_id).items():
                    told = ask(name, params)
                    refused = told.get("code") in {"agent_not_allowed", "approval_not_found"}
                    assert refused or told == {"approvals": []}, (name, told)


@pytest.mark.usefixtures("untouched")
def test_no_message_of_mcp_reaches_another_agents_session(client: httpx.Client, other: Other) -> None:
    queries = ("", "?agent=bot", "?agent=bot&session=agent:bot:main", "?session=agent:bot:main")
    for version in (None, "2025-11-25", SESSIONLESS):
        for query in queries:
            headers = {"mcp-session-id": other.session, **({"mcp-protocol-version": version} if version else {})}
            for message in (*MESSAGES, MESSAGES):
                answer = client.post(f"/api/v1/mcp{query}", json=message, headers=headers)
                assert not is_told_of(answer.text, other), (version, query, message)
            assert client.delete(f"/api/v1/mcp{query}", headers=headers).status_code == 404
    assert client.post("/api/v1/mcp?agent=bot", json=rpc("initialize", GREETING)).status_code == 403


def hears_of_no_call(server: Server, bound: str, other: Other, _: Callable[[], None]) -> None:  # noqa: F811
    for call_id in (other.queued, other.waiting):
        with listen(server, call_id, bound) as socket, pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=60)
        assert closed.value.rcvd is not None and closed.value.rcvd.code == NOTHING_HERE


def hears_of_no_request(server: Server, bound: str, _: Other, happen: Callable[[], None]) -> None:  # noqa: F811
    with open_socket(server, bound) as socket:
        assert over_socket(socket)("exec.approval.list", {}) == {"approvals": []}
        happen()
        with pytest.raises(TimeoutError):
            socket.recv(timeout=QUIET_S)


HEARD: dict[str, Callable[[Server, str, Other, Callable[[], None]], None]] = {
    "/api/v1/calls/{id}/events": hears_of_no_call,
    "/api/v1/rpc": hears_of_no_request,
}
"""What each socket is tried by; that of the console takes no token."""


@pytest.mark.parametrize("path", HEARD)
def test_no_socket_tells_what_is_another_agents(
    server: Server,  # noqa: F811 - a fixture
    bound: str,
    other: Other,
    path: str,
    token: Callable[..., Any],
    admin: Any,
    operator: Any,
) -> None:
    def happen() -> None:
        with server.client(token("calls_make", by=admin, agents=["bot"])[1]) as client:
            asked_now = over_http(client)("exec.approval.request", {**ASK, "id": "next", "twoPhase": True})
        approval = Approval.objects.get(pk=read_id("ap", asked_now["approvalId"]))
        approval_resolve(approval, decision="deny", by=operator, at=timezone.now())

    HEARD[path](server, bound, other, happen)
