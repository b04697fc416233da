"""Calls that an OpenClaw Gateway runs: asked, waited for, told once, reported once; and those nobody asked about."""

import threading
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.approvals.models import Approval
from apps.audit.models import Content, Entry
from apps.firewall.identifiers import read_id
from apps.openclaw_gateways.calls import OUTCOME_LIMIT, calls_forget, calls_settle
from apps.openclaw_gateways.models import Alarm, GatewayCall
from apps.openclaw_gateways.services import Heartbeat, enrolment_create, gateway_heard, gateway_revoke
from tests.gateway.conftest import snapshot_with
from tests.gateway.openclaw_plugin import ASKS, BEAT, FULL, Plugin, answer, asked, status_of
from tests.gateway.server import Holder, Server
from tests.gateway.test_calls import kinds, workspace
from tests.gateway.test_decisions import eventually, reload


@pytest.fixture
def holder() -> Holder:
    return Holder(snapshot_with(settings=FULL))


def test_an_allowed_call_is_told_and_has_one_outcome_as_reported(plugin: Plugin, settings: Any) -> None:
    told = plugin.ask(command="touch made").json()

    assert told["status"] == "run"
    assert told["params"] == {"command": "touch made"}
    assert [kind for kind, _ in kinds(told["id"])] == ["call_intent"]

    reported = plugin.report(told["id"], result={"text": "Linux, token ghp_0123456789abcdefghijABCDEFGHIJ012345"})

    assert reported.status_code == 200
    assert eventually(lambda: status_of(told["id"]) == "completed")
    assert [kind for kind, _ in kinds(told["id"])] == ["call_intent", "call_outcome"]
    stored = Content.objects.get(call_id=read_id("call", told["id"]), result__isnull=False)
    assert "Linux" in str(stored.result)
    assert "ghp_0123" not in str(stored.result)
    assert not (workspace(settings) / "made").exists()


def test_the_second_report_changes_nothing(plugin: Plugin) -> None:
    told = plugin.ask().json()
    plugin.report(told["id"], result={"said": 1})
    assert eventually(lambda: status_of(told["id"]) == "completed")

    again = plugin.report(told["id"], is_error=True, error="no")

    assert again.status_code == 200
    assert [kind for kind, _ in kinds(told["id"])] == ["call_intent", "call_outcome"]
    assert status_of(told["id"]) == "completed"


def test_a_failure_at_the_gateway_is_a_failed_call(plugin: Plugin) -> None:
    told = plugin.ask().json()
    plugin.report(told["id"], is_error=True, error="exit 1", result={"exit": 1})
    assert eventually(lambda: status_of(told["id"]) == "failed")


def test_the_ledger_names_the_gateway_and_repeats_its_claims(plugin: Plugin) -> None:
    told = plugin.ask().json()
    entry = Entry.objects.get(call_id=read_id("call", told["id"]))
    assert entry.actor == plugin.row.token.actor
    assert (entry.agent, entry.channel, entry.sender) == ("bot", "telegram", "1001")
    assert entry.changes is not None and entry.changes["run"] == "run-1"


def test_a_tool_outside_the_set_is_denied_and_recorded(plugin: Plugin) -> None:
    told = plugin.ask(tool="sessions_spawn").json()
    assert (told["status"], told["error"]["code"]) == ("denied", "tool_not_found")
    assert [kind for kind, _ in kinds(told["id"])] == ["denial"]
    assert eventually(lambda: status_of(told["id"]) == "denied")


def test_controls_of_the_gateways_own_search_pass_and_what_they_reach_asks_for_itself(plugin: Plugin) -> None:
    search = plugin.ask(tool="tool_search", params={"query": "write a file"}).json()
    dispatch = plugin.ask(tool="tool_call", params={"id": "sessions_spawn", "args": {}}).json()
    reached = plugin.ask(tool="sessions_spawn", params={}).json()
    code = plugin.ask(tool="tool_search_code", params={"code": "return 1"}).json()

    assert (search["status"], dispatch["status"]) == ("run", "run")
    assert (reached["status"], code["status"]) == ("denied", "denied")
    assert dispatch["params"] == {"id": "sessions_spawn", "args": {}}
    assert [kind for kind, _ in kinds(dispatch["id"])] == ["call_intent"]


