"""What becomes of calls when a gateway or the server goes away: no dead request is answered, and nothing is lost."""

import time
import uuid
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from apps.approvals.errors import ApprovalCancelledError
from apps.approvals.models import Approval
from apps.approvals.running import approvals_abandon
from apps.approvals.services import approval_resolve, approvals_lapse
from apps.audit.models import Content, Entry
from apps.audit.selectors import call_record
from apps.firewall.identifiers import read_id, show_id
from apps.openclaw_gateways.calls import Report, call_report, calls_settle, report_keep
from apps.openclaw_gateways.errors import ReportRefusedError
from apps.openclaw_gateways.models import GatewayCall
from tests.gateway.conftest import snapshot_with
from tests.gateway.openclaw_plugin import ASKS, FULL, Plugin, answer, asked
from tests.gateway.server import Holder, Server
from tests.gateway.test_calls import kinds
from tests.gateway.test_decisions import eventually

SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


def hang_up(plugin: Plugin, call: str) -> None:
    """Wait for the answer, and break the connection off."""
    with pytest.raises(httpx.ReadTimeout):
        plugin.client.get(f"/api/v1/openclaw/calls/{call}?wait=20000", timeout=0.7)


def kinds_of(call_id: uuid.UUID) -> list[tuple[str, str]]:
    return kinds(show_id("call", call_id))


def waits_until() -> Any:
    return Approval.objects.get().waits_until


class TestPeople:
    @pytest.fixture
    def holder(self) -> Holder:
        return Holder(snapshot_with(settings=ASKS))

    def test_a_gateway_that_is_gone_leaves_a_request_that_says_so(self, plugin: Plugin, operator: Any) -> None:
        body = asked(plugin)
        hang_up(plugin, body["id"])
        assert eventually(lambda: waits_until() < timezone.now() + timedelta(seconds=12))
        Approval.objects.update(waits_until=timezone.now() - timedelta(seconds=1))

        with pytest.raises(ApprovalCancelledError, match="office no longer waits for the answer: nothing would run"):
            answer("allow-once", operator)

        approval = Approval.objects.get()
        assert (approval.state, approval.decision_reason) == ("cancelled", "office no longer waits for the answer")
        assert sorted(kind for kind, _ in kinds(body["id"])) == [
            "approval_asked",
            "approval_cancelled",
            "approval_refused",
        ]
        with pytest.raises(ApprovalCancelledError, match="the request was withdrawn: office no longer waits"):
            answer("allow-once", operator)

    def test_a_request_lapses_when_nobody_waits_any_more(self, plugin: Plugin) -> None:
        body = asked(plugin)
        assert approvals_lapse(timezone.now()) == 0
        later = timezone.now() + timedelta(seconds=120)
        Approval.objects.update(waits_until=later - timedelta(seconds=1))

        assert approvals_lapse(later) == 1
        assert approvals_lapse(later) == 0
        assert [kind for kind, _ in kinds(body["id"])] == ["approval_asked", "approval_cancelled"]
        told = plugin.client.get(f"/api/v1/openclaw/calls/{body['id']}?wait=0").json()
        assert (told["status"], told["error"]["code"]) == ("denied", "approval_cancelled")

    def test_one_that_comes_back_at_once_waits_on(self, plugin: Plugin, operator: Any) -> None:
        body = asked(plugin)
        hang_up(plugin, body["id"])
        assert eventually(lambda: waits_until() < timezone.now() + timedelta(seconds=12))

        plugin.client.get(f"/api/v1/openclaw/calls/{body['id']}?wait=300")

        assert waits_until() > timezone.now() + timedelta(seconds=60)
        answer("allow-once", operator)
        assert plugin.client.get(f"/api/v1/openclaw/calls/{body['id']}?wait=8000").json()["status"] == "run"

    def test_what_is_allowed_for_a_gateway_that_is_gone_leaves_no_intent(self, plugin: Plugin, operator: Any) -> None:
        """The answer came within the moment in which nobody could know yet."""
        body = asked(plugin)
        hang_up(plugin, body["id"])
        assert eventually(lambda: waits_until() < timezone.now() + timedelta(seconds=12))
        answer("allow-once", operator)
        time.sleep(1.5)
        assert approvals_abandon(timezone.now()) == 0

        assert approvals_abandon(timezone.now() + timedelta(seconds=30)) == 1

        assert kinds(body["id"])[2:] == [("denial", "denied")]
        assert not Entry.objects.filter(kind="call_intent").exists()

    def test_a_gateway_asks_on_after_the_server_was_away(self, plugin: Plugin, server: Server, operator: Any) -> None:
        body = asked(plugin)
        server.stop()
        assert waits_until() > timezone.now() + timedelta(seconds=60)
        approval_resolve(Approval.objects.get(), decision="deny", by=operator, at=timezone.now())
        assert kinds(body["id"])[-1] == ("approval_answered", "denied")

    def test_a_blocked_attempt_takes_its_request_along(self, plugin: Plugin) -> None:
        key = uuid.uuid4().hex
        assert eventually(lambda: plugin.ask(key=key, wait_ms=200).json()["status"] == "awaiting_approval")
        attempt = {"key": key, "tool": "exec", "agent": "bot", "reason": "it cannot be reached"}
        told = plugin.client.post("/api/v1/openclaw/blocked", json={"attempts": [attempt]})
        assert told.json() == {"taken": 1}
        assert Approval.objects.get().state == "cancelled"
        assert not Entry.objects.filter(kind="denial").exists()


