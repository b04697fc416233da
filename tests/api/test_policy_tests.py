"""Policy tests at the programs' door: kept, made from recorded calls, run against draft, live and older snapshots."""

from typing import Any

import pytest

from apps.audit.drafts import EntryDecision, EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id, show_id
from apps.policies.models import PolicyTest
from apps.policies.selectors import live_publication
from apps.policies.services import publish
from tests.console.conftest import called  # noqa: F401 - a fixture

pytestmark = pytest.mark.django_db

CASE: dict[str, Any] = {"name": "no exec", "tool": "exec", "verdict": "denied", "context": {"agent_id": "main"}}


@pytest.fixture
def writer(program: Any, draft: Any) -> Any:
    return program("policy_read", "policy_write", "explain")


def test_one_is_added_read_changed_and_removed(writer: Any) -> None:
    made = writer.post("policy-tests", CASE)
    assert made.status_code == 201
    test = made.json()
    assert CASE.items() <= test.items()
    assert (test["version"], test["params"], test["origin"], test["call"]) == (1, None, "hand", None)
    place = f"policy-tests/{test['id']}"
    assert writer.get("policy-tests").json() == [writer.get(place).json()] == [test]

    changed = writer.ask("PATCH", place, {"version": 1, "is_enabled": False})
    assert (changed.status_code, changed.json()["version"]) == (200, 2)
    assert writer.ask("PATCH", place, {"version": 1, "tool": "read"}).status_code == 409
    assert writer.ask("DELETE", f"{place}?version=1").status_code == 409
    assert writer.ask("DELETE", f"{place}?version=2").status_code == 204
    assert writer.get(place).status_code == 404


@pytest.mark.parametrize(
    ("members", "path", "status"),
    [
        ({"name": None}, "name", 400),
        ({"verdict": "perhaps"}, "verdict", 400),
        ({"context": {"agent": "main"}}, "context", 422),
        ({"layer": "agnet"}, "layer", 422),
        ({"call": "call_x"}, "call", 400),
    ],
)
def test_a_mistake_names_its_member_and_adds_nothing(
    members: dict[str, Any], path: str, status: int, writer: Any
) -> None:
    refused = writer.post("policy-tests", CASE | members)
    assert (refused.status_code, refused.json()["details"][0]["path"]) == (status, path)
    assert not PolicyTest.objects.exists()


def test_without_a_call_tool_and_verdict_are_needed(writer: Any) -> None:
    refused = writer.post("policy-tests", {"name": "x"})
    assert {detail["path"] for detail in refused.json()["details"]} == {"tool", "verdict"}


def test_a_run_says_what_passed_what_did_not_and_what_is_covered(writer: Any) -> None:
    for case in (CASE, CASE | {"name": "reads", "tool": "read"}, CASE | {"name": "off", "is_enabled": False}):
        assert writer.post("policy-tests", case).status_code == 201
    run = writer.get("policy-tests/run").json()
    assert (run["passed"], run["failed"], run["skipped"]) == (1, 1, 1)
    denied, reads = run["results"]
    assert (denied["has_passed"], denied["answer"]["layer"]) == (True, "agent")
    assert denied["answer"]["rule"].startswith("agents.main.tools.deny")
    assert (reads["has_passed"], reads["answer"]["verdict"]) == (False, "allowed")
    covered = {each["path"]: each["cases"] for each in run["coverage"]}
    assert (covered["agents.entries.main"], covered["tools"]) == (2, 1)


def test_a_run_is_of_the_snapshot_that_is_asked_for(writer: Any, draft: Any, admin: Any) -> None:
    assert writer.get("policy-tests/run?at=live").status_code == 404
    publish(draft, by=admin, message="first", expected_live=None)
    live = live_publication(draft)
    assert live is not None
    for at in ("live", live.snapshot_id):
        assert writer.get(f"policy-tests/run?at={at}").json()["digest"] == live.snapshot_id
    assert writer.get(f"policy-tests/run?at={'0' * 64}").status_code == 404


def test_one_is_made_from_a_recorded_call(program: Any, draft: Any, called: Any) -> None:  # noqa: F811
    made_of = called(agent="main", sender="7", params={"path": "a.md"})
    body = {"name": "main reads", "call": show_id("call", made_of)}
    assert program("policy_read", "policy_write").post("policy-tests", body).status_code == 403
    made = program("policy_read", "policy_write", "audit_read").post("policy-tests", body)
    assert made.status_code == 201, made.json()
    test = made.json()
    wanted = {"tool": "read", "params": {"path": "a.md"}, "verdict": "allowed", "layer": "", "origin": "call"}
    assert wanted.items() <= test.items() and test["call"] == body["call"]
    assert test["context"] == {
        "agent_id": "main",
        "session_key": "agent:bot:main",
        "channel": "telegram",
        "sender_id": "7",
    }


def test_the_recorded_context_and_what_ended_the_call_are_read(program: Any, draft: Any) -> None:
    writer = program("policy_read", "policy_write", "audit_read")
    context = {"agent_id": "main", "channel": "telegram", "sender_id": "7", "sender_is_owner": False}
    for name, tool, decision, wanted in (
        ("a", "exec", EntryDecision(verdict="deny", layer="agent", rule="x"), ("denied", "agent")),
        ("b", "read", EntryDecision(verdict="deny", layer="limits", rule="calm"), ("denied", "")),  # nothing is live
        ("c", "exec", EntryDecision(verdict="ask", layer="exec_policy"), ("asks", "exec_policy")),
    ):
        call_id = new_id()
        entry_record(
            EntryDraft(
                kind=EntryKind.DENIAL,
                actor="token:oca_1",
                environment=draft.slug,
                agent="main",
                tool=tool,
                call_id=call_id,
                decision=decision,
                changes={"context": context},
            )
        )
        made = writer.post("policy-tests", {"name": name, "call": show_id("call", call_id)})
        assert made.status_code == 201, made.json()
        assert ((made.json()["verdict"], made.json()["layer"]), made.json()["context"]) == (wanted, context)


def test_a_call_that_the_ledger_does_not_know_is_not_found(program: Any, draft: Any) -> None:
    body = {"name": "x", "call": show_id("call", draft.pk)}
    assert program("policy_write", "audit_read").post("policy-tests", body).status_code == 404


def test_each_right_opens_its_own_method(program: Any, draft: Any) -> None:
    reader = program("policy_read")
    assert reader.get("policy-tests").json() == []
    assert reader.post("policy-tests", CASE).status_code == 403
    assert reader.get("policy-tests/run").status_code == 403
    assert program("explain").get("policy-tests/run").status_code == 200
