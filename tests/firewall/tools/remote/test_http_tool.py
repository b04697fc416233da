"""Calls of tools that live behind an address: the example server as a process, and servers that misbehave."""

import asyncio
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from apps.firewall.tools.connections import Connection, read_connection
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.executors import HttpExecutor
from apps.firewall.tools.http_tool import run_http_tool
from apps.firewall.tools.running import ToolOutcome
from tests.firewall.tools.connector.loopback import Handler, Server, names, saying, serving, watching
from tests.firewall.tools.remote.conftest import KEY, TOKEN, Registry

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SEED = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"


async def call(registry: Registry, tool: str, params: dict[str, Any], **changes: Any) -> ToolOutcome:
    executor = HttpExecutor(url=registry.url(f"/tools/{tool}"), source="example")
    call_id = f"call_{hashlib.sha256(json.dumps([tool, params, changes]).encode()).hexdigest()[:26]}"
    return await run_http_tool(
        executor,
        Definition(name=tool),
        params,
        connection=registry.connection(**changes),
        timeout_ms=5000,
        call_id=call_id,
    )


async def test_the_example_runs_a_tool(registry: Registry) -> None:
    outcome = await call(registry, "text_count", {"text": "two words"})
    assert outcome == ToolOutcome(result={"characters": 9, "words": 2, "lines": 1})


async def test_a_tool_s_own_error_reaches_the_model(registry: Registry) -> None:
    outcome = await call(registry, "unit_convert", {"value": -1, "from": "m", "to": "km"})
    assert outcome.ended == "failed"
    assert outcome.error == {"code": "negative_length", "message": "`value` must not be negative: a length never is"}


@pytest.mark.parametrize(
    "signing",
    [
        None,
        {"algorithm": "hmac-sha256", "key": "another-key-than-theirs"},
        {"algorithm": "ed25519", "key": SEED},
    ],
)
async def test_the_example_refuses_what_is_not_signed_with_its_key(registry: Registry, signing: Any) -> None:
    outcome = await call(registry, "text_count", {"text": "x"}, signing=signing)
    assert outcome.ended == "failed"
    assert outcome.error is not None
    assert outcome.error["code"] == "signature_invalid"


async def test_the_example_takes_signatures_of_ed25519(started: Callable[..., Registry], tmp_path: Path) -> None:
    public = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(SEED)).public_key()
    raw = public.public_bytes(Encoding.Raw, PublicFormat.Raw)
    registry = started(tmp_path / "tools.json", TOOL_PUBLIC_KEY=raw.hex())
    signed = await call(registry, "text_count", {"text": "x"}, signing={"algorithm": "ed25519", "key": SEED})
    other = await call(registry, "text_count", {"text": "y"}, signing={"algorithm": "ed25519", "key": "ab" * 32})
    assert signed.ended == "completed"
    assert other.ended == "failed"


async def test_a_call_that_comes_twice_runs_once(registry: Registry) -> None:
    executor = HttpExecutor(url=registry.url("/tools/text_count"), source="example")

    async def count(text: str) -> ToolOutcome:
        return await run_http_tool(
            executor,
            Definition(name="text_count"),
            {"text": text},
            connection=registry.connection(),
            timeout_ms=None,
            call_id="call_again",
        )

    assert await count("one") == await count("one two three")


async def test_a_tool_that_the_server_does_not_know_is_told(registry: Registry) -> None:
    outcome = await call(registry, "missing_tool", {})
    assert outcome.error == {"code": "tool_unknown", "message": "this server has no such tool"}


def connected(server: Server, **changes: Any) -> Connection:
    settings = {
        "url": server.url("/registry"),
        "auth_token": TOKEN,
        "headers": {"X-Team": "blue"},
        "signing": {"algorithm": "hmac-sha256", "key": KEY, "key_id": "k1"},
        "allow_networks": ["127.0.0.0/8"],
    }
    return read_connection(source="test", kind="remote", settings=settings | changes, secrets={})


async def ask(
    server: Server,
    definition: Definition | None = None,
    *,
    host: str = "tools.test",
    timeout_ms: int = 10_000,
    **of: Any,
) -> ToolOutcome:
    return await run_http_tool(
        HttpExecutor(url=server.url("/call?x=1", host), source="test"),
        definition or Definition(name="some_tool"),
        {"q": "ü"},
        connection=connected(server, **of),
        timeout_ms=timeout_ms,
        call_id="call_1",
        trace_id=TRACE,
        resolve=names(),
    )


