"""What the sockets of programs hear of requests: each what its token may list, and nothing else."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from django.utils import timezone
from websockets.sync.client import ClientConnection

from apps.accounts.services import token_revoke
from apps.approvals.models import Approval
from apps.approvals.services import approval_resolve
from apps.registry.services import environment_create
from tests.gateway.server import Server
from tests.gateway.test_decisions import Token, eventually
from tests.gateway.test_rpc import ASK, _forgotten, open_socket, over_http, over_socket
from tests.gateway.test_waiting import asked

REQUESTED, RESOLVED = "exec.approval.requested", "exec.approval.resolved"
WAIT_S = 30
Open = Callable[..., ClientConnection]


@pytest.fixture
def opened(server: Server, token: Token) -> Any:
    """Open a socket with a token of these scopes; it hears from the moment it is given."""
    with ExitStack() as stack:

        def make(*scopes: str, **options: Any) -> ClientConnection:
            socket = stack.enter_context(open_socket(server, token(*scopes, **options)[1]))
            over_socket(socket)("exec.approval.list", {})
            return socket

        yield make


@pytest.fixture
def asks(server: Server, token: Token, admin: Any) -> Any:
    """Ask for a command by a program of the admin; tell what the door answered."""
    with server.client(token("calls_make", by=admin, name="asks")[1]) as client:
        yield lambda **more: over_http(client)("exec.approval.request", {**ASK, "twoPhase": True, **more})


def events(socket: ClientConnection, count: int) -> list[dict[str, Any]]:
    heard: list[dict[str, Any]] = []
    while len(heard) < count:
        frame = json.loads(socket.recv(timeout=WAIT_S))
        if frame["type"] == "event":
            heard.append(frame)
    return heard


def resolve(identifier: str, decision: str, by: Any) -> None:
    approval = next(each for each in Approval.objects.all() if each.shown_id == identifier)
    approval_resolve(approval, decision=decision, by=by, at=timezone.now())


def test_who_may_read_requests_hears_of_each_as_the_list_tells_it(opened: Open, asks: Any, operator: Any) -> None:
    socket = opened("approvals_read")
    made = asks()
    (requested,) = events(socket, 1)
    listed = over_socket(socket)("exec.approval.list", {})["approvals"]
    resolve(made["id"], "deny", operator)
    (resolved,) = events(socket, 1)

    assert (requested["event"], requested["seq"]) == (REQUESTED, 1)
    assert [requested["payload"]] == listed
    assert requested["payload"]["request"]["command"] == "make deploy"
    assert (resolved["event"], resolved["seq"]) == (RESOLVED, 2)
    told = resolved["payload"]
    assert (told["id"], told["decision"], told["status"]) == (made["id"], "deny", "denied")
    assert told["resolvedBy"] == str(operator) and told["ts"] == told["resolvedAtMs"]


def test_requests_of_ordinary_calls_are_told_too(opened: Open, agent: httpx.Client) -> None:
    socket = opened("approvals_read")
    body = asked(agent)
    (requested,) = events(socket, 1)

    assert requested["payload"]["id"] == body["approval"]["id"]
    assert requested["payload"]["request"]["callId"] == body["id"]


def test_nobody_hears_of_what_their_token_may_not_list(opened: Open, asks: Any, admin: Any) -> None:
    """The last request is the one that all may see: who heard of another before it heard too much."""
    environment_create(slug="staging", name="Staging")
    deaf = [
        opened("approvals_read", environment="staging"),
        opened("decisions_ask", "approvals_read", agents=["clerk"]),
        opened("calls_make", by=admin, name="another of the same person"),
    ]
    everybody = opened("approvals_read")
    asks()
    asks(agentId="clerk")

    assert [each["payload"]["request"]["agentId"] for each in events(everybody, 2)] == ["bot", "clerk"]
    (heard,) = events(deaf[1], 1)
    assert heard["payload"]["request"]["agentId"] == "clerk" and heard["seq"] == 1
    for socket in (deaf[0], deaf[2]):
        with pytest.raises(TimeoutError):
            socket.recv(timeout=0)


def test_who_asked_hears_what_became_of_it(opened: Open, operator: Any, admin: Any) -> None:
    socket = opened("calls_make", by=admin)
    made = over_socket(socket)("exec.approval.request", {**ASK, "twoPhase": True})
    resolve(made["id"], "allow-once", operator)

    resolved = next(each for each in (events(socket, 1)[0] for _ in range(2)) if each["event"] == RESOLVED)
    assert (resolved["payload"]["id"], resolved["payload"]["decision"]) == (made["id"], "allow-once")


def test_a_revoked_token_hears_nothing_more(server: Server, token: Token, opened: Open, asks: Any, admin: Any) -> None:
    row, secret = token("approvals_read", by=admin)
    witness = opened("approvals_read")
    with open_socket(server, secret) as socket:
        over_socket(socket)("exec.approval.list", {})
        token_revoke(row, by=admin, at=timezone.now())
        assert eventually(lambda: server.run(_forgotten()))
        asks()
        events(witness, 1)
        with pytest.raises(TimeoutError):
            socket.recv(timeout=0)


def test_an_answer_by_a_persons_token_names_the_person(
    server: Server, token: Token, opened: Open, asks: Any, admin: Any
) -> None:
    socket = opened("approvals_read")
    made = asks()
    with server.client(token("approvals_read", "approvals_resolve", by=admin, name="ci")[1]) as client:
        over_http(client)("exec.approval.resolve", {"id": made["id"], "decision": "deny"})
    assert events(socket, 2)[1]["payload"]["resolvedBy"] == f"{admin} (token ci)"
