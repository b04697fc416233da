"""Shadow rules, as programs start and read them."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.firewall.identifiers import read_id
from apps.policies.selectors import agent_get, live_snapshot
from apps.policies.services import draft_discard, record_update
from apps.policies.tasks import shadows_count_task
from tests.policies.past_calls import call_record_write, publish_first

pytestmark = pytest.mark.django_db(transaction=True)
Program = Callable[..., Any]


@pytest.fixture
def bot(environment: Any) -> Any:
    publish_first(environment)
    found = agent_get(environment, "bot")
    assert found is not None
    return record_update(found, {"deny": ["read", "ls"]}, by=None, expected_version=found.version)


def call_read(environment: Any) -> None:
    live = live_snapshot(environment)
    assert live is not None
    call_record_write(live, "read")


def test_a_program_starts_one_and_reads_its_counter(program: Program, bot: Any, environment: Any) -> None:
    writer = program("policy_read", "policy_write", "audit_read")
    begun = writer.post("shadows", {"kind": "agent", "record": str(bot.pk)})
    assert begun.status_code == 201, begun.content
    shown = begun.json()["id"]
    assert begun.json()["edits"] == [
        {"path": ["agents", "bot", "policy", "deny"], "before": ["ls"], "after": ["read", "ls"], "behind": None}
    ]
    call_read(environment)
    shadows_count_task()

    found = writer.get(f"shadows/{shown}").json()
    assert (found["state"], found["calls_seen"], found["counts"]["blocked"]) == ("watching", 1, 1)
    (group,) = found["groups"]
    assert (group["agent"], group["tool"], len(group["calls"])) == ("bot", "read", 1)
    assert read_id("call", group["calls"][0])
    assert [each["id"] for each in writer.get("shadows").json()] == [shown]
    unread = program("policy_read", name="reads policy only").get(f"shadows/{shown}").json()
    assert unread["groups"][0]["calls"] == []


def test_a_record_is_named_as_the_changes_of_the_draft_name_it(program: Program, bot: Any) -> None:
    writer = program("policy_read", "policy_write")
    (change,) = writer.get("draft/changes").json()
    assert change["record"].startswith("rec_")

    begun = writer.post("shadows", {"kind": change["kind"], "record": change["record"]})
    refused = writer.post("shadows", {"kind": change["kind"], "record": "rec_0"})

    assert begun.status_code == 201, begun.content
    assert (refused.status_code, refused.json()["details"][0]["path"]) == (400, "record")


def test_edits_of_a_fix_are_watched_and_put_into_the_draft(program: Program, bot: Any, environment: Any) -> None:
    draft_discard(environment, by=None)
    bot.refresh_from_db()
    writer = program("policy_read", "policy_write")
    edit = {"kind": "agent", "record": str(bot.pk), "version": bot.version, "field": "deny", "entry": "read"}
    begun = writer.post("shadows", {"edits": [edit | {"is_added": True}]}).json()
    assert begun["edits"][0]["after"] == ["ls", "read"]
    call_read(environment)
    shadows_count_task()
    assert writer.get(f"shadows/{begun['id']}").json()["counts"]["blocked"] == 1
    assert writer.ask("POST", f"shadows/{begun['id']}/draft").status_code == 200
    bot.refresh_from_db()
    assert bot.deny == ["ls", "read"]


def test_it_is_stopped_once_and_taken_away(program: Program, bot: Any) -> None:
    writer = program("policy_read", "policy_write")
    shown = writer.post("shadows", {"kind": "agent", "record": str(bot.pk)}).json()["id"]
    assert writer.ask("POST", f"shadows/{shown}/stop").json()["state"] == "stopped"
    again = writer.ask("POST", f"shadows/{shown}/stop")
    assert (again.status_code, again.json()["code"]) == (409, "shadow_ended")
    assert writer.ask("DELETE", f"shadows/{shown}").status_code == 204
    assert writer.get(f"shadows/{shown}").status_code == 404


@pytest.mark.parametrize("wrong", [{}, {"kind": "agent"}, {"edits": []}])
def test_half_a_question_is_refused(program: Program, bot: Any, wrong: dict[str, Any]) -> None:
    assert program("policy_write").post("shadows", wrong).status_code in (400, 422)


def test_what_cannot_be_watched_says_why(program: Program, bot: Any, environment: Any) -> None:
    draft_discard(environment, by=None)
    answer = program("policy_write").post("shadows", {"kind": "agent", "record": str(bot.pk)})
    assert (answer.status_code, answer.json()["code"]) == (422, "shadow_invalid")
    assert answer.json()["details"][0]["code"] == "not_changed"


def test_readers_start_nothing_and_strangers_see_nothing(program: Program, bot: Any) -> None:
    begun = {"kind": "agent", "record": str(bot.pk)}
    assert program("policy_read").post("shadows", begun).status_code == 403
    assert program("audit_read", name="reads the ledger").get("shadows").status_code == 403
    assert program().get("shadows").status_code == 401
