"""Requests to a person, answered by programs."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.approvals.drafts import ApprovalDraft
from apps.approvals.services import approval_request
from apps.firewall.identifiers import new_id
from tests.api.conftest import Program

pytestmark = pytest.mark.django_db


@pytest.fixture
def request_of(environment: Any) -> Any:
    def make(**fields: Any) -> Any:
        values: dict[str, Any] = {
            "environment": environment,
            "call_id": new_id(),
            "kind": "exec",
            "tool": "exec",
            "action": {"argv": ["/bin/echo", "hello"]},
            "argv": ["echo", "hello"],
            "command": "echo hello",
            "agent": "main",
            "resolved_path": "/bin/echo",
        }
        return approval_request(ApprovalDraft(**values | fields), at=timezone.now())

    return make


def test_a_pending_request_is_listed_and_read(program: Any, request_of: Any) -> None:
    approval = request_of()
    reader = program("approvals_read")

    [listed] = reader.get("approvals").json()

    assert listed == reader.get(f"approvals/{approval.shown_id}").json()
    assert (listed["command"], listed["state"]) == ("echo hello", "requested")
    assert "sealed_action" not in listed


def test_the_first_answer_wins_and_the_second_hears_who_it_was(program: Any, request_of: Any, operator: Any) -> None:
    approval = request_of()
    path = f"approvals/{approval.shown_id}/resolve"

    first = program("approvals_read", "approvals_resolve", name="night").post(path, {"decision": "allow-once"})
    late = program("approvals_read", "approvals_resolve").post(path, {"decision": "deny"})

    assert (first.status_code, first.json()["state"]) == (200, "allowed_once")
    assert (late.status_code, late.json()["code"]) == (409, "approval_already_decided")
    assert first.json()["decided_by"] in late.json()["message"]


def test_reading_is_not_answering(program: Any, request_of: Any) -> None:
    approval = request_of()
    reader = program("approvals_read")

    assert reader.post(f"approvals/{approval.shown_id}/resolve", {"decision": "deny"}).status_code == 403
    assert reader.get(f"approvals/{approval.shown_id}").json()["state"] == "requested"


def test_an_unknown_decision_is_refused(program: Any, request_of: Any) -> None:
    answer = program("approvals_read", "approvals_resolve").post(
        f"approvals/{request_of().shown_id}/resolve", {"decision": "maybe"}
    )

    assert answer.status_code == 400
    assert [detail["path"] for detail in answer.json()["details"]] == ["decision"]


def test_an_answer_that_comes_too_late_is_refused(program: Any, request_of: Any) -> None:
    approval = request_of()
    type(approval).objects.filter(pk=approval.pk).update(expires_at=timezone.now() - timedelta(seconds=1))

    answer = program("approvals_read", "approvals_resolve").post(
        f"approvals/{approval.shown_id}/resolve", {"decision": "allow-once"}
    )

    assert (answer.status_code, answer.json()["code"]) == (409, "approval_expired")


def test_a_token_of_another_environment_sees_none(program: Any, request_of: Any, admin: Any) -> None:
    from apps.registry.services import environment_create

    environment_create(slug="staging", by=admin)
    stranger = program("approvals_read", environment="staging")

    assert stranger.get("approvals").json() == []
    assert stranger.get(f"approvals/{request_of().shown_id}").status_code == 404


def test_what_ended_is_listed_apart(program: Any, request_of: Any) -> None:
    approval = request_of()
    operator = program("approvals_read", "approvals_resolve")
    operator.post(f"approvals/{approval.shown_id}/resolve", {"decision": "deny", "reason": "not now"})

    [ended] = operator.get("approvals?state=recent").json()

    assert (ended["state"], ended["decision_reason"]) == ("denied", "not now")
    assert operator.get("approvals").json() == []


def test_a_token_cannot_allow_its_own_call_and_may_deny_it(token: Any, request_of: Any, environment: Any) -> None:
    row, secret = token("approvals_read", "approvals_resolve", "calls_make")
    other = Program(token("approvals_read", "approvals_resolve")[1])
    own, its_own_too = (request_of(action={"argv": ["/bin/echo"], "actor": row.actor}) for _ in range(2))
    caller = Program(secret)

    refused = caller.post(f"approvals/{own.shown_id}/resolve", {"decision": "allow-once"})
    denied = caller.post(f"approvals/{its_own_too.shown_id}/resolve", {"decision": "deny"})
    allowed = other.post(f"approvals/{own.shown_id}/resolve", {"decision": "allow-once"})

    assert (refused.status_code, refused.json()["code"]) == (403, "own_request")
    assert (denied.status_code, allowed.status_code) == (200, 200)


def test_how_long_people_have_is_read_and_changed(program: Any, environment: Any) -> None:
    client = program("approvals_read", "policy_read", "policy_write")
    assert client.get("approvals/answering").json() == {"version": 1, "wait_s": None, "usual_s": 1800}
    changed = client.ask("PATCH", "approvals/answering", {"version": 1, "wait_s": 45})
    assert changed.json() == {"version": 2, "wait_s": 45, "usual_s": 1800}
    assert client.ask("PATCH", "approvals/answering", {"version": 1, "wait_s": 46}).status_code == 409
    assert client.ask("PATCH", "approvals/answering", {"version": 2, "wait_s": 4}).status_code == 400


def test_rules_of_who_answers_are_listed_added_and_removed(program: Any, environment: Any) -> None:
    client = program("approvals_read", "policy_read", "policy_write")
    rule = {"name": "two-admins", "agents": ["main"], "roles": ["admin"], "quorum": 2}
    added = client.post("approvals/rules", rule)
    assert added.status_code == 201 and added.json()["people"] == []
    assert [each["name"] for each in client.get("approvals/rules").json()] == ["two-admins"]
    again = client.post("approvals/rules", rule)
    assert (again.status_code, again.json()["code"]) == (422, "answer_invalid")
    unknown = client.post("approvals/rules", {"name": "x", "people": ["nobody"]})
    assert unknown.json()["details"][0]["path"] == "people"
    assert client.ask("DELETE", "approvals/rules/two-admins").status_code == 204
    assert client.ask("DELETE", "approvals/rules/two-admins").status_code == 404


def test_whom_a_rule_leaves_out_is_refused_and_a_first_yes_of_two_leaves_it_waiting(
    program: Any, request_of: Any, environment: Any
) -> None:
    writer = program("approvals_read", "approvals_resolve", "policy_read", "policy_write")
    writer.post("approvals/rules", {"name": "two", "quorum": 2})
    first = writer.post(f"approvals/{request_of().shown_id}/resolve", {"decision": "allow-once"}).json()
    assert (first["state"], first["decided_at"]) == ("requested", None)
    writer.ask("DELETE", "approvals/rules/two")
    writer.post("approvals/rules", {"name": "admins", "roles": ["admin"]})
    refused = writer.post(f"approvals/{request_of().shown_id}/resolve", {"decision": "deny"})
    assert (refused.status_code, refused.json()["code"]) == (403, "not_an_approver")


def test_a_rule_is_changed_and_asked_in_another_order(program: Any, environment: Any) -> None:
    client = program("approvals_read", "policy_read", "policy_write")
    for name in ("a", "b", "c"):
        client.post("approvals/rules", {"name": name, "roles": ["admin"]})
    moved = client.post("approvals/rules/c/move", {"before": "a"}).json()
    assert [each["name"] for each in moved] == ["c", "a", "b"]
    assert [each["name"] for each in client.post("approvals/rules/c/move", {"before": ""}).json()] == ["a", "b", "c"]
    assert client.post("approvals/rules/c/move", {"before": "zzz"}).json()["details"][0]["path"] == "before"
    changed = client.ask("PATCH", "approvals/rules/b", {"version": 1, "quorum": 3}).json()
    assert (changed["quorum"], changed["roles"], changed["version"]) == (3, ["admin"], 2)
    stale = client.ask("PATCH", "approvals/rules/b", {"version": 1, "quorum": 4})
    assert stale.status_code == 409
    half = client.ask("PATCH", "approvals/rules/b", {"version": 2, "escalate_after_s": 30})
    assert (half.status_code, half.json()["details"][0]["path"]) == (422, "escalate_roles")


def test_teams_are_kept_and_not_removed_while_a_rule_names_them(program: Any, environment: Any, operator: Any) -> None:
    client = program("approvals_read", "policy_read", "policy_write")
    added = client.post("approvals/teams", {"name": "night", "people": ["operator", "operator"]})
    assert (added.status_code, added.json()) == (201, {"name": "night", "people": ["operator"], "version": 1})
    for wrong in ({"name": "night", "people": ["operator"]}, {"name": "x", "people": ["nobody"]}):
        assert client.post("approvals/teams", wrong).json()["code"] == "answer_invalid"
    assert client.post("approvals/teams", {"name": "x", "people": []}).status_code in {400, 422}
    assert client.post("approvals/rules", {"name": "r", "teams": ["night"]}).status_code == 201
    assert client.post("approvals/rules", {"name": "s", "teams": ["day"]}).json()["details"][0]["path"] == "teams"
    used = client.ask("DELETE", "approvals/teams/night")
    assert (used.status_code, used.json()["code"]) == (409, "team_in_use")
    renamed = client.ask("PATCH", "approvals/teams/night", {"version": 1, "name": "late"})
    assert renamed.json()["name"] == "late"
    assert client.get("approvals/rules/r").json()["teams"] == ["late"]
    client.ask("DELETE", "approvals/rules/r")
    assert client.ask("DELETE", "approvals/teams/late").status_code == 204
    assert client.get("approvals/teams/late").status_code == 404


def test_deputies_are_named_by_a_token_for_its_person(
    token: Any, environment: Any, operator: Any, admin: Any, make_user: Any
) -> None:
    make_user("tomas", role="operator")
    scopes = ("approvals_read", "approvals_resolve")
    client = Program(token(*scopes, by=admin)[1])
    until = (timezone.now() + timedelta(days=2)).isoformat()
    named = client.post("approvals/deputies", {"deputy": "tomas", "until": until})
    assert (named.status_code, named.json()["person"], named.json()["deputy"]) == (201, "admin", "tomas")
    bound = Program(token(*scopes, by=admin, environment=environment.slug)[1])
    assert bound.post("approvals/deputies", {"deputy": "tomas", "until": until}).json()["code"] == "answer_invalid"
    nobody = Program(token(*scopes)[1])
    assert nobody.post("approvals/deputies", {"deputy": "tomas", "until": until}).status_code == 422
    path = f"approvals/deputies/{named.json()['id']}"
    assert nobody.ask("DELETE", path).status_code == 403
    assert client.ask("DELETE", path).status_code == 204
    assert client.get("approvals/deputies").json() == []


def test_the_history_has_filters_and_pages(program: Any, request_of: Any, operator: Any, monkeypatch: Any) -> None:
    from apps.api.views import approvals_past

    answered = program("approvals_read", "approvals_resolve")
    for number in range(3):
        answered.post(f"approvals/{request_of(agent=f'a{number}').shown_id}/resolve", {"decision": "deny"})
    request_of()
    monkeypatch.setattr(approvals_past, "PAGE", 2)

    first = answered.get("approvals/history").json()
    second = answered.get(f"approvals/history?after={first['older']}").json()
    of_one = answered.get("approvals/history?agent=a1&state=denied&text=ECHO&kind=exec&by=test").json()

    assert [each["agent"] for each in first["rows"]] == ["a2", "a1"] and second["older"] is None
    assert [each["agent"] for each in second["rows"]] == ["a0"]
    assert [each["agent"] for each in of_one["rows"]] == ["a1"]
    assert answered.get("approvals/history?state=allowed_once").json()["rows"] == []
    for wrong in ("state=lost", "kind=x", "after=ap_1"):
        assert answered.get(f"approvals/history?{wrong}").status_code == 404


def test_a_token_of_some_agents_lists_only_theirs(program: Any, request_of: Any) -> None:
    for agent in ("main", "other"):
        request_of(agent=agent)
        done = request_of(agent=agent)
        path = f"approvals/{done.shown_id}/resolve"
        assert program("approvals_read", "approvals_resolve").post(path, {"decision": "deny"}).status_code == 200
    reader = program("approvals_read", agents=["other"])

    for path in ("approvals", "approvals?state=recent"):
        assert [each["agent"] for each in reader.get(path).json()] == ["other"]
    assert [each["agent"] for each in reader.get("approvals/history").json()["rows"]] == ["other"]


def test_coverage_tells_every_reach_or_why_there_is_none(program: Any, request_of: Any) -> None:
    reader = program("approvals_read")
    plain = request_of(argv=["echo", "a", "b"], command="echo a b", resolved_path="/usr/bin/echo")
    shell = request_of(decisions=["allow-once", "deny"], evidence=[{"code": "shell_syntax", "text": "|"}])

    covered = reader.get(f"approvals/{plain.shown_id}/coverage?agents=every").json()
    assert covered["off"] == ""
    assert [(each["reach"], each["calls"], each["denied"]) for each in covered["reaches"]] == [
        ("exact", 0, 0),
        ("first", 0, 0),
        ("any", 0, 0),
    ]
    assert covered["reaches"][2]["is_broad"] is True and covered["reaches"][1]["arg_pattern"] == "^a( .*)?$"
    assert reader.get(f"approvals/{shell.shown_id}/coverage").json() == {"off": "shell", "reaches": []}
    limited = program("approvals_read", agents=["other"])
    assert limited.get(f"approvals/{plain.shown_id}/coverage").status_code == 404
