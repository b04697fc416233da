"""The kill switch at OpenClaw Gateways: each hears of a stop, ends what runs against it, and says so."""

import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.models import Entry
from apps.firewall.identifiers import read_id
from apps.gateway.gateways_held import gateways_held
from apps.halts.models import Halt
from apps.halts.services import halt_lift, halt_place
from apps.openclaw_gateways.models import GatewayCall, OpenClawGateway
from apps.openclaw_gateways.services import Heartbeat, gateway_heard
from tests.gateway.conftest import snapshot_with
from tests.gateway.openclaw_plugin import BEAT, FULL, Plugin, status_of
from tests.gateway.server import Holder, Server
from tests.gateway.test_calls import kinds
from tests.gateway.test_decisions import Token, eventually


@pytest.fixture
def holder() -> Holder:
    return Holder(snapshot_with(settings=FULL))


def poll(plugin: Plugin, heard: str = "", *, wait_ms: int = 0, **more: Any) -> dict[str, Any]:
    body = {"boot": BEAT["boot"], "heard": heard, "wait_ms": wait_ms, **more}
    answer = plugin.client.post("/api/v1/openclaw/stops", json=body)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def stop(environment: Any, scope: str = "agent", name: str = "bot", **more: Any) -> Halt:
    given = {"reason": "it deletes things", "unknown": True, **more}
    return halt_place(environment, scope=scope, name=name, at=timezone.now(), **given)


def holds(plugin: Plugin) -> bool:
    (row,) = gateways_held(plugin.row.environment, at=timezone.now())
    return row.holds


def test_a_gateway_hears_of_a_stop_while_it_waits(plugin: Plugin, environment: Any) -> None:
    digest = poll(plugin)["digest"]
    answers: list[dict[str, Any]] = []
    thread = threading.Thread(target=lambda: answers.append(poll(plugin, digest, wait_ms=20_000)))
    thread.start()
    assert eventually(lambda: holds(plugin))
    began = time.monotonic()
    stop(environment)
    thread.join(timeout=30)

    assert time.monotonic() - began < 4
    assert answers[0]["digest"] != digest
    assert (answers[0]["stops"], answers[0]["end"]) == (1, [])
    assert not holds(plugin)
    poll(plugin, answers[0]["digest"])
    assert holds(plugin)


def test_what_runs_is_ended_and_its_outcome_says_by_whom(plugin: Plugin, environment: Any, operator: Any) -> None:
    told = plugin.ask("sleep 300").json()
    other = plugin.ask("sleep 300", agent="clerk", session="agent:clerk:main").json()
    stop(environment, by=operator)

    asked = poll(plugin)
    assert asked["end"] == [{"call": told["id"], "by": str(operator)}]
    poll(plugin, asked["digest"])
    assert not holds(plugin)
    assert status_of(told["id"]) == "told"

    ended = [{"call": told["id"], "is_ended": True, "message": "3 processes"}]
    poll(plugin, asked["digest"], ended=ended)

    assert holds(plugin)
    assert eventually(lambda: status_of(told["id"]) == "cancelled")
    assert status_of(other["id"]) == "told"
    assert kinds(told["id"]) == [("call_intent", "started"), ("call_outcome", "cancelled")]
    entry = Entry.objects.get(call_id=read_id("call", told["id"]), kind="call_outcome")
    assert entry.call_id is not None
    error = GatewayCall.objects.get(pk=entry.call_id).error
    assert error["code"] == "stopped" and str(operator) in error["message"]


def test_its_own_report_may_come_first(plugin: Plugin, environment: Any) -> None:
    told = plugin.ask("sleep 300").json()
    stop(environment)
    asked = poll(plugin)
    plugin.report(told["id"], is_error=True, error="Aborted", result={"text": "so far"})
    assert eventually(lambda: status_of(told["id"]) == "cancelled")

    poll(plugin, asked["digest"], ended=[{"call": told["id"], "is_ended": True, "message": "aborted"}])

    assert holds(plugin)
    assert not Entry.objects.filter(kind="gateway_change", status__in=["command_stopped", "not_stopped"]).exists()


def test_what_was_done_before_the_stop_stays_done(plugin: Plugin, environment: Any) -> None:
    told = plugin.ask("true").json()
    stop(environment)
    poll(plugin)
    plugin.report(told["id"], result={"text": "done"})
    assert eventually(lambda: status_of(told["id"]) == "completed")


def test_a_call_that_cannot_be_ended_keeps_the_gateway_from_holding_unsaid(plugin: Plugin, environment: Any) -> None:
    told = plugin.ask("sleep 300").json()
    stop(environment)
    asked = poll(plugin)
    poll(plugin, asked["digest"], ended=[{"call": told["id"], "is_ended": False, "message": "2 processes run on"}])

    entry = Entry.objects.get(kind="gateway_change", status="not_stopped")
    assert entry.changes is not None
    assert (entry.changes["call"], entry.changes["message"]) == (told["id"], "2 processes run on")
    assert not holds(plugin)
    assert status_of(told["id"]) == "told"


def test_commands_in_the_background_end_too_and_that_is_on_record(plugin: Plugin, environment: Any) -> None:
    told = plugin.ask("sleep 300").json()
    plugin.report(told["id"], result={"details": {"status": "running"}})
    assert eventually(lambda: status_of(told["id"]) == "completed")
    stop(environment, "tool", "bash")

    asked = poll(plugin, background=[told["id"]])
    assert [each["call"] for each in asked["end"]] == [told["id"]]
    poll(plugin, asked["digest"], ended=[{"call": told["id"], "is_ended": True, "message": "1 process"}])

    assert holds(plugin)
    assert Entry.objects.get(kind="gateway_change", status="command_stopped").changes["call"] == told["id"]  # type: ignore[index]
    assert status_of(told["id"]) == "completed"