def test_controls_are_refused_where_search_is_off(plugin: Plugin, holder: Holder, server: Server) -> None:
    holder.snapshot = snapshot_with(settings=FULL, dialect="2026.2")
    reload(server)

    told = plugin.ask(tool="tool_call", params={"id": "exec", "args": {}}).json()

    assert (told["status"], told["error"]["code"]) == ("denied", "tool_not_found")


def test_the_same_key_is_the_same_call(plugin: Plugin) -> None:
    key = uuid.uuid4().hex
    first, second = plugin.ask(key=key).json(), plugin.ask(key=key).json()
    assert first == second
    assert Entry.objects.filter(kind="call_intent").count() == 1
    assert plugin.ask("whoami", key=key).status_code == 409


def test_params_of_a_kind_that_is_not_judged_are_refused(plugin: Plugin) -> None:
    told = plugin.ask(tool_kind="code_mode_exec", params={"code": "1"}).json()
    assert (told["status"], told["error"]["code"]) == ("denied", "parameter_validation_failed")


class TestPeople:
    @pytest.fixture
    def holder(self) -> Holder:
        return Holder(snapshot_with(settings=ASKS))

    def test_a_person_allows_and_the_gateway_that_waits_is_told(self, plugin: Plugin, operator: Any) -> None:
        body = asked(plugin)
        answers: list[dict[str, Any]] = []
        path = f"/api/v1/openclaw/calls/{body['id']}?wait=15000"
        thread = threading.Thread(target=lambda: answers.append(plugin.client.get(path).json()))
        thread.start()

        answer("allow-once", operator)
        thread.join(timeout=60)

        assert answers[0]["status"] == "run"
        assert Approval.objects.get().host == "office"
        assert Approval.objects.get().decisions == ["allow-once", "deny"]
        plugin.report(body["id"], result={})
        assert eventually(lambda: status_of(body["id"]) == "completed")
        assert [kind for kind, _ in kinds(body["id"])] == [
            "approval_asked",
            "approval_answered",
            "call_intent",
            "call_outcome",
        ]

    def test_a_denial_tells_its_reason(self, plugin: Plugin, operator: Any) -> None:
        body = asked(plugin)
        answer("deny", operator, reason="not today")
        told = plugin.client.get(f"/api/v1/openclaw/calls/{body['id']}?wait=5000").json()
        assert (told["status"], told["error"]["code"]) == ("denied", "approval_denied")
        assert "not today" in told["error"]["message"]

    def test_what_is_allowed_while_nobody_waits_does_not_run(
        self, plugin: Plugin, server: Server, operator: Any, settings: Any
    ) -> None:
        from apps.gateway.lifecycle import gateway

        body = asked(plugin, command="touch made")
        answer("allow-once", operator)
        server.run(gateway().desk.sweep())
        server.run(gateway().desk.run_allowed(Approval.objects.get().pk))

        assert [kind for kind, _ in kinds(body["id"])] == ["approval_asked", "approval_answered"]
        assert Approval.objects.get().claimed_at is None
        assert not (workspace(settings) / "made").exists()

    def test_nobody_is_asked_longer_than_the_gateway_waits(self, plugin: Plugin) -> None:
        asked(plugin, person_s=60)
        approval = Approval.objects.get()
        assert approval.expires_at - approval.requested_at == timedelta(seconds=55)

    def test_a_gateway_that_stops_waiting_withdraws_its_question(self, plugin: Plugin, operator: Any) -> None:
        body = asked(plugin)
        assert plugin.client.delete(f"/api/v1/openclaw/calls/{body['id']}").status_code == 200
        assert Approval.objects.get().state == "cancelled"
        told = plugin.client.get(f"/api/v1/openclaw/calls/{body['id']}?wait=0").json()
        assert told["status"] == "denied"

    @pytest.mark.slow
    def test_an_unanswered_question_is_denied(self, plugin: Plugin) -> None:
        body = asked(plugin, person_s=7)
        told = plugin.client.get(f"/api/v1/openclaw/calls/{body['id']}?wait=15000").json()
        assert (told["status"], told["error"]["code"]) == ("denied", "approval_expired")