class TestReports:
    @pytest.fixture
    def holder(self) -> Holder:
        return Holder(snapshot_with(settings=FULL))

    @pytest.mark.parametrize(("is_error", "status"), [(False, "completed"), (True, "failed")])
    @pytest.mark.parametrize("is_swept", [False, True])
    def test_what_is_reported_after_the_server_stopped_counts_and_says_that_it_came_later(
        self, is_error: bool, status: str, is_swept: bool, plugin: Plugin, server: Server
    ) -> None:
        call_id = read_id("call", plugin.ask().json()["id"])
        server.stop()
        assert [each for _, each in kinds_of(call_id)] == ["started", "unknown"]
        later = timezone.now() + timedelta(minutes=2)
        if is_swept:
            assert calls_settle(later) == 1

        report = Report(is_error=is_error, error="exit 1", result={"text": f"token {SECRET}"})
        for _ in range(2):
            assert call_report(plugin.row, call_id, report, at=later).outcome == status

        assert kinds_of(call_id)[1:] == [("call_outcome", "unknown"), ("call_outcome", status)]
        entry = Entry.objects.filter(call_id=call_id).latest("at")
        assert entry.changes is not None and entry.changes["told_later"] is True
        record = call_record(call_id)
        assert record is not None and record.status == status
        stored = Content.objects.get(entry_id=entry.pk)
        assert "token" in str(stored.result) and SECRET not in str(stored.result)

    def test_a_report_that_nobody_took_before_the_ledger_said_unknown_is_not_lost(
        self, plugin: Plugin, server: Server
    ) -> None:
        """As after a process that was killed: the report comes first, and then the sweeper ends the call."""
        call_id = read_id("call", plugin.ask().json()["id"])
        row = GatewayCall.objects.get(pk=call_id)
        server.stop()
        report_keep(row, Report(is_error=False, result={"text": "done"}))

        assert calls_settle(timezone.now() + timedelta(minutes=2)) == 1

        assert [each for _, each in kinds_of(call_id)] == ["started", "unknown", "completed"]
        assert GatewayCall.objects.get(pk=call_id).outcome == "completed"

    def test_a_report_of_a_call_that_was_taken_back_stays_refused(self, plugin: Plugin, server: Server) -> None:
        key = uuid.uuid4().hex
        call_id = read_id("call", plugin.ask(key=key).json()["id"])
        plugin.client.delete(f"/api/v1/openclaw/calls/key_{key}")
        assert eventually(lambda: GatewayCall.objects.get(pk=call_id).outcome == "failed")
        with pytest.raises(ReportRefusedError):
            call_report(plugin.row, call_id, Report(is_error=False), at=timezone.now())

    def test_blocked_attempts_reach_the_record_once_and_masked(self, plugin: Plugin) -> None:
        attempt = {
            "key": uuid.uuid4().hex,
            "agent": "bot",
            "session": "agent:bot:telegram:group:-100",
            "context": {"channel": "telegram", "sender_id": "1001"},
            "tool": "exec",
            "params": {"command": f"curl -H 'Authorization: Bearer {SECRET}' x"},
            "run": "run-1",
            "tool_call": "call_1",
            "blocked_at": "2026-11-29T12:00:00.000Z",
            "reason": "it cannot be reached (ECONNREFUSED)",
        }
        for _ in range(2):
            body = {"attempts": [attempt], "dropped": 0}
            assert plugin.client.post("/api/v1/openclaw/blocked", json=body).status_code == 200

        entry = Entry.objects.get(kind="denial")
        assert (entry.agent, entry.channel, entry.sender, entry.tool) == ("bot", "telegram", "1001", "exec")
        assert entry.changes is not None
        assert (entry.changes["told_later"], entry.changes["blocked_at"]) == (True, attempt["blocked_at"])
        content = Content.objects.get(entry_id=entry.pk)
        assert "curl" in str(content.params) and SECRET not in str(content.params)
        assert isinstance(content.error, dict) and content.error["code"] == "not_asked"
        (row,) = GatewayCall.objects.all()
        assert (row.state, row.outcome, entry.call_id) == ("refused", "denied", row.pk)

    def test_what_a_gateway_could_not_keep_is_counted_on_record(self, plugin: Plugin) -> None:
        assert plugin.client.post("/api/v1/openclaw/blocked", json={"dropped": 7}).status_code == 200
        entry = Entry.objects.get(kind="gateway_change", status="reports_dropped")
        assert entry.changes is not None and entry.changes["number"] == 7

    @pytest.mark.parametrize(
        "wrong",
        [{"attempts": {}}, {"attempts": [{"tool": "exec"}]}, {"attempts": [7]}, {"dropped": -1}, {"atempts": []}],
    )
    def test_mistakes_are_named(self, wrong: dict[str, Any], plugin: Plugin) -> None:
        refused = plugin.client.post("/api/v1/openclaw/blocked", json=wrong)
        assert refused.status_code == 422
        assert refused.json()["details"][0]["path"].startswith(next(iter(wrong)))

    def test_an_attempt_holds_whatever_text_a_gateway_sends(self, plugin: Plugin) -> None:
        attempt = {"key": "key-00000001", "tool": "ex\0ec", "agent": "b\0ot", "reason": "\0" * 900, "params": {}}
        assert plugin.client.post("/api/v1/openclaw/blocked", json={"attempts": [attempt]}).status_code == 200
        assert Entry.objects.filter(kind="denial").count() == 1
