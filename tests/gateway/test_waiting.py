"""Calls that wait for a person: allowed, denied, unanswered, after a restart, and never twice."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.utils import timezone

from apps.approvals import asking
from apps.approvals.models import Approval
from apps.approvals.running import approval_claim, approval_finish
from apps.approvals.services import approval_resolve
from apps.audit.models import Boot
from apps.audit.services import boot_id
from apps.events.waiters import waiters
from apps.firewall.identifiers import new_id, read_id
from apps.gateway import lifecycle
from apps.gateway.abandoned import abandoned_end
from apps.gateway.database import THREADS
from tests.gateway.conftest import call
from tests.gateway.server import Holder, Server
from tests.gateway.test_calls import kinds, workspace
from tests.gateway.test_decisions import Token, eventually

TOUCH = {"command": "touch made"}
ASKED = ["approval_asked", "approval_answered"]


def answer(decision: str, by: Any, *, reason: str = "") -> Approval:
    """Answer the one request that stands."""
    approval = Approval.objects.get()
    return approval_resolve(approval, decision=decision, by=by, at=timezone.now(), reason=reason)


def asked(agent: httpx.Client, params: dict[str, Any] = TOUCH) -> dict[str, Any]:
    """Make a call that needs a person, and come back when the question stands."""
    body: dict[str, Any] = call(agent, "exec", params, wait_ms=50).json()

    def waits() -> bool:
        nonlocal body
        body = agent.get(f"/api/v1/calls/{body['id']}").json()
        return bool(body["status"] == "awaiting_approval")

    assert eventually(waits)
    return body


def wait_for_request() -> None:
    assert eventually(lambda: Approval.objects.count() == 1)


def made(settings: Any) -> bool:
    return (workspace(settings) / "made").exists()


def test_a_command_outside_the_list_waits_and_runs_when_allowed(
    agent: httpx.Client, operator: Any, settings: Any
) -> None:
    body = asked(agent)
    assert body["approval"]["id"].startswith("ap_")
    assert not made(settings)

    answer("allow-once", operator)
    done = agent.get(f"/api/v1/calls/{body['id']}?wait=10000").json()

    assert done["status"] == "completed"
    assert made(settings)
    assert [kind for kind, _ in kinds(body["id"])] == [*ASKED, "call_intent", "call_outcome"]


def test_a_caller_who_waits_is_answered_when_the_person_was(agent: httpx.Client, operator: Any, settings: Any) -> None:
    answers: list[httpx.Response] = []
    thread = threading.Thread(target=lambda: answers.append(call(agent, "exec", TOUCH, wait_ms=15_000)))
    thread.start()
    wait_for_request()

    answer("allow-once", operator)
    thread.join(timeout=60)

    assert answers[0].json()["status"] == "completed"
    assert made(settings)
    assert eventually(lambda: Approval.objects.get().finished_at is not None)
    assert Approval.objects.get().sealed_action is None


def test_a_denied_call_never_runs_and_hears_the_reason(agent: httpx.Client, operator: Any, settings: Any) -> None:
    body = asked(agent)

    answer("deny", operator, reason="not on a Friday")
    done = agent.get(f"/api/v1/calls/{body['id']}?wait=10000").json()

    assert (done["status"], done["error"]["code"]) == ("denied", "approval_denied")
    assert "not on a Friday" in done["error"]["message"]
    assert not made(settings)


@pytest.fixture
def hardly_polled(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not heard of by itself is not heard of in a test."""
    monkeypatch.setattr(lifecycle, "POLL_S", 3600.0)


def test_nobody_answering_in_time_means_denied_in_that_moment(
    hardly_polled: None, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setitem(asking.TIMEOUT_S, "2026.9", 0.5)

    done = call(agent, "exec", TOUCH, wait_ms=30_000).json()

    assert (done["status"], done["error"]["code"]) == ("denied", "approval_expired")
    assert not made(settings)


def test_an_approval_can_be_waited_for_by_its_own_id(agent: httpx.Client, operator: Any) -> None:
    body = asked(agent)
    path = f"/api/v1/approvals/{body['approval']['id']}/wait"
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(agent.get(f"{path}?wait=10000").json()))
    thread.start()

    pending = agent.get(f"{path}?wait=0").json()
    answer("deny", operator, reason="no")
    thread.join(timeout=60)

    assert (pending["state"], pending["decision"]) == ("requested", None)
    assert (answers[0]["state"], answers[0]["decision"], answers[0]["reason"]) == ("denied", "deny", "no")


def test_many_who_wait_hold_nobody_up(agent: httpx.Client, operator: Any) -> None:
    body = asked(agent)
    path = f"/api/v1/approvals/{body['approval']['id']}/wait?wait=15000"
    waiting = 3 * THREADS
    with ThreadPoolExecutor(waiting) as pool:
        answers = [pool.submit(lambda: agent.get(path).json()["decision"]) for _ in range(waiting)]
        assert eventually(lambda: len(waiters) >= 1)

        meanwhile = call(agent, "exec", {"command": "echo still here"}, wait_ms=10_000).json()
        answer("deny", operator)

        assert meanwhile["status"] == "completed"
        assert {answer.result(timeout=60) for answer in answers} == {"deny"}