def answer(body: Any, status: str = "200 OK") -> Handler:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return saying(f"HTTP/1.1 {status}\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text)


def headers_of(request: bytes) -> dict[str, str]:
    lines = request.split(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
    return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}


async def test_a_request_says_who_what_and_when(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.firewall.tools.http_tool.time.time", lambda: 1_800_000_000.9)
    definition = Definition(name="some_tool", version="1.2", config={"unit": "km"})
    async with serving(answer({"result": {}})) as server:
        await ask(server, definition)
    head, body = server.requests[0].split(b"\r\n\r\n")
    headers = headers_of(server.requests[0])
    assert head.startswith(b"POST /call?x=1 HTTP/1.1\r\n")
    assert json.loads(body) == {
        "call_id": "call_1",
        "tool": "some_tool",
        "version": "1.2",
        "params": {"q": "ü"},
        "config": {"unit": "km"},
    }
    assert headers["authorization"] == f"Bearer {TOKEN}"
    assert headers["x-team"] == "blue"
    assert (headers["openclaw-call-id"], headers["openclaw-timestamp"]) == ("call_1", "1800000000")
    assert (headers["openclaw-key-id"], headers["content-type"]) == ("k1", "application/json")
    assert re.fullmatch(f"00-{TRACE}-[0-9a-f]{{16}}-01", headers["traceparent"])


async def test_a_tool_elsewhere_sees_the_signature_but_no_token() -> None:
    async with serving(answer({"result": {}})) as server:
        await ask(server, host="other.test")
    headers = headers_of(server.requests[0])
    assert "openclaw-signature" in headers
    assert not {"authorization", "x-team"} & set(headers)
    assert TOKEN.encode() not in server.requests[0]


@pytest.mark.parametrize(
    ("result", "given"),
    [
        ({"a": 1}, {"a": 1}),
        ("plain", {"content": [{"type": "text", "text": "plain"}]}),
        ([1, 2], {"content": [{"type": "text", "text": "[1, 2]"}], "details": [1, 2]}),
        (None, {"content": [{"type": "text", "text": "null"}], "details": None}),
    ],
)
async def test_any_json_is_a_result(result: Any, given: dict[str, Any]) -> None:
    async with serving(answer({"result": result})) as server:
        assert await ask(server) == ToolOutcome(result=given)


async def test_a_result_that_breaks_the_tool_s_promise_is_a_failure_that_shows_it() -> None:
    definition = Definition(name="some_tool", output={"type": "object", "properties": {"a": {"type": "string"}}})
    async with serving(answer({"result": {"a": 1}})) as server:
        outcome = await ask(server, definition)
    assert (outcome.ended, outcome.result) == ("failed", {"a": 1})
    assert outcome.error is not None
    assert outcome.error["code"] == "output_invalid"


@pytest.mark.parametrize(
    ("handler", "ended", "code"),
    [
        (answer({"error": {"code": "no_such_city", "message": "no"}}), "failed", "no_such_city"),
        (answer({"error": {"code": "no_such_city", "message": "no"}}, "422 No"), "failed", "no_such_city"),
        (answer({"error": {"code": "<script>", "message": 5}}), "failed", "tool_failed"),
        (answer({"error": "it broke"}, "500 No"), "failed", "tool_failed"),
        (answer({"error": None, "result": {}}), "completed", ""),
        (answer({"a": 1}), "unknown", "answer_unreadable"),
        (answer([1]), "unknown", "answer_unreadable"),
        (answer(b"<html>"), "unknown", "answer_unreadable"),
        (answer(b'{"result": NaN}'), "unknown", "answer_unreadable"),
        (answer(b'{"result":' + b"[" * 900 + b"]" * 900 + b"}"), "unknown", "answer_unreadable"),
        (answer(b"", "302 Found"), "failed", "redirected"),
        (answer(b"no", "401 No"), "failed", "tool_server_refused"),
        (answer(b"no", "404 No"), "failed", "tool_server_refused"),
        (answer(b"no", "418 No"), "failed", "tool_server_refused"),
        (answer(b"no", "429 No"), "failed", "tool_server_busy"),
        (answer(b"no", "500 No"), "failed", "tool_server_failed"),
        (answer(b"no", "502 No"), "unknown", "tool_server_failed"),
        (saying(b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n"), "unknown", "answer_too_large"),
        (saying(b"rubbish\r\n\r\n"), "unknown", "answer_broken"),
        (saying(b""), "unknown", "answer_broken"),
    ],
)
async def test_whatever_a_server_answers_becomes_an_outcome(handler: Handler, ended: str, code: str) -> None:
    async with serving(handler) as server:
        outcome = await ask(server)
    assert (outcome.ended, (outcome.error or {}).get("code", "")) == (ended, code)


async def test_a_server_that_is_too_slow_leaves_it_unknown_what_was_done() -> None:
    async def silent(request: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(5)

    async with serving(silent) as server:
        outcome = await ask(server, timeout_ms=300)
    assert outcome.ended == "unknown"
    assert outcome.error == {"code": "time_limit", "message": "no complete answer in 0.3 s"}


async def test_a_server_that_is_not_there_has_done_nothing() -> None:
    async with serving(answer({})) as server:
        pass
    outcome = await ask(server)
    assert outcome.ended == "failed"
    assert outcome.error is not None
    assert outcome.error["code"] == "connection_failed"


async def test_an_address_that_no_rule_allows_is_not_called() -> None:
    async with serving(answer({})) as server:
        with watching() as sockets:
            outcome = await ask(server, allow_networks=[])
    assert sockets == []
    assert outcome.ended == "failed"
    assert outcome.error is not None
    assert outcome.error["code"] == "address_refused"


async def test_a_message_of_a_server_is_cut_and_freed_of_what_cannot_be_shown() -> None:
    async with serving(answer({"error": {"code": "a", "message": "\x00\x1b[31m\u202e" + "x" * 9000}})) as server:
        outcome = await ask(server)
    assert outcome.error is not None
    message = outcome.error["message"]
    assert len(message) == 2000
    assert message.startswith("��[31m�x")


async def test_a_call_that_is_cancelled_closes_its_connection() -> None:
    async def silent(request: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async with serving(silent) as server:
        task = asyncio.create_task(ask(server))
        while not server.requests:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.hung_up.wait(), 40)
