"""Ending calls: by their caller, by people, by a caller that goes away; wherever they run, the whole tree goes."""

import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from django.utils import timezone

from apps.approvals.models import Approval
from apps.firewall.identifiers import read_id
from apps.gateway.errors import CallNotFoundError
from apps.gateway.lifecycle import gateway
from apps.gateway.models import AsyncCall, CallCancel
from apps.gateway.queue.cancelling import call_cancel, call_environment
from tests.gateway.conftest import call, leaves, snapshot_with
from tests.gateway.server import Holder, Server
from tests.gateway.test_async_calls import later, row, take
from tests.gateway.test_calls import kinds, sleeping
from tests.gateway.test_decisions import Token, eventually, reload
from tests.gateway.test_turns import body_of, turn


def test_ending_a_running_call_ends_its_tree_and_says_by_whom(server: Server, agent: httpx.Client) -> None:
    shown_id = call(agent, "exec", {"command": "sleep 54"}, wait_ms=0).json()["id"]
    assert eventually(lambda: bool(sleeping("54")))

    answer = agent.delete(f"/api/v1/calls/{shown_id}")

    assert (answer.status_code, answer.json()["status"], answer.json()["error"]["code"]) == (
        200,
        "cancelled",
        "cancelled",
    )
    assert answer.json()["error"]["message"].startswith("cancelled by tok_")
    assert not sleeping("54")
    assert kinds(shown_id) == [("call_intent", "started"), ("call_outcome", "cancelled")]
    gateway().desk._ended.clear()
    assert agent.get(f"/api/v1/calls/{shown_id}").json()["status"] == "cancelled"


def test_who_waits_for_a_call_is_answered_when_it_is_ended(server: Server, agent: httpx.Client) -> None:
    answers: list[dict[str, Any]] = []
    waiting = threading.Thread(target=lambda: answers.append(call(agent, "exec", {"command": "sleep 54"}).json()))
    waiting.start()
    assert eventually(lambda: bool(sleeping("54")))

    for call_id in list(gateway().desk._calls):
        call_cancel(call_id, by="user:olga", environment="production", at=timezone.now())
    waiting.join(timeout=60)

    assert [(each["status"], each["error"]["message"]) for each in answers] == [("cancelled", "cancelled by olga")]


def test_ending_a_queued_call_is_on_record_and_it_never_runs(server: Server, agent: httpx.Client) -> None:
    shown_id = later(agent, "exec", {"command": "sleep 54"}).json()["id"]

    answer = agent.delete(f"/api/v1/calls/{shown_id}").json()

    assert (answer["status"], kinds(shown_id)) == ("cancelled", [("call_outcome", "cancelled")])
    assert (row(shown_id).sealed_action, take(server)) == (None, 0)


def test_ending_an_asynchronous_call_that_runs(server: Server, agent: httpx.Client) -> None:
    shown_id = later(agent, "exec", {"command": "sleep 54"}).json()["id"]
    take(server)
    assert eventually(lambda: bool(sleeping("54")))

    answer = agent.delete(f"/api/v1/calls/{shown_id}").json()

    assert (answer["status"], sleeping("54")) == ("cancelled", [])
    assert eventually(lambda: row(shown_id).outcome == "cancelled")


def test_ending_twice_or_too_late_changes_nothing(agent: httpx.Client) -> None:
    shown_id = call(agent, "exec", {"command": "echo hi"}).json()["id"]

    answers = [agent.delete(f"/api/v1/calls/{shown_id}") for _ in range(2)]

    assert [(each.status_code, each.json()["status"]) for each in answers] == [(200, "completed")] * 2
    assert not CallCancel.objects.exists()


def test_ending_a_call_that_waits_for_a_person_withdraws_the_request(
    server: Server, holder: Holder, agent: httpx.Client
) -> None:
    holder.snapshot = snapshot_with(approvals={})
    reload(server)
    shown_id = call(agent, "exec", {"command": "echo"}, wait_ms=0).json()["id"]
    assert eventually(Approval.objects.exists)

    agent.delete(f"/api/v1/calls/{shown_id}")

    assert Approval.objects.get().state == "cancelled"