def test_a_call_withdrawn_after_it_was_told_did_not_run(plugin: Plugin) -> None:
    key = uuid.uuid4().hex
    told = plugin.ask(key=key).json()
    plugin.client.delete(f"/api/v1/openclaw/calls/key_{key}")
    assert eventually(lambda: status_of(told["id"]) == "failed")


def wake(call: str) -> None:
    from apps.events.notices import announce

    announce("gateway_call.changed", id=read_id("call", call))


def test_a_report_that_never_comes_leaves_an_unknown_outcome(plugin: Plugin) -> None:
    told = plugin.ask().json()
    GatewayCall.objects.update(told_at=timezone.now() - OUTCOME_LIMIT - timedelta(seconds=1))
    wake(told["id"])

    assert eventually(lambda: status_of(told["id"]) == "unknown")
    assert [kind for kind, _ in kinds(told["id"])] == ["call_intent", "call_outcome"]


def test_a_gateway_that_began_anew_cannot_report_any_more(plugin: Plugin) -> None:
    told = plugin.ask().json()
    gateway_heard(plugin.row, Heartbeat(boot="boot-0002"), at=timezone.now())
    wake(told["id"])
    assert eventually(lambda: status_of(told["id"]) == "unknown")


def test_a_server_that_stops_leaves_no_intent_without_an_outcome(plugin: Plugin, server: Server) -> None:
    told = plugin.ask().json()
    server.stop()
    assert [(kind, status) for kind, status in kinds(told["id"])] == [
        ("call_intent", "started"),
        ("call_outcome", "unknown"),
    ]


def test_a_call_whose_listener_died_is_closed_by_what_the_ledger_says(plugin: Plugin, server: Server) -> None:
    told = plugin.ask().json()
    server.stop()
    later = timezone.now() + timedelta(minutes=2)
    GatewayCall.objects.update(state="told", ended_at=None, outcome="", error=None)  # as a process leaves it that died

    assert calls_settle(later) == 1
    assert status_of(told["id"]) == "unknown"
    assert calls_settle(later) == 0
    assert calls_forget(later + timedelta(days=8)) == 1


def test_a_call_that_nobody_asked_about_raises_an_alarm(plugin: Plugin) -> None:
    body = {
        "tool": "exec",
        "agent": "bot",
        "run": "run-9",
        "tool_call": "call_9",
        "seen_by": "after_tool_call",
        "params": {"command": "curl -H 'Authorization: Bearer ghp_0123456789abcdefghijABCDEFGHIJ012345' x"},
    }
    told = plugin.client.post("/api/v1/openclaw/ungoverned", json=body).json()
    plugin.client.post("/api/v1/openclaw/ungoverned", json={**body, "tool_call": "call_10"})

    alarm = Alarm.objects.get()
    assert (told["alarm"], alarm.kind, alarm.tool, alarm.count) == (alarm.shown_id, "ungoverned", "exec", 2)
    entries = Entry.objects.filter(kind="ungoverned_call", status="ungoverned", tool="exec")
    assert entries.count() == 2
    assert not any("ghp_0123" in str(each.params) for each in Content.objects.filter(entry_id__in=entries.values("id")))


def test_a_call_that_was_asked_about_is_no_alarm(plugin: Plugin) -> None:
    plugin.ask()
    body = {"tool": "exec", "run": "run-1", "tool_call": "call_1", "seen_by": "agent_event"}
    assert plugin.client.post("/api/v1/openclaw/ungoverned", json=body).json() == {"alarm": None}
    assert not Alarm.objects.exists()


def test_a_call_that_ran_with_other_params_than_were_judged_raises_an_alarm(plugin: Plugin) -> None:
    plugin.ask()
    body = {"tool": "exec", "run": "run-1", "tool_call": "call_1", "seen_by": "params_changed", "agent": "bot"}
    assert plugin.client.post("/api/v1/openclaw/ungoverned", json=body).json()["alarm"] == Alarm.objects.get().shown_id