def test_an_approval_of_another_token_does_not_exist(server: Server, agent: httpx.Client, token: Token) -> None:
    body = asked(agent)

    with server.client(token("calls_make", name="another")[1]) as other:
        answer = other.get(f"/api/v1/approvals/{body['approval']['id']}/wait?wait=0")

    assert (answer.status_code, answer.json()["code"]) == (404, "approval_not_found")


def test_a_token_of_another_agent_does_not_hear_of_it(server: Server, admin: Any, token: Token) -> None:
    secrets = [token("calls_make", by=admin, agents=[name])[1] for name in ("bot", "clerk")]
    with server.client(secrets[0]) as bot, server.client(secrets[1]) as clerk:
        path = f"/api/v1/approvals/{asked(bot)['approval']['id']}/wait?wait=0"

        assert (bot.get(path).status_code, clerk.get(path).status_code) == (200, 404)


def test_always_is_offered_for_a_plain_command_and_the_next_one_runs_unasked(
    agent: httpx.Client, operator: Any, settings: Any
) -> None:
    body = asked(agent)
    answer("allow-always", operator)
    agent.get(f"/api/v1/calls/{body['id']}?wait=10000")

    again = call(agent, "exec", TOUCH).json()
    spelt = agent.post("/api/v1/calls", json={"agent": " BOT ", "tool": "Bash", "params": TOUCH}).json()
    other = asked(agent, {"command": "touch other"})

    assert (again["status"], spelt["status"]) == ("completed", "completed")
    assert other["status"] == "awaiting_approval"


def test_always_is_not_offered_for_a_line_of_shell(agent: httpx.Client, operator: Any, settings: Any) -> None:
    body = asked(agent, {"command": "echo a | cat > made"})
    assert Approval.objects.get().decisions == ["allow-once", "deny"]

    answer("allow-once", operator)
    done = agent.get(f"/api/v1/calls/{body['id']}?wait=10000").json()

    assert done["status"] == "completed"
    assert (workspace(settings) / "made").read_text() == "a\n"


def test_a_script_that_changed_after_it_was_shown_does_not_run(
    agent: httpx.Client, operator: Any, settings: Any
) -> None:
    call(agent, "write", {"path": "run.sh", "content": "echo harmless"})
    body = asked(agent, {"command": "bash run.sh"})
    call(agent, "write", {"path": "run.sh", "content": "touch made"})

    answer("allow-once", operator)
    done = agent.get(f"/api/v1/calls/{body['id']}?wait=10000").json()

    assert (done["status"], done["error"]["code"]) == ("denied", "action_changed")
    assert not made(settings)


@pytest.fixture
def restarted(server: Server, holder: Holder, agent: httpx.Client) -> Iterator[Any]:
    """Stop the server that asked; start others with `restarted()`."""
    servers: list[Server] = []

    def start() -> Server:
        servers.append(Server(holder.snapshots()).start())
        return servers[-1]

    yield start
    for one in servers:
        one.stop()


def test_an_action_allowed_while_every_server_was_down_runs_once_at_the_next_start(
    server: Server, agent: httpx.Client, operator: Any, restarted: Any, settings: Any
) -> None:
    body = asked(agent)
    secret = agent.headers["authorization"].removeprefix("Bearer ")
    server.stop()
    answer("allow-once", operator)
    assert not made(settings)

    again = restarted()
    with again.client(secret) as client:
        done = client.get(f"/api/v1/calls/{body['id']}?wait=10000").json()

    assert done["status"] == "completed"
    assert made(settings)
    assert [kind for kind, _ in kinds(body["id"])].count("call_intent") == 1


def test_a_request_survives_a_restart_with_its_deadline(server: Server, agent: httpx.Client, restarted: Any) -> None:
    body = asked(agent)
    secret = agent.headers["authorization"].removeprefix("Bearer ")
    server.stop()

    with restarted().client(secret) as client:
        pending = client.get(f"/api/v1/calls/{body['id']}")

    assert pending.status_code == 202
    assert pending.json() == body


def test_a_claimed_action_whose_runner_is_gone_ends_as_unknown_and_never_runs(
    server: Server, agent: httpx.Client, operator: Any, settings: Any, tmp_path: Path
) -> None:
    body = asked(agent)
    server.stop()
    approval = answer("allow-once", operator)
    gone = new_id()
    own = Boot.objects.get(id=boot_id())
    Boot.objects.create(
        id=gone,
        host=own.host,
        pid=1,
        version=own.version,
        started_at=own.started_at,
        lease_until=own.started_at,
        ended_at=timezone.now(),
        seq=0,
        head=own.head,
    )
    approval_claim(approval.pk, boot=gone, at=timezone.now())

    assert abandoned_end(timezone.now()) == 1
    assert abandoned_end(timezone.now()) == 0

    assert kinds(body["id"])[-1] == ("call_outcome", "unknown")
    assert not made(settings)
    approval_finish(read_id("ap", body["approval"]["id"]), at=timezone.now() + timedelta(seconds=1))
