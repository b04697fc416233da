"""An answer is bound to exactly what was asked: real files that change, repeats that join, policies that move on."""

import os
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from apps.approvals.models import Approval
from apps.audit.models import Entry
from apps.firewall.identifiers import read_id, show_id
from apps.gateway import lifecycle
from tests.gateway.conftest import call, snapshot_with
from tests.gateway.server import Holder, Server
from tests.gateway.test_calls import kinds, workspace
from tests.gateway.test_decisions import eventually
from tests.gateway.test_waiting import TOUCH, answer, asked, made

SESSION = {"session": "agent:bot:main"}


@pytest.fixture
def desk(agent: httpx.Client, settings: Any) -> Path:
    """The agent's folder, with a script in it."""
    call(agent, "write", {"path": "run.sh", "content": "echo harmless"})
    return workspace(settings)


def change_script(desk: Path) -> None:
    (desk / "run.sh").write_text("touch made")


def swap_for_a_link(desk: Path) -> None:
    (desk / "other.sh").write_text("echo harmless")
    (desk / "run.sh").unlink()
    (desk / "run.sh").symlink_to(desk / "other.sh")


def remove(desk: Path) -> None:
    (desk / "run.sh").unlink()


@pytest.mark.parametrize("command", ["bash run.sh", "echo a && bash run.sh", "sh -c 'bash run.sh'"])
@pytest.mark.parametrize("change", [change_script, swap_for_a_link, remove])
@pytest.mark.slow
def test_a_script_that_is_not_as_it_was_does_not_run_and_the_card_says_what_changed(
    agent: httpx.Client, operator: Any, settings: Any, desk: Path, command: str, change: Any
) -> None:
    body = asked(agent, {"command": command})
    change(desk)

    answer("allow-once", operator)
    done = agent.get(f"/api/v1/calls/{body['id']}?wait=10000").json()

    assert (done["status"], done["error"]["code"]) == ("denied", "action_changed")
    assert f"file {desk}/run.sh" in done["error"]["message"]
    assert (f"file {desk}/run.sh", "changed") in {(each["path"], each["code"]) for each in done["error"]["details"]}
    assert not made(settings)
    assert eventually(lambda: Approval.objects.get().drift is not None)
    assert f"file {desk}/run.sh" in (Approval.objects.get().drift or [])
    assert kinds(body["id"])[-1] == ("denial", "denied")


def test_a_program_that_was_replaced_does_not_run(
    agent: httpx.Client, operator: Any, settings: Any, desk: Path
) -> None:
    tool = desk / "tool"
    tool.write_text("#!/bin/sh\necho one\n")
    tool.chmod(0o700)
    body = asked(agent, {"command": "./tool"})
    tool.write_text("#!/bin/sh\ntouch made\n")

    answer("allow-once", operator)
    done = agent.get(f"/api/v1/calls/{body['id']}?wait=10000").json()

    assert (done["status"], done["error"]["code"]) == ("denied", "action_changed")
    assert not made(settings)


def test_a_folder_that_was_replaced_by_a_link_is_no_longer_the_folder(
    agent: httpx.Client, operator: Any, settings: Any, desk: Path
) -> None:
    (desk / "sub").mkdir()
    body = asked(agent, {"command": "touch made", "workdir": "sub"})
    os.rename(desk / "sub", desk / "gone")
    (desk / "sub").symlink_to(desk)

    answer("allow-once", operator)
    done = agent.get(f"/api/v1/calls/{body['id']}?wait=10000").json()

    assert done["status"] == "denied"
    assert not made(settings)


def test_a_repeat_joins_the_call_that_waits_and_it_runs_once(agent: httpx.Client, operator: Any, settings: Any) -> None:
    line = {"command": "sh -c 'echo ran >> runs'"}
    first = asked_in_session(agent, line)
    again = call(agent, "exec", line, wait_ms=50, **SESSION)

    assert again.status_code == 202 and again.json() == first
    assert Approval.objects.count() == 1

    answers: list[Any] = []
    waits = threading.Thread(target=lambda: answers.append(call(agent, "exec", line, wait_ms=15_000, **SESSION).json()))
    waits.start()
    assert eventually(lambda: Entry.objects.filter(kind="denial").count() == 2)
    answer("allow-once", operator)
    waits.join(timeout=60)

    assert (answers[0]["id"], answers[0]["status"]) == (first["id"], "completed")
    assert (workspace(settings) / "runs").read_text() == "ran\n"


