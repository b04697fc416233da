"""OpenClaw's names for approvals, over HTTP and over a socket, and who hears what."""

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone
from websockets.sync.client import ClientConnection, connect

from apps.accounts.models import ApiToken
from apps.approvals import asking
from apps.approvals.errors import CallerEndedError
from apps.approvals.models import Approval
from apps.approvals.services import approval_resolve
from apps.audit.models import Entry
from apps.events.waiters import waiters
from apps.gateway import lifecycle
from apps.gateway.rpc import methods
from apps.gateway.rpc.socket import NO_TOKEN
from apps.halts.selectors import processes
from apps.halts.services import halt_place
from tests.gateway.conftest import call, snapshot_with
from tests.gateway.server import Holder, Server
from tests.gateway.test_call_events import closing_code
from tests.gateway.test_decisions import Token, eventually
from tests.gateway.test_waiting import asked

ASK = {"agentId": "bot", "command": "make deploy", "cwd": "/srv", "host": "build-1"}
Call = Callable[[str, dict[str, Any]], dict[str, Any]]


def over_http(client: httpx.Client) -> Call:
    """Call by HTTP; an error is what its body says."""
    return lambda method, params: client.post(f"/api/v1/rpc/{method}", json=params).json()


def reply(socket: ClientConnection) -> dict[str, Any]:
    """Read the next answer; events may come between answers."""
    while True:
        frame: dict[str, Any] = json.loads(socket.recv(timeout=60))
        if frame["type"] == "res":
            return frame


def over_socket(socket: ClientConnection) -> Call:
    """Call over a socket; an error is what its frame says."""

    def make(method: str, params: dict[str, Any]) -> dict[str, Any]:
        socket.send(json.dumps({"type": "req", "id": "r1", "method": method, "params": params}))
        frame = reply(socket)
        assert (frame["type"], frame["id"]) == ("res", "r1")
        return dict(frame["payload"] if frame["ok"] else frame["error"])

    return make


@contextmanager
def open_socket(server: Server, secret: str) -> Iterator[ClientConnection]:
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    address = f"{server.url.replace('http', 'ws')}/api/v1/rpc"
    with connect(address, additional_headers=headers, proxy=None) as socket:
        yield socket


@pytest.fixture(params=["http", "socket"])
def ways(request: pytest.FixtureRequest, server: Server, token: Token, operator: Any, admin: Any) -> Iterator[Any]:
    """Give a program that asks and one that answers, of two people, by either way."""
    secrets = [
        token("calls_make", by=admin, name="asks")[1],
        token("approvals_read", "approvals_resolve", name="answers")[1],
    ]
    if request.param == "http":
        with server.client(secrets[0]) as asks, server.client(secrets[1]) as answers:
            yield over_http(asks), over_http(answers)
    else:
        with open_socket(server, secrets[0]) as first, open_socket(server, secrets[1]) as second:
            yield over_socket(first), over_socket(second)


def test_the_id_that_a_token_is_told_is_one_that_it_can_answer_by(ways: Any) -> None:
    asks, answers = ways
    asked = asks("exec.approval.request", {**ASK, "id": "job-1", "twoPhase": True})
    (listed,) = answers("exec.approval.list", {})["approvals"]

    assert (asked["id"], listed["id"]) == ("job-1", asked["approvalId"])
    assert answers("exec.approval.get", {"id": listed["id"]})["id"] == listed["id"]
    resolved = answers("exec.approval.resolve", {"id": listed["id"], "decision": "allow-once"})
    assert (resolved["ok"], resolved["id"]) == (True, listed["id"])
    assert asks("exec.approval.waitDecision", {"id": "job-1"})["decision"] == "allow-once"


def test_a_program_asks_somebody_answers_and_it_is_told_who_and_when(ways: Any) -> None:
    asks, answers = ways
    accepted = asks("exec.approval.request", {**ASK, "twoPhase": True})
    (listed,) = answers("exec.approval.list", {})["approvals"]
    resolved = answers("exec.approval.resolve", {"id": accepted["id"], "decision": "allow-once"})
    told = asks("exec.approval.waitDecision", {"id": accepted["id"]})

    assert accepted["status"] == "accepted" and accepted["expiresAtMs"] - accepted["createdAtMs"] == 1_800_000
    assert (listed["id"], listed["decision"], listed["resolvedAtMs"]) == (accepted["id"], None, None)
    assert listed["request"]["command"] == "make deploy" and listed["request"]["allowedDecisions"] == [
        "allow-once",
        "deny",
    ]
    assert resolved["ok"] is True
    assert (told["decision"], told["status"], told["resolvedBy"]) == ("allow-once", "allowed", "answers")
    assert told["createdAtMs"] == accepted["createdAtMs"] <= told["resolvedAtMs"] < told["expiresAtMs"]


