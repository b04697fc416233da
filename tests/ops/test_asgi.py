"""The one ASGI application: which door answers, and what stands around each request."""

import json
from typing import Any
from unittest.mock import patch

import httpx
import pytest
import structlog

from apps.gateway.mcp import door as mcp
from apps.gateway.runtime_api.app import ROUTES
from openclaw_admin import asgi, health, sockets
from openclaw_admin.requests import Message, Receive, RequestLog, Scope, Send, send_json


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    await send_json(send, 200, {"path": scope["path"]})


def client(application: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url="http://127.0.0.1:8000")


async def test_health_needs_nothing_but_the_process() -> None:
    async with client(asgi.application) as http:
        answer = await http.get("/healthz")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"
    assert answer.headers["content-security-policy"] and answer.headers["x-content-type-options"] == "nosniff"


def test_every_path_of_agents_goes_to_their_door_and_no_other() -> None:
    for route in ROUTES:
        assert asgi.AGENTS_PATH.fullmatch(route.path.replace("{id}", "call_1")), route.path
    assert all(asgi.AGENTS_PATH.fullmatch(path) for path in mcp.PATHS)
    for path in (
        "/api/v1/audit",
        "/api/v1/mcp/x",
        "/api/v1/approvals/ap_1/",
        "/api/v1/approvals",
        "/decisions",
        "/api/v1/decisionsx",
    ):
        assert not asgi.AGENTS_PATH.fullmatch(path), path


async def test_an_agent_without_a_token_is_answered_by_its_own_door() -> None:
    async with client(asgi.application) as http:
        answer = await http.post("/api/v1/decisions", json={})
    assert set(answer.json()) == {"code", "message", "details"}


async def test_a_request_gets_an_id_or_keeps_the_one_it_brought() -> None:
    async with client(RequestLog(echo)) as http:
        given = await http.get("/x", headers={"x-request-id": "caller-4711"})
        made = await http.get("/x", headers={"x-request-id": "bad id\twith signs"})
    assert given.headers["x-request-id"] == "caller-4711"
    assert len(made.headers["x-request-id"]) == 16


async def test_its_log_line_holds_no_query() -> None:
    with structlog.testing.capture_logs() as lines:
        async with client(RequestLog(echo)) as http:
            await http.get("/x?token=hush")
    (line,) = lines
    assert (line["path"], line["status"]) == ("/x", 200)
    assert "hush" not in json.dumps(line)


@pytest.mark.django_db(transaction=True)
async def test_readiness_names_each_part_and_fails_without_secrets() -> None:
    def broken() -> str:
        raise RuntimeError("postgresql://u:hush@h/db")

    def missing() -> str:
        raise health.NotReadyError("3 migrations are not applied")

    parts = {"database": health.database, "writer": broken, "migrations": missing}
    with patch.object(health, "PARTS", parts):
        async with client(asgi.application) as http:
            answer = await http.get("/readyz")
    assert answer.status_code == 503
    shown = answer.json()["parts"]
    assert shown["database"] == {"ready": True, "state": "answers"}
    assert shown["writer"] == {"ready": False, "state": "RuntimeError"}
    assert shown["migrations"] == {"ready": False, "state": "3 migrations are not applied"}


def socket_scope(path: str = "/ws/console/", **headers: str) -> dict[str, Any]:
    return {"type": "websocket", "path": path, "headers": [(k.encode(), v.encode()) for k, v in headers.items()]}


@pytest.mark.parametrize(
    ("headers", "ours"),
    [
        ({"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"}, True),
        ({"host": "localhost:9", "origin": "http://localhost:9"}, True),
        ({"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:9999"}, False),
        ({"host": "127.0.0.1:8000", "origin": "https://evil.example"}, False),
        ({"host": "evil.example", "origin": "https://evil.example"}, False),
        ({"host": "127.0.0.1:8000", "origin": "http://["}, False),
        ({"host": "127.0.0.1:8000", "origin": "null"}, False),
        ({"host": "127.0.0.1:8000"}, False),
        ({"origin": "http://127.0.0.1:8000"}, False),
    ],
)
def test_a_socket_wants_the_origin_of_its_own_page(headers: dict[str, str], ours: bool) -> None:
    assert sockets.is_same_origin(socket_scope(**headers)) is ours


async def closed_with(scope: dict[str, Any]) -> int:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await asgi.application(scope, receive, send)
    return int(sent[0]["code"])


async def test_a_socket_of_another_origin_or_an_unknown_path_is_closed_before_the_session_is_read() -> None:
    ours = {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"}
    assert await closed_with(socket_scope(host="127.0.0.1:8000", origin="http://other.example")) == 4403
    assert await closed_with(socket_scope("/ws/nothing/", **ours)) == 4404


async def test_a_start_that_fails_stops_the_server_and_says_why() -> None:
    from openclaw_admin import lifespan

    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "lifespan.startup"}

    async def send(message: Message) -> None:
        sent.append(message)

    async def fail() -> None:
        raise RuntimeError("the database is away")

    with patch.object(lifespan.process, "start", fail):
        await asgi.application({"type": "lifespan"}, receive, send)
    assert sent == [{"type": "lifespan.startup.failed", "message": "the database is away"}]