@pytest.mark.parametrize(
    ("scope", "name", "is_met"),
    [
        ("environment", "", True),
        ("agent", "bot", True),
        ("agent", "clerk", False),
        ("channel", "telegram", True),
        ("channel", "slack", False),
        ("tool", "exec", True),
        ("tool", "read", False),
    ],
)
def test_a_stop_meets_exactly_the_calls_that_it_is_about(
    scope: str, name: str, is_met: bool, plugin: Plugin, environment: Any
) -> None:
    plugin.ask("sleep 300")
    stop(environment, scope, name)
    assert bool(poll(plugin)["end"]) is is_met


def test_what_runs_may_be_left_to_finish(plugin: Plugin, environment: Any) -> None:
    plugin.ask("sleep 300")
    stop(environment, ends_running=False)
    told = poll(plugin)
    assert (told["stops"], told["end"]) == (1, [])
    poll(plugin, told["digest"])
    assert holds(plugin)


def test_calls_of_an_earlier_start_are_not_to_end(plugin: Plugin, environment: Any) -> None:
    plugin.ask("sleep 300")
    gateway_heard(plugin.row, Heartbeat(boot="boot-0002"), at=timezone.now())
    stop(environment)
    assert poll(plugin, boot="boot-0002")["end"] == []


def test_a_gateway_cannot_speak_of_calls_of_another(plugin: Plugin, server: Server, environment: Any) -> None:
    told = plugin.ask("sleep 300").json()
    stop(environment)
    poll(plugin)
    row = OpenClawGateway.objects.get()
    other = Plugin(server, "home")
    ended = [{"call": told["id"], "is_ended": True, "message": ""}]
    body = {"boot": BEAT["boot"], "wait_ms": 0, "ended": ended, "background": [told["id"]]}
    assert other.client.post("/api/v1/openclaw/stops", json=body).json()["end"] == []
    other.client.close()
    assert GatewayCall.objects.get(gateway=row).ending == "asked"


def test_one_that_lost_touch_or_began_anew_holds_to_nothing(plugin: Plugin) -> None:
    poll(plugin, poll(plugin)["digest"])
    (held,) = gateways_held(plugin.row.environment, at=timezone.now())
    (later,) = gateways_held(plugin.row.environment, at=timezone.now() + timedelta(minutes=5))
    assert (held.holds, later.holds) == (True, False)
    gateway_heard(plugin.row, Heartbeat(boot="boot-0002"), at=timezone.now())
    assert not holds(plugin)


@pytest.mark.parametrize(
    "wrong",
    [
        {"boot": "x"},
        {"heard": 7},
        {"wait_ms": -1},
        {"background": ["x"]},
        {"background": "call_1"},
        {"ended": [{"call": "x", "is_ended": True}]},
        {"ended": [{"call": "call_1"}]},
        {"stopps": 1},
    ],
)
def test_mistakes_are_named(wrong: dict[str, Any], plugin: Plugin) -> None:
    answer = plugin.client.post("/api/v1/openclaw/stops", json={"boot": BEAT["boot"], "wait_ms": 0, **wrong})
    assert answer.status_code == 422
    assert any(each["path"].split(".")[0].split("[")[0] == next(iter(wrong)) for each in answer.json()["details"])


@pytest.mark.parametrize("is_there", [True, False])
def test_the_answer_names_the_gateways_that_hold_to_it_and_those_that_have_not_said_so(
    is_there: bool, plugin: Plugin, server: Server, token: Token
) -> None:
    """Whoever stops something hears within the answer which gateways hold to it."""
    is_over = threading.Event()

    def hold() -> None:
        heard = ""
        while not is_over.is_set():
            heard = poll(plugin, heard, wait_ms=500)["digest"]

    thread = threading.Thread(target=hold)
    if is_there:
        thread.start()
        assert eventually(lambda: holds(plugin))
    client = Client(headers={"Authorization": f"Bearer {token('calls_stop', 'policy_read')[1]}"})
    body = {"scope": "environment", "name": "", "reason": "test"}
    placed = client.post("/api/v1/halts", body, content_type="application/json")
    listed = client.get("/api/v1/halts").json()
    is_over.set()
    if is_there:
        thread.join(timeout=30)

    assert placed.status_code == 201, placed.content
    said = placed.json()["heard_by"]["gateways"]
    (row,) = listed["gateways"]
    if is_there:
        assert said == {"heard": 1, "of": 1, "holding": ["office"], "silent": []}
        assert (row["name"], row["holds"], listed["heard_by_all"]) == ("office", True, True)
    else:
        assert said == {"heard": 0, "of": 1, "holding": [], "silent": [{"name": "office", "standing": "live"}]}
        assert (row["name"], row["holds"], listed["heard_by_all"]) == ("office", False, False)


def test_a_lifted_stop_lets_calls_run_again(plugin: Plugin, environment: Any) -> None:
    halt = stop(environment)
    assert eventually(lambda: plugin.ask().json()["status"] == "denied")
    halt_lift(halt, at=timezone.now())
    assert eventually(lambda: plugin.ask().json()["status"] == "run")
    poll(plugin, poll(plugin)["digest"])
    assert holds(plugin)
