"""Replays of past calls, as programs ask for them."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.firewall.identifiers import read_id
from apps.policies.selectors import agent_get, live_snapshot
from apps.policies.services import record_update
from apps.policies.tasks import replay_run_task, replays_resume_task
from tests.policies.past_calls import call_record_write, publish_first

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("replays_enqueued")]
Program = Callable[..., Any]


@pytest.fixture
def called(environment: Any) -> Any:
    """An environment where `bot` read, in whose draft it may not."""
    publish_first(environment)
    live = live_snapshot(environment)
    assert live is not None
    call_record_write(live, "read")
    bot = agent_get(environment, "bot")
    assert bot is not None
    record_update(bot, {"deny": ["read", "ls"]}, by=None, expected_version=bot.version)
    return environment


@pytest.mark.usefixtures("called")
def test_a_program_asks_and_sees_what_would_change(program: Program, replays_enqueued: list[str]) -> None:
    reader = program("audit_read")
    asked = reader.post("replays", {"days": 1})
    assert (asked.status_code, asked.json()["state"]) == (202, "waiting")
    shown = asked.json()["id"]
    assert replays_enqueued == [str(read_id("replay", shown))]
    assert replays_resume_task() == 1

    replay_run_task(replays_enqueued[0])

    found = reader.get(f"replays/{shown}").json()
    assert (found["state"], found["calls_done"], found["percent"]) == ("done", 1, 100)
    assert found["counts"] == {"blocked": 1, "allowed": 0, "asked": 0, "unasked": 0, "unknown": 0, "same": 0}
    (group,) = found["groups"]
    assert (group["agent"], group["tool"], group["draft"]["rule"]) == ("bot", "read", "agents.bot.tools.deny read")
    assert all(read_id("call", call) for call in group["calls"])
    assert [each["id"] for each in reader.get("replays").json()] == [shown]


@pytest.mark.usefixtures("called")
def test_what_is_live_can_be_replayed_and_a_replay_can_be_ended(program: Program) -> None:
    reader = program("audit_read")
    shown = reader.post("replays", {"at": "live"}).json()["id"]
    assert reader.ask("POST", f"replays/{shown}/cancel").json()["state"] == "cancelled"
    again = reader.ask("POST", f"replays/{shown}/cancel")
    assert (again.status_code, again.json()["code"]) == (409, "replay_ended")
    assert reader.post("replays", {"at": "0" * 64}).status_code == 404


@pytest.mark.usefixtures("called")
@pytest.mark.parametrize("wrong", [{"days": 0}, {"days": 400}, {"days": "many"}])
def test_days_that_are_not_replayed_are_refused(program: Program, wrong: dict[str, Any]) -> None:
    assert program("audit_read").post("replays", wrong).status_code in (400, 422)


def test_an_environment_insists_on_replays_by_whoever_may_publish(program: Program, called: Any) -> None:
    publisher, reader = program("publish", "policy_read"), program("policy_read", name="reads")
    assert reader.get("replays/rule").json() == {"is_required": False}
    assert reader.ask("PUT", "replays/rule", {"is_required": True}).status_code == 403
    assert publisher.ask("PUT", "replays/rule", {"is_required": True}).json() == {"is_required": True}
    live = live_snapshot(called)
    assert live is not None
    refused = publisher.post("publications", {"message": "no reading", "expected_live": live.digest})
    assert (refused.status_code, refused.json()["details"][0]["code"]) == (422, "replay_missing")


@pytest.mark.usefixtures("called")
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_who_may_not_read_the_ledger_is_refused(program: Program, method: str) -> None:
    assert program("policy_read").ask(method, "replays").status_code == 403
    assert program().ask(method, "replays").status_code == 401