def test_each_command_of_a_line_has_what_the_rules_say_of_it(server: Server, holder: Holder, ways: Any) -> None:
    asks, _ = ways
    holder.snapshot = snapshot_with(approvals={"agents": {"bot": {"allowlist": [{"pattern": "echo"}]}}})
    server.run(lifecycle.gateway().snapshots.reload())
    line = "echo ready && make deploy | tee log"
    asks("exec.approval.request", {"agentId": "bot", "command": line, "host": "build-1", "twoPhase": True})
    approval = Approval.objects.get()
    read = [(line[part["start"] : part["end"]], part["by"], bool(part["why"])) for part in approval.parts]
    assert read == [("echo ready", "allowlist", False), ("make deploy", "", True), ("tee log", "", True)]


def test_nobody_here_runs_what_a_program_asked_about(ways: Any) -> None:
    asks, answers = ways
    accepted = asks("exec.approval.request", {**ASK, "twoPhase": True})
    answers("exec.approval.resolve", {"id": accepted["id"], "decision": "allow-once"})

    approval = Approval.objects.get()
    assert not approval.runs_here and approval.claimed_at is None
    assert approval.sealed_action is None and approval.finished_at is not None
    kinds = set(Entry.objects.filter(call_id=approval.call_id).values_list("kind", flat=True))
    assert kinds == {"approval_asked", "approval_answered"}


def test_the_one_who_loses_is_told_who_what_and_when(ways: Any) -> None:
    asks, answers = ways
    accepted = asks("exec.approval.request", {**ASK, "twoPhase": True})
    answers("exec.approval.resolve", {"id": accepted["id"], "decision": "deny", "reason": "not now"})
    lost = answers("exec.approval.resolve", {"id": accepted["id"], "decision": "allow-once"})

    assert lost["code"] == "approval_already_decided"
    assert {each["path"]: each["message"] for each in lost["details"]}.items() >= {
        "decided_by": "answers",
        "state": "denied",
    }.items()
    assert asks("exec.approval.waitDecision", {"id": accepted["id"]})["reason"] == "not now"


def test_whoever_asked_cannot_allow_it_and_may_not_answer_without_the_right(
    server: Server, token: Token, admin: Any, ways: Any
) -> None:
    asks, _ = ways
    accepted = asks("exec.approval.request", {**ASK, "twoPhase": True})
    refused = asks("exec.approval.resolve", {"id": accepted["id"], "decision": "allow-once"})
    assert refused["code"] in {"approval_not_found", "permission_denied"}

    both = token("calls_make", "approvals_read", "approvals_resolve", by=admin, name="both")[1]
    with server.client(both) as client:
        own = over_http(client)
        mine = own("exec.approval.request", {**ASK, "twoPhase": True})
        assert own("exec.approval.resolve", {"id": mine["id"], "decision": "allow-once"})["code"] == "own_request"
        assert own("exec.approval.resolve", {"id": mine["id"], "decision": "deny"})["ok"] is True


def test_the_same_id_joins_the_same_wait_and_another_question_is_refused(ways: Any) -> None:
    asks, answers = ways
    first = asks("exec.approval.request", {**ASK, "id": "job-7", "twoPhase": True})
    again = asks("exec.approval.request", {**ASK, "id": "job-7", "twoPhase": True})
    other = asks("exec.approval.request", {**ASK, "id": "job-7", "command": "rm -rf /", "twoPhase": True})

    assert first["id"] == "job-7" and again == first
    assert other["code"] == "approval_id_pending"
    answers("exec.approval.resolve", {"id": first["approvalId"], "decision": "deny"})
    assert asks("exec.approval.waitDecision", {"id": "job-7"})["decision"] == "deny"
    fresh = asks("exec.approval.request", {**ASK, "id": "job-7", "twoPhase": True})
    assert fresh["approvalId"] != first["approvalId"]


def test_a_late_waiter_is_answered_for_fifteen_seconds_and_the_history_has_it_for_good(ways: Any) -> None:
    asks, answers = ways
    accepted = asks("exec.approval.request", {**ASK, "twoPhase": True})
    answers("exec.approval.resolve", {"id": accepted["id"], "decision": "deny"})
    rows = Approval.objects.filter(state="denied")

    rows.update(decided_at=timezone.now() - methods.LATE_WAITERS + timedelta(seconds=5))
    assert asks("exec.approval.waitDecision", {"id": accepted["id"]})["decision"] == "deny"
    rows.update(decided_at=timezone.now() - methods.LATE_WAITERS)
    assert asks("exec.approval.waitDecision", {"id": accepted["id"]})["code"] == "approval_not_found"
    assert asks("exec.approval.get", {"id": accepted["id"]})["decision"] == "deny"


