"""What the plugin of an OpenClaw Gateway says, over a real socket."""

import uuid
from typing import Any

import httpx
from django.utils import timezone

from apps.approvals.models import Approval
from apps.approvals.services import approval_resolve
from apps.firewall.identifiers import read_id
from apps.openclaw_gateways.models import GatewayCall, OpenClawGateway
from apps.openclaw_gateways.services import enrolment_create
from apps.registry.services import environment_default
from tests.gateway.server import Server
from tests.gateway.test_decisions import eventually

BEAT = {"boot": "boot-0001", "openclaw": "2026.9.6", "plugin": "1.0.0", "node": "24.19.0"}
FULL = {"security": "full", "ask": "off"}
ASKS = {"security": "allowlist", "ask": "on-miss"}


class Plugin:
    """The plugin of one gateway."""

    def __init__(self, server: Server, name: str = "office") -> None:
        _, secret = enrolment_create(environment_default(), name=name, by=None, at=timezone.now())
        with server.client(secret) as client:
            enrolled = client.post("/api/v1/openclaw/enrol", json=BEAT)
        assert enrolled.status_code == 201, enrolled.text
        self.secret = enrolled.json()["token"]
        self.client = server.client(self.secret)
        self.client.post("/api/v1/openclaw/heartbeat", json=BEAT)

    @property
    def row(self) -> OpenClawGateway:
        return OpenClawGateway.objects.select_related("environment", "token").get()

    def ask(self, command: str = "uname -s", *, tool: str = "exec", key: str = "", **more: Any) -> httpx.Response:
        body = {
            "key": key or uuid.uuid4().hex,
            "boot": BEAT["boot"],
            "agent": "bot",
            "session": "agent:bot:telegram:group:-100",
            "context": {"channel": "telegram", "sender_id": "1001", "sender_is_owner": False},
            "tool": tool,
            "params": {"command": command},
            "run": "run-1",
            "tool_call": "call_1",
            "wait_ms": 8_000,
            **more,
        }
        return self.client.post("/api/v1/openclaw/calls", json=body)

    def report(self, call: str, **body: Any) -> httpx.Response:
        return self.client.post(f"/api/v1/openclaw/calls/{call}/outcome", json={"is_error": False, **body})


def asked(plugin: Plugin, **more: Any) -> dict[str, Any]:
    """Ask about a call that needs a person, and come back when the question stands."""
    key = uuid.uuid4().hex
    body: dict[str, Any] = {}

    def waits() -> bool:
        nonlocal body
        body = plugin.ask(key=key, wait_ms=200, **more).json()
        return bool(body["status"] == "awaiting_approval")

    assert eventually(waits)
    return body


def answer(decision: str, by: Any, reason: str = "") -> None:
    approval_resolve(Approval.objects.get(), decision=decision, by=by, at=timezone.now(), reason=reason)


def status_of(call: str) -> str:
    row = GatewayCall.objects.get(pk=read_id("call", call))
    return row.outcome or row.state
