"""Asynchronous calls: what is told at once, what waits as a sealed row, who runs it, and that nobody runs it twice."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.db import connection
from django.utils import timezone

from apps.approvals.models import Approval
from apps.approvals.services import approval_resolve, approvals_expire
from apps.audit.models import Boot
from apps.audit.selectors import call_record
from apps.firewall.identifiers import new_id, read_id
from apps.gateway.lifecycle import gateway
from apps.gateway.models import AsyncCall
from apps.gateway.queue.rows import calls_claim
from apps.gateway.queue.settling import QUEUE_WINDOW, calls_forget, calls_settle, calls_waiting
from tests.gateway.conftest import call, snapshot_with
from tests.gateway.server import Holder, Server
from tests.gateway.test_calls import kinds, workspace
from tests.gateway.test_decisions import Token, eventually, reload

SECRET = "ghp_" + "a1B2" * 9


def later(client: httpx.Client, tool: str, params: dict[str, Any], **more: Any) -> httpx.Response:
    return call(client, tool, params, mode="async", **more)


def take(server: Server) -> int:
    """Do what a worker does when the bell rings."""
    return int(server.run(gateway().taker.take()))


def row(shown_id: str) -> AsyncCall:
    return AsyncCall.objects.get(pk=read_id("call", shown_id))


def test_a_call_is_queued_at_once_and_runs_when_it_is_taken(server: Server, agent: httpx.Client, settings: Any) -> None:
    first = later(agent, "write", {"path": "a", "content": "x"})
    shown_id = first.json()["id"]

    assert (first.status_code, first.json()) == (202, {"id": shown_id, "status": "queued"})
    assert (agent.get(f"/api/v1/calls/{shown_id}").json()["status"], kinds(shown_id)) == ("queued", [])
    assert not (workspace(settings) / "a").exists()

    assert take(server) == 1
    ended = agent.get(f"/api/v1/calls/{shown_id}?wait=10000")

    assert (ended.status_code, ended.json()["status"]) == (200, "completed")
    assert (workspace(settings) / "a").read_text() == "x"
    assert kinds(shown_id) == [("call_intent", "started"), ("call_outcome", "completed")]
    assert eventually(lambda: row(shown_id).state == "done")


def test_what_waits_is_sealed_and_destroyed_when_it_is_taken(server: Server, agent: httpx.Client) -> None:
    shown_id = later(agent, "exec", {"command": f"echo {SECRET}"}).json()["id"]

    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(gateway_asynccall)::text, sealed_action FROM gateway_asynccall")
        shown, sealed = cursor.fetchone()
    assert SECRET not in shown and SECRET.encode() not in bytes(sealed)

    take(server)

    assert row(shown_id).sealed_action is None
    assert agent.get(f"/api/v1/calls/{shown_id}?wait=10000").json()["status"] == "completed"


@pytest.mark.parametrize(
    ("tool", "params", "status", "code"),
    [
        ("nothing", {}, 404, "tool_not_found"),
        ("read", {}, 422, "parameter_validation_failed"),
    ],
)
def test_a_refusal_is_told_at_once_and_queues_nothing(
    agent: httpx.Client, tool: str, params: dict[str, Any], status: int, code: str
) -> None:
    answer = later(agent, tool, params)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert not AsyncCall.objects.exists()


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ({"mode": "later"}, "mode"),
        ({"callback": {"url": "https://example.com/"}}, "callback"),
        ({"mode": "async", "callback": "https://example.com/"}, "callback"),
        ({"mode": "async", "callback": {"url": "https://example.com/", "secret": "short"}}, "callback.secret"),
        ({"mode": "async", "callback": {"url": "http://example.com/"}}, "callback.url"),
        ({"mode": "async", "callback": {"url": "https://user@example.com/"}}, "callback.url"),
        ({"mode": "async", "on_disconnect": "cancel"}, "on_disconnect"),
        ({"on_disconnect": True}, "on_disconnect"),
    ],
)
def test_mistakes_about_running_later_are_told(agent: httpx.Client, more: dict[str, Any], path: str) -> None:
    answer = call(agent, "read", {"path": "a"}, **more)

    assert (answer.status_code, [each["path"] for each in answer.json()["details"]]) == (422, [path])


def test_the_same_key_is_the_same_queued_call(server: Server, agent: httpx.Client) -> None:
    ids = {later(agent, "exec", {"command": "echo"}, idempotency="k").json()["id"] for _ in range(2)}

    assert (len(ids), AsyncCall.objects.count()) == (1, 1)


def test_what_one_process_took_no_other_takes(agent: httpx.Client) -> None:
    shown_id = later(agent, "exec", {"command": "echo"}).json()["id"]

    first = calls_claim(boot=new_id(), at=timezone.now(), limit=8)
    second = calls_claim(boot=new_id(), at=timezone.now(), limit=8)

    assert ([each.call_id for each in first], second) == ([read_id("call", shown_id)], [])


def test_a_call_whose_process_is_gone_ends_as_unknown_and_is_not_taken_again(agent: httpx.Client) -> None:
    shown_id = later(agent, "exec", {"command": "echo"}).json()["id"]
    boot = _gone_boot()
    calls_claim(boot=boot, at=timezone.now(), limit=1)

    settled = calls_settle(timezone.now())

    assert (settled, calls_settle(timezone.now())) == (1, 0)
    assert (row(shown_id).outcome, row(shown_id).error_code) == ("unknown", "process_gone")
    assert kinds(shown_id) == [("call_outcome", "unknown")]
    assert calls_claim(boot=new_id(), at=timezone.now(), limit=8) == []


def _gone_boot() -> Any:
    boot, at = new_id(), timezone.now()
    Boot.objects.create(
        id=boot, host="h", pid=1, version="0", started_at=at, lease_until=at, ended_at=at, swept_at=at, seq=0, head=b""
    )
    return boot


def test_a_call_that_nobody_took_in_an_hour_does_not_run(server: Server, agent: httpx.Client) -> None:
    shown_id = later(agent, "exec", {"command": f"echo {SECRET}"}).json()["id"]

    calls_settle(timezone.now() + QUEUE_WINDOW)
    answer = agent.get(f"/api/v1/calls/{shown_id}").json()

    assert (answer["status"], answer["error"]["code"]) == ("failed", "not_started")
    assert take(server) == 0
    record = call_record(read_id("call", shown_id))
    assert record is not None and "command" in record.params and SECRET not in repr(record)


def test_the_sweeper_rings_for_calls_that_wait_too_long(agent: httpx.Client) -> None:
    later(agent, "exec", {"command": "echo"})

    assert not calls_waiting(timezone.now())
    assert calls_waiting(timezone.now() + timedelta(seconds=3))


def test_a_call_that_ended_is_forgotten_after_a_week_and_stays_on_record(server: Server, agent: httpx.Client) -> None:
    shown_id = later(agent, "exec", {"command": "echo"}).json()["id"]
    take(server)
    assert eventually(lambda: row(shown_id).state == "done")

    assert calls_forget(timezone.now()) == 0
    assert calls_forget(timezone.now() + timedelta(days=8)) == 1
    assert agent.get(f"/api/v1/calls/{shown_id}").json()["status"] == "completed"


def test_another_token_does_not_see_a_queued_call(server: Server, agent: httpx.Client, token: Token) -> None:
    shown_id = later(agent, "exec", {"command": "echo"}).json()["id"]

    with server.client(token("calls_make", name="another")[1]) as other:
        answers = [other.get(f"/api/v1/calls/{shown_id}"), other.delete(f"/api/v1/calls/{shown_id}")]

    assert [answer.status_code for answer in answers] == [404, 404]
    assert row(shown_id).state == "queued"


def test_a_policy_that_changed_since_is_asked_again_before_the_run(
    server: Server, holder: Holder, agent: httpx.Client, settings: Any
) -> None:
    shown_id = later(agent, "write", {"path": "a", "content": "x"}).json()["id"]
    holder.snapshot = snapshot_with(deny=("write",))
    reload(server)

    take(server)

    assert eventually(lambda: row(shown_id).outcome == "denied")
    assert not (workspace(settings) / "a").exists()
    assert agent.get(f"/api/v1/calls/{shown_id}").json()["code"] == "tool_not_found"


class TestWithApproval:
    @pytest.fixture
    def shown_id(self, server: Server, holder: Holder, agent: httpx.Client) -> str:
        holder.snapshot = snapshot_with(approvals={})
        reload(server)
        answer = later(agent, "exec", {"command": "echo hi"})
        assert (answer.status_code, answer.json()["status"]) == (202, "awaiting_approval")
        return str(answer.json()["id"])

    def test_what_a_person_allowed_is_queued_then_run(
        self, server: Server, agent: httpx.Client, operator: Any, shown_id: str
    ) -> None:
        approval_resolve(Approval.objects.get(), decision="allow-once", by=operator, at=timezone.now())

        assert eventually(lambda: row(shown_id).state == "queued")
        approval = Approval.objects.get()
        assert (approval.sealed_action, approval.finished_at is None) == (None, False)
        assert agent.get(f"/api/v1/calls/{shown_id}").json()["status"] == "queued"

        take(server)
        ended = agent.get(f"/api/v1/calls/{shown_id}?wait=10000").json()

        assert (ended["status"], ended["result"]["stdout"]) == ("completed", "hi\n")
        assert kinds(shown_id)[-2:] == [("call_intent", "started"), ("call_outcome", "completed")]

    def test_what_a_person_denied_has_ended(self, agent: httpx.Client, operator: Any, shown_id: str) -> None:
        approval_resolve(Approval.objects.get(), decision="deny", by=operator, at=timezone.now(), reason="no")

        assert eventually(lambda: row(shown_id).outcome == "denied")
        answer = agent.get(f"/api/v1/calls/{shown_id}").json()
        assert (answer["status"], answer["error"]["code"]) == ("denied", "approval_denied")

    def test_what_nobody_answered_has_ended(self, shown_id: str) -> None:
        approvals_expire(timezone.now() + timedelta(hours=1))

        calls_settle(timezone.now())

        assert eventually(lambda: (row(shown_id).outcome, row(shown_id).error_code) == ("denied", "approval_expired"))

    def test_ending_it_withdraws_the_request(self, agent: httpx.Client, shown_id: str) -> None:
        answer = agent.delete(f"/api/v1/calls/{shown_id}").json()

        assert Approval.objects.get().state == "cancelled"
        assert row(shown_id).outcome == "cancelled"
        assert (answer["status"], answer["error"]["code"]) == ("denied", "approval_cancelled")
        assert "cancelled by tok_" in answer["error"]["message"]


def test_a_call_that_was_kept_for_an_approval_that_never_came_is_dropped(agent: httpx.Client, environment: Any) -> None:
    lost = AsyncCall.objects.create(
        id=new_id(), environment=environment, actor="token:x", agent="bot", tool="exec",
        state="awaiting_approval", asked_at=timezone.now(),
    )  # fmt: skip

    calls_settle(timezone.now())
    assert AsyncCall.objects.filter(pk=lost.pk).exists()
    calls_settle(timezone.now() + timedelta(minutes=2))

    assert not AsyncCall.objects.exists()


def test_as_many_run_at_once_as_there_is_room_and_the_next_follow(
    server: Server, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    from apps.gateway.queue import taking

    monkeypatch.setattr(taking, "AT_ONCE", 2)
    ids = [later(agent, "write", {"path": f"f{number}", "content": "x"}).json()["id"] for number in range(5)]

    assert take(server) == 2

    assert eventually(lambda: all(row(each).outcome == "completed" for each in ids))
    assert len(list(Path(workspace(settings)).iterdir())) == 5