@pytest.mark.parametrize("identifier", ["call_00000000000000000000000000", "nothing"])
def test_an_unknown_call_cannot_be_ended(agent: httpx.Client, identifier: str) -> None:
    assert agent.delete(f"/api/v1/calls/{identifier}").status_code == 404


def test_people_may_end_any_call_and_tokens_their_own(
    server: Server, agent: httpx.Client, token: Token, operator: Any, viewer: Any
) -> None:
    from apps.accounts.errors import PermissionDeniedError

    call_id = read_id("call", later(agent, "exec", {"command": "echo"}).json()["id"])
    stranger, _ = token("calls_make", name="another")

    assert call_environment(operator, call_id) == "production"
    with pytest.raises(CallNotFoundError):
        call_environment(stranger, call_id)
    with pytest.raises(PermissionDeniedError):
        call_environment(viewer, call_id)


def gives_up(agent: httpx.Client, once: Callable[[], object] = lambda: sleeping("53"), /, **more: Any) -> None:
    order = {"agent": "bot", "tool": "exec", "params": {"command": "sleep 53"}, **more}
    leaves(agent, "/api/v1/calls", order, once=once)


def outcomes() -> list[tuple[str, str]]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT kind, status FROM audit_entry WHERE call_id IS NOT NULL ORDER BY at")
        return list(cursor.fetchall())


def test_a_caller_that_goes_away_before_an_answer_ends_its_call(server: Server, agent: httpx.Client) -> None:
    gives_up(agent)

    assert eventually(lambda: outcomes() == [("call_intent", "started"), ("call_outcome", "cancelled")])
    assert not sleeping("53")


@pytest.mark.parametrize("more", [{"on_disconnect": "continue"}, {"idempotency": "k"}])
def test_a_caller_that_may_come_again_does_not_end_its_call(
    server: Server, agent: httpx.Client, more: dict[str, str]
) -> None:
    gives_up(agent, **more)

    assert eventually(lambda: bool(sleeping("53")))
    (call_id,) = list(gateway().desk._calls)
    call_cancel(call_id, by="user:olga", environment="production", at=timezone.now())
    assert eventually(lambda: not sleeping("53"))


def leaves_turn(agent: httpx.Client, *commands: str, **more: Any) -> None:
    body = body_of([("exec", {"command": command}) for command in commands], **more)
    leaves(agent, "/api/v1/turns", body, once=outcomes)


def test_a_turn_whose_caller_goes_away_ends_where_that_was_asked(server: Server, agent: httpx.Client) -> None:
    leaves_turn(agent, "sleep 56", "sleep 57", on_disconnect="cancel")

    assert eventually(lambda: outcomes() == [("call_intent", "started"), ("call_outcome", "cancelled")])
    assert not sleeping("56") and not sleeping("57")


@pytest.mark.slow
def test_a_turn_goes_on_without_its_caller_and_is_found_again(server: Server, agent: httpx.Client) -> None:
    leaves_turn(agent, "sleep 2", idempotency="a turn")

    again = turn(agent, [("exec", {"command": "sleep 2"})], idempotency="a turn").json()

    assert [each["status"] for each in again["calls"]] == ["completed"]
    assert outcomes() == [("call_intent", "started"), ("call_outcome", "completed")]


@pytest.mark.parametrize("wanted", ["end", 1])
def test_a_turn_says_what_it_does_not_know(server: Server, agent: httpx.Client, wanted: Any) -> None:
    refused = turn(agent, [("exec", {"command": "echo"})], on_disconnect=wanted).json()

    assert [each["path"] for each in refused["details"]] == ["on_disconnect"]


def test_a_caller_that_was_told_the_id_may_go_away(server: Server, agent: httpx.Client) -> None:
    shown_id = call(agent, "exec", {"command": "sleep 1"}, wait_ms=0).json()["id"]
    agent.close()

    assert eventually(lambda: kinds(shown_id) == [("call_intent", "started"), ("call_outcome", "completed")])


def test_a_caller_that_goes_away_while_a_person_is_asked_withdraws_the_request(
    server: Server, holder: Holder, agent: httpx.Client
) -> None:
    holder.snapshot = snapshot_with(approvals={})
    reload(server)

    gives_up(agent, Approval.objects.exists)

    assert eventually(lambda: [each.state for each in Approval.objects.all()] == ["cancelled"])
    assert not AsyncCall.objects.exists()
