"""What a real gateway tells of a call decides it: its model, who speaks, and which session spawned the caller's."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.journeys.conftest import Installation
from tests.openclaw.conftest import RealGateway, Relays, govern
from tests.openclaw.model import Model
from tests.openclaw.telegram import Telegram, speak_over
from tests.openclaw.test_real_gateway import eventually

pytestmark = pytest.mark.slow

RESTRICTED, OPEN = -100123, -100200
POLICY = {
    "agents": {"list": [{"id": "main"}]},
    "channels": {"telegram": {"groups": {str(RESTRICTED): {"tools": {"deny": ["apply_patch"]}}, str(OPEN): {}}}},
    "tools": {
        "byProvider": {"fake/fake-1": {"deny": ["read"]}, "other": {"deny": ["edit"]}},
        "toolsBySender": {"username:mallory": {"deny": ["exec"]}},
        "exec": {"host": "gateway", "security": "full", "ask": "off"},
    },
}
PATCH = "*** Begin Patch\n*** Add File: {}\n+made\n*** End Patch\n"


@pytest.fixture(scope="module")
def server(installation: Installation) -> Installation:
    path = installation.var / "openclaw.json"
    path.write_text(json.dumps(POLICY))
    installation.manage("policy", "import", str(path))
    installation.manage("policy", "publish", "-m", "by provider, sender and group")
    return installation


@pytest.fixture(scope="module")
def telegram() -> Iterator[Telegram]:
    made = Telegram()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def gateway(
    make_gateway: Callable[[], RealGateway], server: Installation, telegram: Telegram, relays: Relays
) -> RealGateway:
    made = make_gateway()
    speak_over(made, telegram, relays)
    govern(made, server, "office", "--person-wait", "20")
    made.start()
    return made


@pytest.fixture(scope="module")
def entries(server: Installation) -> Iterator[Callable[..., list[dict[str, Any]]]]:
    """Read the newest entries of the ledger about a tool."""
    secret = server.token("audit_read", "policy_read")
    with httpx.Client(base_url=f"{server.url}/api/v1/", headers={"Authorization": f"Bearer {secret}"}) as client:

        def read(tool: str, **where: str) -> list[dict[str, Any]]:
            rows: list[dict[str, Any]] = client.get("audit/entries", params={"tool": tool, "limit": 50}).json()["rows"]
            return [row for row in rows if all(str(row[name]) == value for name, value in where.items())]

        yield read


def call(tool: str, **args: Any) -> str:
    return f"CALL {json.dumps({'name': tool, 'args': args})}"


def test_a_rule_by_model_holds(gateway: RealGateway, model: Model, entries: Any) -> None:
    gateway.end(gateway.begin("read", path="notes.txt"))
    assert "no tool named `read`" in model.results[-1]
    (denial,) = entries("read")
    assert (denial["kind"], denial["decision_layer"]) == ("denial", "global_provider")
    told = denial["changes"]["context"]
    assert (told["provider"], told["model_id"], told["sandboxed"]) == ("fake", "fake-1", False)

    gateway.end(gateway.begin("exec", command="uname -s"))
    assert "Linux" in model.results[-1]


def test_a_rule_by_username_holds(gateway: RealGateway, telegram: Telegram, entries: Any) -> None:
    telegram.say(OPEN, call("exec", command="touch by-mallory"), sender=1001, username="Mallory", name="Mal")
    (denial,) = eventually(lambda: entries("exec", kind="denial"), within_s=60)
    assert denial["decision_layer"] == "sender"
    told = denial["changes"]["context"]
    assert (told["sender_id"], told["sender_username"], told["sender_name"]) == ("1001", "Mallory", "Mal")
    assert not (gateway.workspace / "by-mallory").exists()

    telegram.say(OPEN, call("exec", command="touch by-alice"), sender=1002, username="alice")
    assert eventually(lambda: (gateway.workspace / "by-alice").exists(), within_s=60)


def test_a_child_may_not_use_what_the_group_of_its_spawner_may_not(
    gateway: RealGateway, telegram: Telegram, entries: Any
) -> None:
    patch = call("apply_patch", input=PATCH.format("made-by-child.txt"))
    telegram.say(RESTRICTED, call("apply_patch", input=PATCH.format("made.txt")), sender=1002, username="alice")
    (denial,) = eventually(lambda: entries("apply_patch"), within_s=60)
    assert (denial["kind"], denial["decision_layer"]) == ("denial", "group")

    spawn = call("tool_call", id="sessions_spawn", args={"task": patch})
    telegram.say(RESTRICTED, spawn, sender=1002, username="alice")
    (child,) = eventually(lambda: entries("apply_patch", decision_layer="inherited"), within_s=90)
    assert child["kind"] == "denial"
    assert child["session_key"].startswith("agent:main:subagent:")
    assert child["changes"]["context"]["spawned_by"] == f"agent:main:telegram:group:{RESTRICTED}"
    assert not (gateway.workspace / "made.txt").exists()
    assert not any(gateway.workspace.rglob("made-by-child.txt"))


def test_a_child_of_a_group_that_may_does(gateway: RealGateway, telegram: Telegram, entries: Any) -> None:
    task = call("apply_patch", input=PATCH.format("made-in-the-open.txt"))
    telegram.say(OPEN, call("tool_call", id="sessions_spawn", args={"task": task}), sender=1002, username="alice")
    assert eventually(lambda: any(gateway.workspace.rglob("made-in-the-open.txt")), within_s=90)
    ran = eventually(lambda: [row for row in entries("apply_patch", kind="call_intent") if _is_child(row)])
    assert ran[0]["changes"]["context"]["spawned_by"] == f"agent:main:telegram:group:{OPEN}"


def _is_child(row: dict[str, Any]) -> bool:
    return str(row["session_key"]).startswith("agent:main:subagent:")


def test_a_gateway_that_began_anew_decides_alike(
    gateway: RealGateway, telegram: Telegram, model: Model, entries: Any
) -> None:
    gateway.stop()
    gateway.start()
    gateway.end(gateway.begin("read", path="again.txt"))
    assert "no tool named `read`" in model.results[-1]
    before = len(entries("exec", kind="denial"))
    telegram.say(OPEN, call("exec", command="touch by-mallory"), sender=1001, username="Mallory", name="Mal")
    assert eventually(lambda: len(entries("exec", kind="denial")) > before, within_s=60)
    assert not (gateway.workspace / "by-mallory").exists()


def test_the_review_finds_nothing_that_this_gateway_cannot_be_held_to(
    gateway: RealGateway, server: Installation
) -> None:
    assert "Not enforceable" not in server.manage("policy", "lint")