def test_a_tool_that_the_gateway_does_not_have_is_recorded_and_no_alarm(plugin: Plugin) -> None:
    body = {"tool": "nothing", "tool_call": "call_7", "is_unknown_tool": True, "error": "Tool nothing not found"}
    assert plugin.client.post("/api/v1/openclaw/ungoverned", json=body).json() == {"alarm": None}
    assert Entry.objects.filter(kind="ungoverned_call", status="unknown_tool").count() == 1


def test_heartbeats_say_what_runs_and_are_answered_with_what_holds(plugin: Plugin, holder: Holder) -> None:
    beat = plugin.client.post("/api/v1/openclaw/heartbeat", json=BEAT).json()
    assert holder.snapshot is not None
    assert beat == {
        "gateway": plugin.row.shown_id,
        "environment": "production",
        "snapshot": holder.snapshot.digest,
        "every_s": 30,
    }
    row = plugin.row
    assert (row.openclaw_version, row.plugin_version, row.node_version) == ("2026.9.6", "1.0.0", "24.19.0")
    assert row.snapshot_digest == holder.snapshot.digest
    assert row.standing(timezone.now()) == "live"
    assert row.standing(timezone.now() + timedelta(minutes=5)) == "silent"


def test_a_plugin_that_is_not_asked_says_so_and_that_is_an_alarm(plugin: Plugin) -> None:
    for _ in range(2):
        plugin.client.post("/api/v1/openclaw/heartbeat", json={**BEAT, "not_asking": "loaded into a running gateway"})
    alarm = Alarm.objects.get()
    assert (alarm.kind, alarm.count) == ("not_asking", 2)
    assert Entry.objects.filter(kind="gateway_change", status="not_asking").count() == 1


def test_an_enrolment_is_used_once_and_ends(server: Server, environment: Any) -> None:
    _, secret = enrolment_create(environment, name="home", by=None, at=timezone.now())
    _, old = enrolment_create(environment, name="late", by=None, at=timezone.now() - timedelta(hours=2))
    codes = []
    for given in (secret, secret, old, "oce_nothing"):
        with server.client(given) as client:
            codes.append(client.post("/api/v1/openclaw/enrol", json=BEAT).status_code)
    assert codes == [201, 401, 401, 401]


def test_a_revoked_gateway_is_refused_everything(plugin: Plugin, admin: Any) -> None:
    assert plugin.ask().json()["status"] == "run"
    gateway_revoke(plugin.row, by=admin, at=timezone.now())
    assert eventually(lambda: plugin.ask().status_code in {401, 404})
    assert plugin.row.standing(timezone.now()) == "revoked"


@pytest.mark.parametrize("path", ["/api/v1/calls", "/api/v1/decisions"])
def test_its_token_opens_no_other_door(plugin: Plugin, path: str) -> None:
    body = {"agent": "bot", "tool": "exec", "params": {"command": "ls"}}
    assert plugin.client.post(path, json=body).status_code == 403


def test_another_token_is_no_gateway(server: Server, token: Callable[..., tuple[Any, str]]) -> None:
    for scopes, status in ((("calls_make",), 403), (("gateway_calls",), 404)):
        with server.client(token(*scopes)[1]) as client:
            assert client.post("/api/v1/openclaw/heartbeat", json=BEAT).status_code == status


def test_a_report_of_a_call_that_was_said_not_to_run_is_refused_and_recorded(plugin: Plugin) -> None:
    key = uuid.uuid4().hex
    told = plugin.ask(key=key).json()
    plugin.client.delete(f"/api/v1/openclaw/calls/key_{key}")
    assert eventually(lambda: status_of(told["id"]) == "failed")

    assert plugin.report(told["id"], result={}).status_code == 409
    assert Entry.objects.filter(status="report_refused").count() == 1


def test_no_name_of_a_tool_keeps_the_alarm_from_being_raised(plugin: Plugin) -> None:
    body = {"tool": "ex\0ec", "agent": "b\0ot", "tool_call": "call\0", "error": "\0", "params": {}}
    assert plugin.client.post("/api/v1/openclaw/ungoverned", json=body).json()["alarm"]
    assert Alarm.objects.get().kind == "ungoverned"