def test_the_repeat_has_one_outcome_of_its_own_that_names_the_call_it_joined(agent: httpx.Client) -> None:
    first = asked_in_session(agent, TOUCH)
    call(agent, "exec", TOUCH, wait_ms=50, **SESSION)

    entry = Entry.objects.get(kind="denial")
    assert entry.call_id is not None
    assert entry.call_id != read_id("call", first["id"]) and entry.status == "joined"
    own = agent.get(f"/api/v1/calls/{show_id('call', entry.call_id)}").json()
    assert (own["status"], own["error"]["code"]) == ("denied", "call_joined")
    assert own["error"]["details"][0]["message"] == first["id"]


def test_the_same_key_again_follows_the_call_that_was_joined(agent: httpx.Client) -> None:
    first = asked_in_session(agent, TOUCH)
    for _ in range(2):
        again = call(agent, "exec", TOUCH, wait_ms=50, idempotency="k1", **SESSION)
        assert again.json()["id"] == first["id"]


@pytest.mark.parametrize("other", [{"session": "agent:bot:other"}, {}])
def test_another_session_and_no_session_ask_for_themselves(agent: httpx.Client, other: dict[str, str]) -> None:
    asked_in_session(agent, TOUCH)
    call(agent, "exec", TOUCH, wait_ms=50, **other)

    assert eventually(lambda: Approval.objects.count() == 2)


def test_a_repeat_after_the_script_changed_supersedes_the_request(
    agent: httpx.Client, operator: Any, settings: Any, desk: Path
) -> None:
    first = asked_in_session(agent, {"command": "bash run.sh"})
    change_script(desk)
    second = asked_in_session(agent, {"command": "bash run.sh"})

    done = agent.get(f"/api/v1/calls/{first['id']}?wait=5000").json()
    assert (done["status"], done["error"]["code"]) == ("denied", "approval_superseded")
    old = Approval.objects.get(pk=read_id("ap", first["approval"]["id"]))
    assert old.superseded_by is not None and old.superseded_by.shown_id == second["approval"]["id"]


def republish(server: Server, holder: Holder, **options: Any) -> None:
    holder.snapshot = snapshot_with(**options)
    server.run(lifecycle._reload(lifecycle.gateway()))


def test_a_policy_that_denies_the_tool_by_now_supersedes_what_waits(
    server: Server, holder: Holder, agent: httpx.Client
) -> None:
    body = asked(agent)
    republish(server, holder, deny=("exec",))

    done = agent.get(f"/api/v1/calls/{body['id']}?wait=5000").json()
    assert done["error"]["code"] == "approval_superseded"
    assert "does not give the agent the tool" in done["error"]["message"]


def test_a_policy_under_which_nobody_is_asked_supersedes_what_waits(
    server: Server, holder: Holder, agent: httpx.Client, settings: Any
) -> None:
    body = asked(agent)
    republish(server, holder, settings={"security": "full", "ask": "off"})

    done = agent.get(f"/api/v1/calls/{body['id']}?wait=5000").json()
    assert done["error"]["code"] == "approval_superseded"
    assert not made(settings)


def test_a_policy_that_changed_elsewhere_leaves_what_waits_and_its_answer_counts(
    server: Server, holder: Holder, agent: httpx.Client, operator: Any, settings: Any
) -> None:
    body = asked(agent)
    republish(server, holder, deny=("read",))
    assert Approval.objects.get().is_pending

    answer("allow-once", operator)
    assert agent.get(f"/api/v1/calls/{body['id']}?wait=10000").json()["status"] == "completed"


def asked_in_session(agent: httpx.Client, params: dict[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = call(agent, "exec", params, wait_ms=50, **SESSION).json()

    def waits() -> bool:
        nonlocal body
        body = agent.get(f"/api/v1/calls/{body['id']}").json()
        return bool(body["status"] == "awaiting_approval")

    assert eventually(waits)
    return body
