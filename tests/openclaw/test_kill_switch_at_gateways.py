"""The kill switch ends what runs at a real gateway: the run, and every process that its command started."""

import subprocess
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.journeys.conftest import Installation
from tests.openclaw.conftest import RealGateway, govern
from tests.openclaw.test_real_gateway import answer, card, eventually, kinds

pytestmark = pytest.mark.slow
TREE = "sh -c 'sleep {0} & setsid sleep {0} & (sleep {0} &) ; wait'"
"""A child, one with a session of its own, and one whose parent is gone."""


@pytest.fixture(scope="module")
def gateway(make_gateway: Callable[[], RealGateway], server: Installation) -> RealGateway:
    made = make_gateway()
    govern(made, server, "office", "--person-wait", "60")
    made.start()
    return made


def sleeping(seconds: str) -> list[str]:
    """List the processes that sleep for so long."""
    listed = subprocess.run(["ps", "axo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line.strip() == f"sleep {seconds}"]


def held(api: httpx.Client) -> dict[str, Any]:
    row: dict[str, Any] = next(each for each in api.get("halts").json()["gateways"] if each["name"] == "office")
    return row


def stop(api: httpx.Client, scope: str, name: str = "") -> dict[str, Any]:
    placed = api.post("halts", json={"scope": scope, "name": name, "reason": "it deletes things"})
    assert placed.status_code == 201, placed.text
    body: dict[str, Any] = placed.json()
    return body


def lift(api: httpx.Client, halt: dict[str, Any]) -> None:
    assert api.post(f"halts/{halt['id']}/lift").status_code == 200


def ended(api: httpx.Client, command: str) -> dict[str, Any]:
    """Read the outcome of the call of a command."""

    def look() -> Any:
        rows = api.get("audit/entries", params={"tool": "exec", "limit": 200}).json()["rows"]
        call = next((each["call_id"] for each in rows if command in str(each.get("params"))), None)
        return next((each for each in rows if each["call_id"] == call and each["kind"] == "call_outcome"), None)

    entry: dict[str, Any] = eventually(look)
    return entry


@pytest.mark.parametrize(("scope", "name", "seconds"), [("agent", "main", "4321"), ("tool", "exec", "4322")])
def test_a_stop_ends_the_run_and_every_process_of_its_command(
    scope: str, name: str, seconds: str, gateway: RealGateway, api: httpx.Client
) -> None:
    eventually(lambda: held(api)["holds"], within_s=60)
    command = TREE.format(seconds)
    run = gateway.begin("exec", command=command)
    answer(api, card(api, command), "allow-once")
    assert eventually(lambda: len(sleeping(seconds)) == 3)

    began = time.monotonic()
    halt = stop(api, scope, name)
    assert eventually(lambda: not sleeping(seconds), within_s=10)
    took_s = time.monotonic() - began

    assert halt["heard_by"]["gateways"]["of"] == 1
    assert eventually(lambda: held(api)["holds"], within_s=10)
    outcome = ended(api, command)
    assert (outcome["status"], outcome["error"]["code"]) == ("cancelled", "stopped")
    assert kinds(api, command) == ["approval_asked", "approval_answered", "call_intent", "call_outcome"]
    gateway.end(run)
    assert took_s < 5
    lift(api, halt)


def test_a_command_in_the_background_ends_too(gateway: RealGateway, api: httpx.Client) -> None:
    command = TREE.format("4323")
    run = gateway.begin("exec", command=command, background=True)
    answer(api, card(api, command), "allow-once")
    gateway.end(run)
    assert len(sleeping("4323")) == 3
    assert eventually(lambda: kinds(api, command)[-1:] == ["call_outcome"])

    halt = stop(api, "environment")

    assert eventually(lambda: not sleeping("4323"), within_s=10)
    assert eventually(lambda: held(api)["holds"], within_s=10)
    rows = api.get("audit/entries", params={"kind": "gateway_change", "limit": 50}).json()["rows"]
    assert any(each["status"] == "command_stopped" for each in rows)
    lift(api, halt)


def test_a_stop_of_another_agent_lets_it_run(gateway: RealGateway, api: httpx.Client) -> None:
    command = "sleep 4.5"
    run = gateway.begin("exec", command=command)
    answer(api, card(api, command), "allow-once")
    assert eventually(lambda: bool(sleeping("4.5")))
    placed = api.post("halts", json={"scope": "agent", "name": "clerk", "reason": "another", "unknown": True}).json()
    gateway.end(run)
    assert ended(api, command)["status"] == "completed"
    lift(api, placed)
