"""Calls over a real socket: what runs, what is on record, and what an agent may learn of a refusal."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.db import connection

from apps.audit.selectors import call_entries, call_record
from apps.firewall.identifiers import new_id, read_id
from apps.gateway.lifecycle import gateway
from apps.gateway.models import CallSlot
from apps.gateway.runtime_api import performing
from tests import database
from tests.gateway.conftest import call, leaves, snapshot_with
from tests.gateway.server import Holder, Server
from tests.gateway.test_decisions import Token, eventually, reload


def kinds(shown_id: str) -> list[tuple[str, str]]:
    return [(entry.kind, entry.status) for entry in call_entries(read_id("call", shown_id))]


def workspace(settings: Any) -> Path:
    return Path(settings.VAR_DIR) / "workspaces" / "production" / "bot"


def test_a_plain_call_runs_and_leaves_exactly_two_rows(agent: httpx.Client, settings: Any) -> None:
    answer = call(agent, "write", {"path": "a.txt", "content": "hello"})

    assert answer.status_code == 200
    body = answer.json()
    assert (body["status"], body["result"], body["error"]) == (
        "completed",
        {"path": "a.txt", "bytes": 5, "created": True},
        None,
    )
    assert (workspace(settings) / "a.txt").read_text() == "hello"
    assert workspace(settings).stat().st_mode & 0o777 == 0o700
    assert kinds(body["id"]) == [("call_intent", "started"), ("call_outcome", "completed")]


@pytest.fixture
def short_disk(settings: Any) -> None:
    settings.DISK_RESERVE_MB = 2**40


def test_where_the_disk_has_only_what_is_kept_for_records_a_refusal_is_recorded(
    short_disk: None, agent: httpx.Client, settings: Any
) -> None:
    body = call(agent, "write", {"path": "a.txt", "content": "hello"}).json()

    assert (body["status"], body["error"]["code"]) == ("denied", "disk_reserve")
    assert "are kept for records" in body["error"]["message"]
    assert not (workspace(settings) / "a.txt").exists()
    assert kinds(body["id"]) == [("denial", "denied")]


def test_the_record_names_who_called_and_how_it_was_decided(agent: httpx.Client) -> None:
    body = call(agent, "exec", {"command": "echo hi"}, session="agent:bot:main", context={"sender_id": "7"}).json()

    record = call_record(read_id("call", body["id"]))

    assert record is not None
    assert record.actor.startswith("token:tok_")
    assert (record.agent, record.session_key, record.sender, record.decision) == ("bot", "agent:bot:main", "7", "allow")
    assert body["result"]["stdout"] == "hi\n"
    assert {"decide", "validate", "approval", "execute", "results"} <= set(record.phases)


def test_a_call_that_fails_is_answered_with_its_reason(agent: httpx.Client) -> None:
    body = call(agent, "read", {"path": "missing"}).json()

    assert (body["status"], body["error"]["code"]) == ("failed", "not_found")


def test_a_denied_and_an_unknown_tool_are_answered_byte_for_byte_alike(
    server: Server, holder: Holder, agent: httpx.Client
) -> None:
    holder.snapshot = snapshot_with(deny=("write",))
    reload(server)

    denied, unknown = (call(agent, tool, {"any": "thing"}) for tool in ("write", "wrjte"))

    assert (denied.status_code, unknown.status_code) == (404, 404)
    assert denied.content == b'{"code":"tool_not_found","message":"no tool named `write`","details":[]}'
    assert denied.content.replace(b"write", b"x") == unknown.content.replace(b"wrjte", b"x")
    volatile = {"x-request-id", "traceparent", "date"}
    assert {k: v for k, v in denied.headers.items() if k not in volatile} == {
        k: v for k, v in unknown.headers.items() if k not in volatile
    }


def test_a_denied_tool_is_on_record_with_its_layer(server: Server, holder: Holder, agent: httpx.Client) -> None:
    holder.snapshot = snapshot_with(deny=("write",))
    reload(server)

    call(agent, "write")

    with connection.cursor() as cursor:
        cursor.execute("SELECT kind, status, decision_layer FROM audit_entry WHERE tool = 'write'")
        assert cursor.fetchall() == [("denial", "denied", "agent")]


def test_wrong_params_are_all_listed(agent: httpx.Client) -> None:
    answer = call(agent, "read", {"offset": 0, "other": 1})

    assert (answer.status_code, answer.json()["code"]) == (422, "parameter_validation_failed")
    assert [(detail["path"], detail["code"]) for detail in answer.json()["details"]] == [
        ("offset", "minimum_violation"),
        ("other", "unknown_field"),
        ("path", "required_field_missing"),
    ]


@pytest.mark.parametrize(
    ("change", "paths"),
    [
        ({"params": []}, ["params"]),
        ({"wait_ms": 30_001}, ["wait_ms"]),
        ({"wait_ms": True}, ["wait_ms"]),
        ({"idempotency": "x" * 201}, ["idempotency"]),
        ({"surprise": 1, "another": None}, ["another", "surprise"]),
        ({"tool": None, "agent": 7}, ["agent", "tool"]),
    ],
)
def test_mistakes_of_the_request_itself_are_listed(
    agent: httpx.Client, change: dict[str, Any], paths: list[str]
) -> None:
    answer = agent.post("/api/v1/calls", json={"agent": "bot", "tool": "read", **change})

    assert answer.status_code == 422
    assert [detail["path"] for detail in answer.json()["details"]] == paths


def test_a_visible_tool_that_is_refused_says_why(server: Server, holder: Holder, agent: httpx.Client) -> None:
    holder.snapshot = snapshot_with(settings={"security": "deny"})
    reload(server)

    body = call(agent, "exec", {"command": "echo hi"}).json()

    assert (body["status"], body["error"]["code"]) == ("denied", "security_deny")
    assert kinds(body["id"]) == [("denial", "denied")]


def test_without_a_publication_a_call_is_denied_by_that_name(
    server: Server, holder: Holder, agent: httpx.Client
) -> None:
    holder.snapshot = None
    reload(server)

    body = call(agent, "read", {"path": "a"}).json()

    assert (body["status"], body["error"]["code"]) == ("denied", "no_publication")


def test_a_long_call_is_answered_as_running_and_can_be_followed(agent: httpx.Client) -> None:
    first = call(agent, "exec", {"command": "sleep 1"}, wait_ms=100)
    followed = agent.get(f"/api/v1/calls/{first.json()['id']}?wait=10000")

    assert (first.status_code, first.json()["status"]) == (202, "running")
    assert (followed.status_code, followed.json()["status"]) == (200, "completed")


def test_a_client_that_goes_away_does_not_lose_the_outcome(server: Server, agent: httpx.Client) -> None:
    order = {"agent": "bot", "tool": "exec", "params": {"command": "sleep 1"}, "on_disconnect": "continue"}

    def told() -> list[str]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT status FROM audit_entry WHERE call_id IS NOT NULL ORDER BY at")
            return [status for (status,) in cursor.fetchall()]

    leaves(agent, "/api/v1/calls", order, once=told)

    assert eventually(lambda: told() == ["started", "completed"])


def test_a_secret_reaches_the_tool_and_neither_the_record_nor_who_reads_the_result(
    agent: httpx.Client, settings: Any
) -> None:
    secret = "ghp_" + "a1B2" * 9
    call(agent, "write", {"path": "key.txt", "content": secret})
    body = call(agent, "exec", {"command": f"echo {secret}"}).json()

    record = call_record(read_id("call", body["id"]))

    assert record is not None
    assert (workspace(settings) / "key.txt").read_text() == secret
    assert body["result"]["stdout"].startswith("[masked 40 characters, ")
    assert record.result == body["result"] and len(record.masked) == 2
    assert secret not in repr(record) + repr(body)


def test_a_call_of_another_token_does_not_exist(server: Server, agent: httpx.Client, token: Token) -> None:
    body = call(agent, "exec", {"command": "echo hi"}).json()

    with server.client(token("calls_make", name="another")[1]) as other:
        answer = other.get(f"/api/v1/calls/{body['id']}")

    assert (answer.status_code, answer.json()["code"]) == (404, "call_not_found")


def test_a_call_is_read_from_the_record_when_memory_is_gone(agent: httpx.Client) -> None:
    body = call(agent, "exec", {"command": "echo hi"}).json()
    gateway().desk._ended.clear()

    again = agent.get(f"/api/v1/calls/{body['id']}").json()

    assert (again["status"], again["result"]["stdout"]) == ("completed", "hi\n")


def test_the_same_key_and_body_is_the_same_call_and_never_a_second_run(agent: httpx.Client, settings: Any) -> None:
    order = {"path": "once", "content": "x"}

    first = call(agent, "write", order, idempotency="k1").json()
    (workspace(settings) / "once").unlink()
    second = call(agent, "write", order, idempotency="k1", wait_ms=5).json()

    assert first["id"] == second["id"]
    assert not (workspace(settings) / "once").exists()
    assert CallSlot.objects.count() == 1


def test_many_requests_with_one_key_at_once_are_one_call(server: Server, agent: httpx.Client) -> None:
    secret = agent.headers["authorization"].removeprefix("Bearer ")

    def make(_: int) -> str:
        with server.client(secret) as client:
            return str(call(client, "exec", {"command": "sleep 0.3"}, idempotency="k").json()["id"])

    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(make, range(8)))

    assert len(ids) == 1
    assert kinds(ids.pop()) == [("call_intent", "started"), ("call_outcome", "completed")]


def test_a_key_whose_call_left_no_record_is_refused_with_advice(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    call(agent, "exec", {"command": "echo"}, idempotency="k")
    CallSlot.objects.update(call_id=new_id())
    monkeypatch.setattr(performing, "ON_RECORD_S", 0.1)

    answer = call(agent, "exec", {"command": "echo"}, idempotency="k")

    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_conflict")
    assert "use another key" in answer.json()["message"]


def test_the_same_key_with_another_body_is_refused(agent: httpx.Client) -> None:
    call(agent, "exec", {"command": "echo one"}, idempotency="k1")

    answer = call(agent, "exec", {"command": "echo two"}, idempotency="k1")

    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_conflict")


def test_one_key_of_two_tokens_is_two_calls(server: Server, agent: httpx.Client, token: Token) -> None:
    with server.client(token("calls_make", name="another")[1]) as other:
        ids = {call(client, "exec", {"command": "echo"}, idempotency="k").json()["id"] for client in (agent, other)}

    assert len(ids) == 2


@contextmanager
def nobody_may_write_entries() -> Iterator[None]:
    role = database.APPLICATION["USER"]

    def run(statement: str) -> None:
        with database.owner_connection() as connection:
            connection.execute(statement)

    run(f"REVOKE INSERT ON audit_entry, audit_content FROM {role}")
    try:
        yield
    finally:
        run(f"GRANT INSERT ON audit_entry, audit_content TO {role}")


@pytest.mark.skipif(not database.HAS_TWO_ROLES, reason="needs a role of its own for the application")
def test_a_call_that_cannot_be_recorded_does_not_run_and_says_why(agent: httpx.Client, settings: Any) -> None:
    with nobody_may_write_entries():
        refused = call(agent, "write", {"path": "a", "content": "x"})
    after = call(agent, "write", {"path": "b", "content": "x"})

    assert (refused.status_code, refused.json()["code"]) == (503, "audit_unavailable")
    assert not (workspace(settings) / "a").exists()
    assert after.json()["status"] == "completed"
    assert len(kinds(after.json()["id"])) == 2


def test_a_server_that_runs_as_many_calls_as_it_may_says_so(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway().desk, "_limit", 0)

    answer = call(agent, "read", {"path": "a"})

    assert (answer.status_code, answer.json()["code"]) == (503, "too_busy")
    assert answer.headers["retry-after"] == "1"


def test_a_server_that_stops_ends_what_runs_and_records_it(
    server: Server, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway().desk, "_grace_s", 0.2)
    body = call(agent, "exec", {"command": "sleep 56", "timeout": 60}, wait_ms=0).json()
    assert eventually(lambda: kinds(body["id"]) == [("call_intent", "started")])

    started = time.monotonic()
    server.stop()

    assert time.monotonic() - started < 50
    assert kinds(body["id"]) == [("call_intent", "started"), ("call_outcome", "failed")]
    assert not sleeping("56")


def sleeping(seconds: str) -> list[str]:
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                arguments = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"sleep" in arguments[0] and seconds.encode() in arguments:
                found.append(entry)
    return found


def test_a_command_gets_its_variables_and_the_ledger_their_names_alone(
    agent: httpx.Client, server: Server, holder: Holder
) -> None:
    holder.snapshot = snapshot_with(settings={"security": "full", "ask": "off"})
    reload(server)

    body = call(agent, "exec", {"command": "printenv", "env": {"GREETING": "made-up words"}}).json()

    assert body["status"] == "completed", body
    assert {"GREETING=made-up words", "OPENCLAW_CLI=1"} <= set(body["result"]["stdout"].splitlines())
    entries = call_entries(read_id("call", body["id"]))
    assert [list(entry.params["env"]) for entry in entries if entry.params] == [["GREETING"]]
    assert "made-up" not in str([entry.params for entry in entries])


def test_a_variable_that_loads_code_is_refused_by_name(agent: httpx.Client) -> None:
    body = call(agent, "exec", {"command": "echo hi", "env": {"LD_PRELOAD": "/tmp/a.so"}}).json()

    assert (body["status"], body["error"]["code"]) == ("denied", "environment_refused")
    assert "`LD_PRELOAD`" in body["error"]["message"]