@pytest.mark.slow
def test_a_time_out_answers_with_no_decision_and_never_hangs(ways: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asks, _ = ways
    monkeypatch.setitem(asking.TIMEOUT_S, "2026.9", 0.5)
    told = asks("exec.approval.request", ASK)

    assert (told["decision"], told["status"], told["resolvedBy"]) == (None, "expired", None)
    assert told["resolvedAtMs"] >= told["expiresAtMs"]


def test_a_waiter_comes_back_when_its_own_time_is_over(ways: Any) -> None:
    asks, _ = ways
    told = asks("exec.approval.request", {**ASK, "waitMs": 100})
    assert (told["decision"], told["status"]) == (None, "pending")


def test_an_answer_releases_everybody_who_waits(server: Server, token: Token, admin: Any, operator: Any) -> None:
    secret = token("calls_make", by=admin, name="asks")[1]
    with server.client(secret) as client, open_socket(server, secret) as socket:
        asks = over_http(client)
        accepted = asks("exec.approval.request", {**ASK, "id": "job", "twoPhase": True})
        with ThreadPoolExecutor(3) as pool:
            waits = [
                pool.submit(asks, "exec.approval.waitDecision", {"id": "job"}),
                pool.submit(asks, "exec.approval.request", {**ASK, "id": "job"}),
                pool.submit(over_socket(socket), "exec.approval.waitDecision", {"id": "job"}),
            ]
            assert eventually(lambda: len(waiters) == 3)
            approval_resolve(Approval.objects.get(), decision="allow-once", by=operator, at=timezone.now())
            told = [wait.result(timeout=60) for wait in waits]

    assert {(each["approvalId"], each["decision"]) for each in told} == {(accepted["approvalId"], "allow-once")}


def test_a_socket_answers_other_calls_while_one_waits(server: Server, token: Token, admin: Any, operator: Any) -> None:
    with open_socket(server, token("calls_make", by=admin)[1]) as socket:
        for identifier, method, params in (
            ("waits", "exec.approval.request", ASK),
            ("lists", "exec.approval.list", {}),
        ):
            socket.send(json.dumps({"type": "req", "id": identifier, "method": method, "params": params}))
        assert reply(socket)["id"] == "lists"
        assert eventually(lambda: Approval.objects.count() == 1)
        approval_resolve(Approval.objects.get(), decision="deny", by=operator, at=timezone.now())
        assert reply(socket)["payload"]["decision"] == "deny"


def test_a_restart_keeps_what_waits_with_its_deadline(
    server: Server, holder: Holder, token: Token, admin: Any, operator: Any
) -> None:
    secret = token("calls_make", by=admin)[1]
    with server.client(secret) as client:
        accepted = over_http(client)("exec.approval.request", {**ASK, "id": "job", "twoPhase": True})
    server.stop()
    again = Server(holder.snapshots()).start()
    try:
        with again.client(secret) as client:
            asks = over_http(client)
            assert asks("exec.approval.get", {"id": "job"})["expiresAtMs"] == accepted["expiresAtMs"]
            assert asks("exec.approval.request", {**ASK, "id": "job", "twoPhase": True}) == accepted
            approval_resolve(Approval.objects.get(), decision="deny", by=operator, at=timezone.now())
            assert asks("exec.approval.waitDecision", {"id": "job"})["decision"] == "deny"
    finally:
        again.stop()


def test_requests_of_calls_go_by_the_same_names(agent: httpx.Client, operator: Any) -> None:
    body = asked(agent)
    asks = over_http(agent)
    shown = asks("exec.approval.get", {"id": body["approval"]["id"]})

    assert shown["request"]["command"] == "touch made" and shown["request"]["callId"] == body["id"]
    assert [each["id"] for each in asks("exec.approval.list", {})["approvals"]] == [body["approval"]["id"]]
    thread = threading.Timer(
        0.2, lambda: approval_resolve(Approval.objects.get(), decision="deny", by=operator, at=timezone.now())
    )
    thread.start()
    assert asks("exec.approval.waitDecision", {"id": body["approval"]["id"]})["decision"] == "deny"


@pytest.mark.parametrize(("bound", "count"), [("", 1), ("production", 1), ("gone", 0)])
def test_a_token_lists_what_waits_in_its_environment_and_nothing_when_that_is_gone(
    server: Server, agent: httpx.Client, token: Token, admin: Any, bound: str, count: int
) -> None:
    asked(agent)
    reading, secret = token("approvals_read", by=admin, name="reads")
    ApiToken.objects.filter(pk=reading.pk).update(environment=bound)
    with server.client(secret) as client:
        assert len(over_http(client)("exec.approval.list", {})["approvals"]) == count


def test_requests_of_others_do_not_exist(server: Server, agent: httpx.Client, token: Token, admin: Any) -> None:
    body = asked(agent)
    for options in ({}, {"agents": ["clerk"]}):
        with server.client(token("calls_make", by=admin, name="other", **options)[1]) as client:
            other = over_http(client)
            assert other("exec.approval.list", {})["approvals"] == []
            for method in ("get", "waitDecision"):
                told = other(f"exec.approval.{method}", {"id": body["approval"]["id"]})
                assert told["code"] == "approval_not_found"
            refused = other("exec.approval.resolve", {"id": body["approval"]["id"], "decision": "deny"})
            assert refused["code"] == "approval_not_found"


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"command": ""}, "command"),
        ({"command": 7}, "command"),
        ({"agentId": ""}, "agent"),
        ({"timeoutMs": 4999}, "timeoutMs"),
        ({"timeoutMs": 86_400_001}, "timeoutMs"),
        ({"twoPhase": "yes"}, "twoPhase"),
        ({"env": {"A": 1}}, "env"),
        ({"commandArgv": "ls"}, "commandArgv"),
        ({"more": 1}, "more"),
    ],
)
def test_mistakes_are_named(agent: httpx.Client, change: dict[str, Any], path: str) -> None:
    told = over_http(agent)("exec.approval.request", {**ASK, **change})
    assert told["code"] == "invalid_request" and path in [each["path"] for each in told["details"]]
    assert not Approval.objects.exists()


