"""The socket of one call: every change, until its end; and who may not listen."""

import json
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from apps.gateway.lifecycle import gateway
from tests.gateway.server import Server
from tests.gateway.test_async_calls import later
from tests.gateway.test_decisions import Token

UNKNOWN = "call_01m83d034ceg2vx08pcmzqfm7j"


def listen(server: Server, shown_id: str, secret: str) -> Any:
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    address = f"{server.url.replace('http', 'ws')}/api/v1/calls/{shown_id}/events"
    return connect(address, additional_headers=headers, proxy=None)


def secret_of(agent: httpx.Client) -> str:
    return agent.headers["authorization"].removeprefix("Bearer ")


def closing_code(socket: Any) -> int | None:
    with pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=60)
    return None if closed.value.rcvd is None else int(closed.value.rcvd.code)


def test_each_change_is_told_until_the_end(server: Server, agent: httpx.Client) -> None:
    shown_id = later(agent, "exec", {"command": "sleep 0.3"}).json()["id"]

    with listen(server, shown_id, secret_of(agent)) as socket:
        first = json.loads(socket.recv(timeout=60))
        server.run(gateway().taker.take())
        told = [first]
        while told[-1]["status"] in {"queued", "running"}:
            told.append(json.loads(socket.recv(timeout=60)))
        code = closing_code(socket)

    assert (first["status"], told[-1]["status"], told[-1]["id"], code) == ("queued", "completed", shown_id, 1000)
    assert len(told) == len({each["status"] for each in told})


def test_a_call_that_has_ended_is_told_at_once(server: Server, agent: httpx.Client) -> None:
    body = agent.post("/api/v1/calls", json={"agent": "bot", "tool": "exec", "params": {"command": "echo hi"}}).json()

    with listen(server, body["id"], secret_of(agent)) as socket:
        told = json.loads(socket.recv(timeout=60))
        assert closing_code(socket) == 1000

    assert (told["status"], told["result"]["stdout"]) == ("completed", "hi\n")


@pytest.mark.parametrize(
    ("scopes", "shown_id", "code"),
    [((), UNKNOWN, 4401), (("decisions_ask",), UNKNOWN, 4403), (("calls_make",), UNKNOWN, 4404)],
)
def test_who_may_not_listen_hears_why(
    server: Server, token: Token, scopes: tuple[str, ...], shown_id: str, code: int
) -> None:
    secret = token(*scopes)[1] if scopes else ""

    with listen(server, shown_id, secret) as socket:
        assert closing_code(socket) == code


def test_the_call_of_another_token_does_not_exist(server: Server, agent: httpx.Client, token: Token) -> None:
    shown_id = later(agent, "exec", {"command": "echo"}).json()["id"]

    with listen(server, shown_id, token("calls_make", name="another")[1]) as socket:
        assert closing_code(socket) == 4404


def test_a_listener_that_leaves_leaves_nothing_behind(server: Server, agent: httpx.Client) -> None:
    from apps.events.waiters import waiters
    from tests.gateway.test_decisions import eventually

    shown_id = later(agent, "exec", {"command": "echo"}).json()["id"]
    with listen(server, shown_id, secret_of(agent)) as socket:
        socket.recv(timeout=60)
        assert len(waiters) > 0

    assert eventually(lambda: len(waiters) == 0)
