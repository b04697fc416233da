"""The kill switch over real sockets: what runs ends, what comes is refused, in every process."""

from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from django.utils import timezone

from apps.approvals.models import Approval
from apps.approvals.services import approval_resolve
from apps.halts.models import Halt
from apps.halts.selectors import processes
from apps.halts.services import halt_ask, halt_lift, halt_place
from tests.gateway.conftest import call, publish_first
from tests.gateway.server import Server
from tests.gateway.test_calls import kinds, sleeping
from tests.gateway.test_decisions import Token, eventually
from tests.gateway.test_sudden_death import server_process


def stop(environment: Any, scope: str = "agent", name: str = "bot", **more: Any) -> Halt:
    given = {"reason": "it deletes things", "unknown": True, **more}
    return halt_place(environment, scope=scope, name=name, at=timezone.now(), **given)


def refused(client: httpx.Client, **more: Any) -> bool:
    answer = call(client, "read", {"path": "a"}, **more).json()
    return (answer.get("error") or {}).get("code") == "stopped"


def heard() -> bool:
    found = processes(at=timezone.now())
    return bool(found) and all(each.has_heard for each in found)


def test_a_stop_refuses_calls_and_decisions_and_its_lifting_lets_them_through(
    server: Server, agent: httpx.Client, environment: Any
) -> None:
    halt = stop(environment)
    assert eventually(heard)

    answer = call(agent, "write", {"path": "a", "content": "b"})
    assert (answer.status_code, answer.json()["status"]) == (200, "denied")
    assert answer.json()["error"]["message"] == "calls of the agent `bot` are stopped: it deletes things"
    assert kinds(answer.json()["id"]) == [("denial", "denied")]
    decided = agent.post("/api/v1/decisions", json={"agent": "bot", "tool": "read"}).json()
    assert (decided["allowed"], decided["reason"]) == (False, "stopped")
    assert agent.post("/api/v1/decisions", json={"agent": "clerk", "tool": "read"}).json()["allowed"] is True

    halt_lift(halt, at=timezone.now())
    assert eventually(heard)
    assert call(agent, "write", {"path": "a", "content": "b"}).json()["status"] == "completed"


def test_what_runs_is_ended_with_its_whole_tree_and_its_outcome_says_by_whom(
    server: Server, agent: httpx.Client, environment: Any, operator: Any
) -> None:
    shown_id = call(agent, "exec", {"command": "sleep 53"}, wait_ms=0).json()["id"]
    assert eventually(lambda: bool(sleeping("53")))

    stop(environment, by=operator)

    assert eventually(lambda: not sleeping("53"))
    ended = agent.get(f"/api/v1/calls/{shown_id}", params={"wait": 5000}).json()
    assert (ended["status"], ended["error"]["code"]) == ("cancelled", "stopped")
    assert str(operator) in ended["error"]["message"]
    assert kinds(shown_id) == [("call_intent", "started"), ("call_outcome", "cancelled")]


def test_what_runs_may_be_left_to_finish(server: Server, agent: httpx.Client, environment: Any) -> None:
    shown_id = call(agent, "exec", {"command": "sleep 1"}, wait_ms=0).json()["id"]
    assert eventually(lambda: bool(sleeping("1")))

    stop(environment, ends_running=False)
    assert eventually(heard)

    assert agent.get(f"/api/v1/calls/{shown_id}", params={"wait": 10000}).json()["status"] == "completed"
    assert refused(agent)


def test_a_pending_request_freezes_and_an_allowed_one_does_not_run(
    server: Server, agent: httpx.Client, environment: Any, operator: Any
) -> None:
    shown_id = call(agent, "exec", {"command": "ls -la | cat"}, wait_ms=0).json()["id"]
    (approval,) = Approval.objects.all()
    halt = stop(environment)
    approval.refresh_from_db()
    assert approval.frozen_at is not None

    halt_ask(halt, at=timezone.now())
    assert eventually(heard)
    approval_resolve(approval, decision="allow-once", by=operator, at=timezone.now())

    assert agent.get(f"/api/v1/calls/{shown_id}", params={"wait": 10000}).json()["status"] == "completed"


def test_on_the_way_back_a_call_that_never_asked_waits_for_a_person(
    server: Server, agent: httpx.Client, environment: Any, operator: Any
) -> None:
    halt_ask(stop(environment), at=timezone.now())
    assert eventually(heard)

    asked = call(agent, "write", {"path": "a", "content": "b"}, wait_ms=0).json()
    assert asked["status"] == "awaiting_approval"
    (approval,) = Approval.objects.all()
    assert (approval.decisions, approval.reason_layer) == (["allow-once", "deny"], "kill_switch")

    approval_resolve(approval, decision="allow-once", by=operator, at=timezone.now())
    assert agent.get(f"/api/v1/calls/{asked['id']}", params={"wait": 10000}).json()["status"] == "completed"


@pytest.mark.slow
def test_every_process_hears_of_it_and_says_so(transactional_db: None, environment: Any, token: Token) -> None:
    publish_first(environment, '{"agents": {"entries": {"bot": {}}}}')
    headers = {"Authorization": f"Bearer {token('calls_make')[1]}"}
    with ExitStack() as stack:
        urls = [stack.enter_context(server_process())[1] for _ in range(2)]
        clients = [stack.enter_context(httpx.Client(base_url=url, headers=headers, timeout=20)) for url in urls]
        assert [refused(client) for client in clients] == [False, False]

        stop(environment, "environment", "")

        assert eventually(lambda: all(refused(client) for client in clients))
        assert eventually(lambda: [each.has_heard for each in processes(at=timezone.now())] == [True, True])


@pytest.mark.slow
def test_a_process_that_starts_later_holds_to_it_from_its_first_call(
    transactional_db: None, environment: Any, token: Token
) -> None:
    publish_first(environment, '{"agents": {"entries": {"bot": {}}}}')
    stop(environment, "tool", "read")
    headers = {"Authorization": f"Bearer {token('calls_make')[1]}"}
    with server_process() as (_, url), httpx.Client(base_url=url, headers=headers, timeout=20) as client:
        assert refused(client)


def test_nobody_is_asked_what_a_program_may_run_while_that_is_stopped(
    server: Server, agent: httpx.Client, environment: Any
) -> None:
    halt = stop(environment)
    assert eventually(heard)
    wanted = {"agentId": "bot", "command": "make deploy", "twoPhase": True}

    answer = agent.post("/api/v1/rpc/exec.approval.request", json=wanted)

    assert (answer.status_code, answer.json()["code"]) == (403, "stopped")
    assert not Approval.objects.exists()
    halt_lift(halt, at=timezone.now())
    assert eventually(heard)
    assert agent.post("/api/v1/rpc/exec.approval.request", json=wanted).json()["status"] == "accepted"
