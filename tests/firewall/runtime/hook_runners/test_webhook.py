"""Hooks behind an address: signed both ways, bounded, and failed by kind. No packet leaves this machine."""

import asyncio
import hashlib
import hmac
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from apps.firewall.runtime.hook_runners.webhook import Webhook, ask_webhook
from apps.firewall.runtime.hooks.handlers import HookFailedError
from apps.firewall.tools.answer_signing import SignedAnswer, answer_text
from apps.firewall.tools.connections import Connection, read_connection
from apps.firewall.tools.connector import Resolve
from apps.firewall.tools.signing import Signing
from tests.firewall.tools.connector.loopback import Handler, Server, names, serving

KEY = "a-key-that-both-sides-know"
SERVER_SEED = "11" * 32
OURS = "22" * 32


def connection(server: Server, signing: dict[str, str] | None = None, **settings: Any) -> Connection:
    signing = signing or {"algorithm": "hmac-sha256", "key": KEY, "key_id": "k1"}
    given = {"url": server.url("/hook?v=1"), "signing": signing, "allow_networks": ["127.0.0.0/8"]} | settings
    return read_connection(source="h", kind="webhook", settings=given, secrets={})


def headers_of(request: bytes) -> dict[str, str]:
    lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
    return {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}


def signature(request: bytes, body: bytes, *, key: str = KEY, status: int = 200, algorithm: str = "hmac-sha256") -> str:
    headers = headers_of(request)
    signed = SignedAnswer(
        call_id=headers["openclaw-call-id"],
        timestamp=headers["openclaw-timestamp"],
        status=status,
        request=request.partition(b"\r\n\r\n")[2],
        answer=body,
    )
    text = answer_text(Signing(algorithm=algorithm, key=key, key_id="k1"), signed)  # type: ignore[arg-type]
    if algorithm == "ed25519":
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(SERVER_SEED)).sign(text).hex()
    return hmac.digest(key.encode(), text, hashlib.sha256).hex()


def answering(body: bytes, *, status: int = 200, sign: str = KEY, algorithm: str = "hmac-sha256") -> Handler:
    async def handle(request: bytes, writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n"
        if sign:
            given = signature(request, body, key=sign, status=status, algorithm=algorithm)
            head += f"OpenClaw-Signature: {algorithm}={given}\r\n"
        writer.write(head.encode() + b"\r\n" + body)
        await writer.drain()

    return handle


async def asked(server: Server, *, resolve: Resolve | None = None, limit_ms: int = 5000, **more: Any) -> Any:
    webhook = Webhook(connection=connection(server, **more), answer_key=_public_key())
    return await ask_webhook(
        webhook,
        "before_tool_call",
        {"toolName": "read", "params": {}},
        call_id="call_1",
        time_limit_ms=limit_ms,
        resolve=resolve or names(),
    )


def _public_key() -> str:
    public = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(SERVER_SEED)).public_key()
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


async def test_a_signed_event_gets_a_signed_answer() -> None:
    async with serving(answering(b'{"block": true}')) as server:
        said = await asked(server)

    sent = headers_of(server.requests[0])
    assert said == {"block": True}
    assert sent["openclaw-signature"].startswith("hmac-sha256=")
    body = json.loads(server.requests[0].partition(b"\r\n\r\n")[2])
    assert body == {"event": "before_tool_call", "toolName": "read", "params": {}}


async def test_two_key_pairs_do_as_well_as_one_shared_key() -> None:
    signing = {"algorithm": "ed25519", "key": OURS, "key_id": "k1"}
    async with serving(answering(b"{}", algorithm="ed25519")) as server:
        assert await asked(server, signing=signing) == {}


async def test_an_empty_answer_lets_the_call_pass() -> None:
    async with serving(answering(b"", status=204)) as server:
        assert await asked(server) is None


async def never(request: bytes, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def replayed(request: bytes, writer: asyncio.StreamWriter) -> None:
    """Sign well what was asked about another call."""
    other = request.replace(b"OpenClaw-Call-Id: call_1", b"OpenClaw-Call-Id: call_2")
    head = f"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nOpenClaw-Signature: hmac-sha256={signature(other, b'{}')}\r\n\r\n"
    writer.write(head.encode() + b"{}")
    await writer.drain()


@pytest.mark.parametrize(
    ("handler", "kind"),
    [
        (answering(b'{"block": false}', sign=""), "bad_signature"),
        (answering(b'{"block": false}', sign="another-key-than-the-agreed"), "bad_signature"),
        (replayed, "bad_signature"),
        (answering(b"nonsense"), "wrong_answer"),
        (answering(b"[" * 100 + b"]" * 100), "wrong_answer"),
        (answering(b"{}", status=500), "wrong_answer"),
        (answering(b"{}", status=302), "wrong_answer"),
        (answering(b'"' + b"x" * 1_100_000 + b'"'), "huge_answer"),
    ],
)
async def test_an_answer_that_cannot_be_used_is_a_failure_of_its_kind(handler: Handler, kind: str) -> None:
    async with serving(handler) as server:
        with pytest.raises(HookFailedError) as raised:
            await asked(server)
    assert raised.value.kind == kind


async def test_a_server_that_takes_too_long_is_slow() -> None:
    async with serving(never) as server:
        with pytest.raises(HookFailedError) as raised:
            await asked(server, limit_ms=50)
        await server.hung_up.wait()
    assert raised.value.kind == "slow"


@pytest.mark.parametrize("address", ["10.0.0.1", "169.254.169.254", "1.1.1.1"])
async def test_the_rules_of_addresses_hold(address: str) -> None:
    async with serving(answering(b"{}")) as server:
        with pytest.raises(HookFailedError) as raised:
            await asked(server, resolve=names([address]), deny_domains=["*.test"])
    assert (raised.value.kind, server.requests) == ("unreachable", [])