def test_an_agent_without_commands_asks_nobody(server: Server, holder: Holder, agent: httpx.Client) -> None:
    from tests.gateway.conftest import snapshot_with
    from tests.gateway.test_decisions import reload

    holder.snapshot = snapshot_with(deny=("exec",))
    reload(server)
    assert over_http(agent)("exec.approval.request", ASK)["code"] == "tool_not_found"
    assert call(agent, "read", {"path": "x"}).status_code in {200, 422}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("nothing", "invalid_json"),
        ("[]", "invalid_frame"),
        ('{"type": "req", "id": "1"}', "invalid_frame"),
        ('{"type": "req", "id": 1, "method": "exec.approval.list"}', "invalid_frame"),
        ('{"type": "req", "id": "1", "method": "exec.approval.rule", "params": {}}', "method_not_found"),
    ],
)
def test_a_frame_that_cannot_be_read_is_answered(server: Server, token: Token, text: str, code: str) -> None:
    with open_socket(server, token("calls_make")[1]) as socket:
        socket.send(text)
        assert reply(socket)["error"]["code"] == code
        socket.send('{"type": "req", "id": "2", "method": "exec.approval.list"}')
        assert reply(socket)["ok"] is True


def test_a_socket_without_a_token_is_closed(server: Server) -> None:
    with open_socket(server, "") as socket:
        assert closing_code(socket) == NO_TOKEN


def test_a_socket_whose_token_is_revoked_answers_nothing_more(server: Server, token: Token, admin: Any) -> None:
    from apps.accounts.services import token_revoke

    row, secret = token("calls_make", by=admin)
    with open_socket(server, secret) as socket:
        over_socket(socket)("exec.approval.list", {})
        token_revoke(row, by=admin, at=timezone.now())
        assert eventually(lambda: server.run(_forgotten()))
        socket.send('{"type": "req", "id": "2", "method": "exec.approval.list"}')
        assert closing_code(socket) == NO_TOKEN


async def _forgotten() -> bool:
    from apps.gateway.lifecycle import gateway

    return not gateway().tokens._grants


def test_nobody_is_asked_about_what_is_stopped(ways: Any, environment: Any) -> None:
    asks, _ = ways
    halt_place(environment, scope="agent", name="bot", unknown=True, reason="it deletes things", at=timezone.now())
    assert eventually(lambda: all(each.has_heard for each in processes(at=timezone.now())))

    refused = asks("exec.approval.request", {**ASK, "twoPhase": True})

    assert refused["code"] == "stopped"
    assert not Approval.objects.exists()


def test_who_waits_on_a_socket_hears_nothing_once_its_token_is_revoked(
    server: Server, token: Token, admin: Any, operator: Any
) -> None:
    from apps.accounts.services import token_revoke

    row, secret = token("calls_make", by=admin)
    with open_socket(server, secret) as socket:
        accepted = over_socket(socket)("exec.approval.request", {**ASK, "twoPhase": True})
        params = {"id": accepted["id"]}
        socket.send(json.dumps({"type": "req", "id": "2", "method": "exec.approval.waitDecision", "params": params}))
        token_revoke(row, by=admin, at=timezone.now())
        with pytest.raises(CallerEndedError):
            approval_resolve(Approval.objects.get(), decision="allow-once", by=operator, at=timezone.now())
        assert reply(socket)["error"]["code"] == "token_invalid"
