"""The doors of agents that the OpenAPI document says little of: MCP, and OpenClaw's names over HTTP and over a socket.

Nothing that comes in breaks them, whatever it is: an error is answered, or the socket is closed with a code.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import requests
from django.utils import timezone
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from apps.gateway.rpc.methods import METHODS
from apps.gateway.rpc.socket import FRAME_LIMIT, PATH, TROUBLE
from apps.openclaw_gateways.services import enrolment_create
from tests.fuzz.document import PATIENCE_S
from tests.fuzz.hostile import TEXTS, VALUES, places, replaced, spoiled, text_of
from tests.fuzz.served import Served, program_session, served
from tests.gateway.conftest import publish_first
from tests.gateway.replies import REPLIES

pytestmark = pytest.mark.unhurried
SHORT, LONG = 40, 600
ABNORMAL = 1006
OPEN = '{"agents": {"entries": {"bot": {"tools": {"exec": {"security": "full", "ask": "off"}}}}}}'
SCOPES = ("calls_make", "decisions_ask", "approvals_read", "approvals_resolve")
MCP = "/api/v1/mcp"
CALLER = {"agentId": "bot", "sessionKey": "agent:bot:main", "environment": "production"}
PARAMS: dict[str, dict[str, Any]] = {
    "exec.approval.request": {
        **CALLER, "id": "mine", "command": "ls -l", "commandArgv": ["ls", "-l"], "cwd": "/srv", "host": "build-1",
        "env": {"HOME": "/srv"}, "timeoutMs": 1000, "twoPhase": True, "waitMs": 100,
    },
    "exec.approval.waitDecision": {"id": "nothing", "waitMs": 100},
    "exec.approval.resolve": {"id": "mine", "decision": "deny", "reason": "no"},
    "exec.approval.list": {},
    "exec.approval.get": {"id": "mine"},
}  # fmt: skip
"""What each method takes; a method without a line here fails."""
BEAT = {"boot": "boot-0001", "openclaw": "2026.9.6", "plugin": "1.0.0", "node": "24.19.0"}
CONTEXT = {"channel": "telegram", "sender_id": "1001", "sender_is_owner": False, "runtime_tools": ["read"]}
SAID = {"agent": "bot", "session": "agent:bot:main", "context": CONTEXT, "environment": "production"}
READ = {"tool": "read", "params": {"path": "a"}}
TOOL = {"name": "mine", "description": "Do it.", "parameters": {"type": "object", "properties": {"a": {}}}}
CALL = ("read", {"path": "a"})
REPLY = {
    "provider": "acme",
    "form": "openai-chat",
    "response": REPLIES["openai-chat"]([("read", {"path": "a"})], "one"),
}
BODIES: dict[str, dict[str, Any]] = {
    "/api/v1/decisions": {**SAID, **READ},
    "/api/v1/calls": {**SAID, **READ, "wait_ms": 100, "idempotency": "", "run": "turn-1"},
    "/api/v1/turns": {**SAID, **REPLY, "wait_ms": 100, "model": "large"},
    "/api/v1/runs": {
        **SAID, "provider": "acme", "model": "large", "task": "read", "tools": [TOOL], "required": ["read"],
        "takes_code": False,
    },
    "/api/v1/runs/{id}/turns": {"response": REPLY["response"], "wait_ms": 100},
    "/api/v1/runs/{id}/tools/search": {"query": "read", "limit": 3},
    "/api/v1/runs/{id}/tools/describe": {"id": "core:read"},
    "/api/v1/runs/{id}/tools/call": {"id": "read", "args": {"path": "a"}, "wait_ms": 100},
    "/api/v1/runs/{id}/tools/outcome": {"call": "call_1", "error": "no"},
    "/api/v1/openclaw/calls": {
        **SAID, **READ, "key": "a" * 32, "boot": BEAT["boot"], "run": "run-1", "tool_call": "call_1", "wait_ms": 100,
    },
    "/api/v1/openclaw/calls/{id}/outcome": {"is_error": True, "result": {"text": "a"}, "error": "no"},
    "/api/v1/openclaw/ungoverned": {**READ, "agent": "bot", "tool_call": "call_1", "error": "no"},
    "/api/v1/openclaw/heartbeat": {**BEAT},
    "/api/v1/openclaw/blocked": {"attempts": [{"key": "key-000001", "tool": "exec", "params": {}}], "dropped": 1},
    "/api/v1/openclaw/stops": {"boot": "boot-0001", "heard": "x", "wait_ms": 0, "background": [], "ended": []},
}  # fmt: skip
"""What agents and gateways send, by path."""
GREETING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
MESSAGES: list[Any] = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": GREETING},
    {"jsonrpc": "2.0", "id": "two", "method": "tools/list", "params": {}},
    {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "read", "arguments": {"path": "a"}}},
    {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "exec", "arguments": {"command": "true"}}},
    {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "nothing", "arguments": '{"a": 1}'}},
    {"jsonrpc": "2.0", "id": 6, "method": "ping"},
    {"jsonrpc": "2.0", "id": 7, "method": "server/discover", "params": {}},
    {"jsonrpc": "2.0", "id": 8, "method": "resources/read", "params": {"uri": "file:///etc/passwd"}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3, "reason": "late"}},
    [{"jsonrpc": "2.0", "id": 9, "method": "ping"}, {"jsonrpc": "2.0", "id": 9, "method": "tools/list"}],
]  # fmt: skip
HEADERS: dict[str, list[bytes]] = {
    "Content-Type": [b"application/json", b"application/json; charset=utf-7", b"text/plain", b"", b"\xff"],
    "Accept": [b"application/json", b"application/json, text/event-stream", b"text/html", b"*/*", b"", b"\xff;q=x"],
    "Mcp-Session-Id": [b"trun_nothing", b"\xff\xfe", b"x" * 4000, b"../..", b"%00"],
    "Mcp-Protocol-Version": [b"2025-11-25", b"2025-03-26", b"2026-06-30", b"1", b"\xff", b"9" * 400],
    "Last-Event-ID": [b"1", b"\xff"],
    "traceparent": [b"00-" + b"0" * 32 + b"-" + b"1" * 16 + b"-01", b"\xff"],
    "Content-Encoding": [b"gzip"],
}
QUERIES = [
    "?agent=bot", "?agent=bot&wait_ms=100", "", "?agent=%00", "?agent=bot&task=%00", "?agent=bot&session=%ED%A0%80",
    "?agent=bot&agent=clerk", "?agent=bot&wait_ms=-1", "?agent=bot&takes_code=perhaps", "?agent=bot&provider=%00",
    "?environment=%00&agent=bot", "?agent=bot&session=agent:bot:x%00", "?%", "?agent=bot&" + "a=1&" * 500,
]  # fmt: skip


@pytest.fixture
def running(transactional_db: None, environment: Any, tmp_path: Path, settings: Any) -> Iterator[Served]:
    settings.VAR_DIR = tmp_path / "var"
    publish_first(environment, OPEN)
    with served(tmp_path) as each:
        yield each


@pytest.fixture
def secret(environment: Any, token: Callable[..., tuple[Any, str]]) -> str:
    return token(*SCOPES, name="fuzz", rate_per_minute=1_000_000)[1]


def searched(examples: int, test: Callable[..., None], **drawn: st.SearchStrategy[Any]) -> None:
    """Try a door with so many examples."""
    healthy = settings(max_examples=examples, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    seed(1)(healthy(given(**drawn)(test)))()


def check(status: int, text: str, seconds: float, sent: object) -> None:
    """Hold an answer against what none may be."""
    assert status < 500 and "internal_error" not in text, (status, text[:500], str(sent)[:500])
    assert seconds < PATIENCE_S, (seconds, str(sent)[:500])


def bodies(values: list[Any]) -> st.SearchStrategy[str]:
    """Give texts of JSON with one member of these replaced, as they are, and what is no JSON at all."""
    plain = st.sampled_from(values)
    return st.one_of(plain.flatmap(spoiled).map(text_of), plain.map(text_of), st.sampled_from(TEXTS))


def mcp(running: Served, secret: str, examples: int) -> None:
    session = program_session(secret)
    begun = session.post(f"{running.url}{MCP}?agent=bot&wait_ms=100", json=MESSAGES[0], headers={"Accept": "*/*"})
    assert begun.status_code == 200, begun.text
    usual = {
        "Content-Type": b"application/json",
        "Accept": b"application/json",
        "Mcp-Session-Id": begun.headers["mcp-session-id"].encode(),
    }

    def ask(method: str, query: str, body: str, headers: dict[str, bytes], dropped: str) -> None:
        sent = {name: value for name, value in {**usual, **headers}.items() if name != dropped}
        answered = _sent(session, method, f"{running.url}{MCP}{query}", body, sent)
        check(answered.status_code, answered.text, answered.elapsed.total_seconds(), (method, query, sent, body))

    searched(
        examples,
        ask,
        method=st.sampled_from(["POST"] * 8 + ["GET", "PUT"]),
        query=st.sampled_from([*QUERIES[:2], *QUERIES]),
        body=bodies(MESSAGES),
        headers=st.fixed_dictionaries({}, optional={name: st.sampled_from(found) for name, found in HEADERS.items()}),
        dropped=st.sampled_from(["", "", *usual]),
    )


def _sent(session: requests.Session, method: str, url: str, body: str, headers: dict[str, bytes]) -> requests.Response:
    return session.request(method, url, data=body.encode(), headers=headers, timeout=PATIENCE_S * 3)


def names_by_http(running: Served, secret: str, examples: int) -> None:
    session = program_session(secret)

    def ask(name: str, body: str) -> None:
        headers = {"Content-Type": b"application/json"}
        answered = _sent(session, "POST", f"{running.url}{PATH}/{name}", body, headers)
        check(answered.status_code, answered.text, answered.elapsed.total_seconds(), (name, body))

    calls = st.sampled_from([*METHODS]).flatmap(lambda name: st.tuples(st.just(name), bodies([PARAMS[name]])))
    searched(examples, lambda call: ask(*call), call=calls)


def names_by_socket(running: Served, secret: str, examples: int) -> None:
    with ExitStack() as stack:
        sockets: list[ClientConnection] = []

        def ask(frame: str | bytes) -> None:
            if not sockets:
                sockets.append(stack.enter_context(_opened(running, secret)))
            begun = time.monotonic()
            text, code = _answer(sockets[0], frame)
            if code is not None:
                sockets.pop()
            assert code not in {TROUBLE, ABNORMAL}, (code, frame[:500])
            check(200, text, time.monotonic() - begun, frame)

        searched(examples, ask, frame=frames())


def frames() -> st.SearchStrategy[Any]:
    """Give calls with something wrong in them, texts that are none, and what is no text."""
    calls = [{"type": "req", "id": "r1", "method": name, "params": params} for name, params in PARAMS.items()]
    unknown = {"type": "req", "id": "r1", "method": "nothing", "params": {}}
    return st.one_of(bodies([*calls, unknown]), st.sampled_from([b"", b"\x00\xff", b"{}", "x" * (FRAME_LIMIT + 1)]))


def _opened(running: Served, secret: str) -> ClientConnection:
    headers = {"Authorization": f"Bearer {secret}"}
    return connect(f"{running.socket_url}{PATH}", additional_headers=headers, proxy=None, compression=None)


def _answer(socket: ClientConnection, frame: str | bytes) -> tuple[str, int | None]:
    """Send a frame, and give its answer, or the code that the socket is closed with."""
    try:
        socket.send(frame)
        while True:
            text = str(socket.recv(timeout=PATIENCE_S))
            if json.loads(text)["type"] == "res":
                return text, None
    except ConnectionClosed as closed:
        return "", ABNORMAL if closed.rcvd is None else closed.rcvd.code


def _gateway_secret(running: Served, environment: Any) -> str:
    _, secret = enrolment_create(environment, name="office", by=None, at=timezone.now())
    enrolled = program_session(secret).post(f"{running.url}/api/v1/openclaw/enrol", json=BEAT, timeout=PATIENCE_S)
    return str(enrolled.json()["token"])


def _members_wrong(session: requests.Session, url: str, body: dict[str, Any], values: list[Any]) -> list[str]:
    """Send a body with each of its members replaced by each of some values; say where the server breaks."""
    wrong = []
    for place in places(body):
        for value in values:
            text = text_of(replaced(body, place, value))
            answered = _sent(session, "POST", url, text, {"Content-Type": b"application/json"})
            if answered.status_code >= 500 or "internal_error" in answered.text:
                wrong.append(f"{url} {place} {str(value)[:20]!r}: {answered.status_code} {answered.text[:100]}")
    return wrong


def every_member_wrong(running: Served, secret: str, environment: Any, values: list[Any]) -> list[str]:
    agent, gateway = program_session(secret), program_session(_gateway_secret(running, environment))
    run = agent.post(f"{running.url}/api/v1/runs", json=BODIES["/api/v1/runs"], timeout=PATIENCE_S).json()["id"]
    wrong = []
    for path, body in BODIES.items():
        session = gateway if "/openclaw/" in path else agent
        wrong += _members_wrong(session, running.url + path.replace("{id}", run), body, values)
    return wrong


DOORS = {"mcp": mcp, "http": names_by_http, "socket": names_by_socket}


def test_every_method_has_params_here() -> None:
    assert set(PARAMS) == set(METHODS)


@pytest.mark.slow
def test_no_door_of_agents_breaks_or_hangs_over_what_no_client_sends(running: Served, secret: str) -> None:
    for door in DOORS.values():
        door(running, secret, SHORT)
    with program_session(secret) as session:
        assert session.get(f"{running.url}/healthz", timeout=PATIENCE_S).status_code == 200


@pytest.mark.slow
def test_no_member_of_what_agents_send_breaks_a_path_with_what_cannot_be_stored(
    running: Served, secret: str, environment: Any
) -> None:
    assert every_member_wrong(running, secret, environment, ["a\x00b"]) == []


@pytest.mark.slow
def test_no_member_of_what_agents_send_breaks_a_path(running: Served, secret: str, environment: Any) -> None:
    assert every_member_wrong(running, secret, environment, VALUES) == []


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_a_door_of_agents_stands_a_long_series(running: Served, secret: str, door: str) -> None:
    DOORS[door](running, secret, LONG)
