"""Every path of agents refuses what it does not know."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from django.utils import timezone

from apps.accounts.access import Permission
from apps.firewall.identifiers import new_id, show_id
from apps.gateway.runtime_api.openapi import PATHS
from apps.gateway.runtime_api.sent import OPERATIONS
from apps.openclaw_gateways.services import enrolment_create
from apps.registry.services import environment_default
from tests.gateway.server import Server

BEAT = {"boot": "boot-0001"}


@pytest.fixture
def everything(server: Server, token: Callable[..., tuple[Any, str]]) -> Any:
    with server.client(token(*map(str, Permission))[1]) as client:
        yield client


@pytest.fixture
def gateway(server: Server) -> Any:
    """The program of an OpenClaw Gateway."""
    _, secret = enrolment_create(environment_default(), name="office", by=None, at=timezone.now())
    with server.client(secret) as client:
        token = client.post("/api/v1/openclaw/enrol", json=BEAT).json()["token"]
    with server.client(token) as client:
        yield client


def refused(answer: httpx.Response, path: str) -> bool:
    return answer.status_code == 422 and path in {each["path"] for each in answer.json()["details"]}


def test_every_method_of_every_path_refuses_an_unknown_parameter_and_an_unknown_member(
    everything: httpx.Client, gateway: httpx.Client
) -> None:
    run = everything.post("/api/v1/runs", json={"agent": "bot", "provider": "openai"}).json()["id"]
    taken = []
    for method, route in sorted((method.upper(), route) for route, found in PATHS.items() for method in found):
        client = gateway if "/openclaw/" in route else everything
        path = route.replace("{id}", run if "/runs/" in route else show_id("call", new_id()))
        if not refused(client.request(method, path, params={"agnt": "x"}, json={}), "agnt"):
            taken.append((method, route, "parameter"))
        body = {"agnt": "x"}
        if OPERATIONS[route, method].body is not None and not refused(client.request(method, path, json=body), "agnt"):
            taken.append((method, route, "member"))

    assert taken == []


def test_every_body_has_members_that_are_known() -> None:
    assert [key for key, sent in OPERATIONS.items() if key[1] in {"POST", "PUT", "PATCH"} and sent.body is None] == []


def test_who_enrols_is_held_to_it_too(server: Server) -> None:
    _, secret = enrolment_create(environment_default(), name="attic", by=None, at=timezone.now())
    with server.client(secret) as client:
        assert refused(client.post("/api/v1/openclaw/enrol", json={**BEAT, "nam": "x"}), "nam")


@pytest.mark.parametrize(
    ("path", "body", "place", "meant"),
    [
        ("decisions", {"agent": "bot", "tool": "read", "contxt": {"sender_id": "42"}}, "contxt", "`context`"),
        ("decisions", {"agent": "bot", "tool": "read", "sender_id": "42"}, "sender_id", ""),
        ("decisions", {"agent": "bot", "tool": "read", "context": {"sender": "4"}}, "context.sender", "`sender_id`"),
        ("decisions", {"decisions": [{"agent": "bot", "tool": "read", "parms": {}}]}, "decisions[0].parms", "`params`"),
        ("decisions", {"decisions": [{"agent": "bot", "tool": "read"}], "context": {}}, "context", ""),
        ("calls", {"agent": "bot", "tool": "read", "idempotncy": "k"}, "idempotncy", "`idempotency`"),
        ("calls", {"agent": "bot", "tool": "read", "callback": {"urll": "x"}}, "callback.urll", "`url`"),
        ("rpc/exec.approval.list", {"agentId": "bot"}, "agentId", ""),
    ],
)
def test_it_is_named_with_what_was_meant(
    everything: httpx.Client, path: str, body: Any, place: str, meant: str
) -> None:
    answer = everything.post(f"/api/v1/{path}", json=body)

    assert answer.status_code == 422
    (mistake,) = answer.json()["details"]
    assert (mistake["path"], mistake["code"]) == (place, "unknown_field") and meant in mistake["message"]
