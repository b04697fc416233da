"""Import, export, explain, publish, roll back, and what is live, as programs do it."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from apps.firewall.tools.definition import Definition
from apps.policies.services import records
from apps.registry import services as registry
from apps.registry.models import Tool, ToolState

pytestmark = pytest.mark.django_db


def named(environment: Any, name: str) -> Tool:
    return Tool.objects.get(environment=environment, name=name)


def test_the_document_goes_in_and_comes_out(program: Any, environment: Any) -> None:
    admin = program("policy_read", "policy_write")
    document = {"agents": {"entries": {"main": {"tools": {"deny": ["exec"]}}}}, "logging": {"level": "info"}}

    report = admin.ask("PUT", "document", {"document": json.dumps(document)})

    assert report.status_code == 200, report.json()
    assert report.json()["counts"]["created"] == 2
    assert "kept_verbatim" in {finding["code"] for finding in report.json()["diagnostics"]}
    assert admin.get("document").json()["document"] == document


def test_what_the_release_refuses_is_named_and_left_out_on_request(program: Any, environment: Any) -> None:
    admin = program("policy_read", "policy_write")
    document = {"agents": {"entries": {"main": {}}}, "commands": {"ownerDisplay": "raw"}}
    assert admin.ask("PUT", "document", {"document": json.dumps(document)}).status_code == 200

    whole, released = admin.get("document").json(), admin.get("document?unread=drop").json()

    assert (whole["document"], whole["unread"]) == (document, ["commands.ownerDisplay"])
    assert (released["document"]["commands"], released["unread"]) == ({}, ["commands.ownerDisplay"])
    assert admin.get("document?unread=perhaps").status_code == 422


def test_groups_that_no_key_leads_to_are_let_through_by_a_program(program: Any, draft: Any) -> None:
    admin = program("policy_read", "policy_write")
    (policy,) = admin.get("global-policy").json()["results"]
    assert policy["refuse_unproven_groups"] is True

    changed = admin.ask(
        "PATCH", f"global-policy/{policy['id']}", {"version": policy["version"], "refuse_unproven_groups": False}
    )
    assert (changed.status_code, changed.json()["refuse_unproven_groups"]) == (200, False)


def test_a_bad_document_names_every_mistake_and_changes_nothing(program: Any, draft: Any) -> None:
    admin = program("policy_read", "policy_write")
    before = admin.get("document").json()

    answer = admin.ask("PUT", "document", {"document": '{"tools": {"deny": 7, "profile": 1}}'})

    assert (answer.status_code, answer.json()["code"]) == (422, "document_invalid")
    assert {"tools.deny", "tools.profile"} <= {detail["path"] for detail in answer.json()["details"]}
    assert admin.get("document").json() == before


def test_publishing_needs_what_was_live_and_happens_once(program: Any, draft: Any) -> None:
    publisher = program("policy_read", "publish")

    first = publisher.post("publications", {"message": "first", "expected_live": ""})
    second = publisher.post("publications", {"message": "late", "expected_live": ""})

    assert first.status_code == 201
    assert (second.status_code, second.json()["code"]) == (409, "publication_conflict")
    assert [row["number"] for row in publisher.get("publications").json()] == [1]


def test_what_is_live_already_is_published_again_by_force_only(program: Any, published: Any) -> None:
    publisher = program("policy_read", "policy_write", "publish")
    wanted = {"message": "again", "expected_live": published.snapshot_id}

    refused = publisher.post("publications", wanted)
    forced = publisher.post("publications", {**wanted, "force": True})
    agent = publisher.get("agents").json()["results"][0]
    publisher.ask("PATCH", f"agents/{agent['id']}", {"version": agent["version"], "deny": ["write", "edit"]})
    changed = publisher.post("publications", wanted)

    assert (refused.status_code, refused.json()["code"]) == (422, "publication_refused")
    assert [(each["path"], each["code"]) for each in refused.json()["details"]] == [("force", "nothing_changed")]
    assert (forced.status_code, forced.json()["digest"]) == (201, published.snapshot_id)
    assert changed.status_code == 201, changed.content


def test_what_was_reviewed_is_what_goes_live(program: Any, published: Any) -> None:
    publisher = program("policy_read", "policy_write", "publish")
    agent = publisher.get("agents").json()["results"][0]
    publisher.ask("PATCH", f"agents/{agent['id']}", {"version": agent["version"], "deny": ["write"]})
    reviewed = publisher.get("snapshots/draft").headers["ETag"].strip('"')
    publisher.ask("PATCH", f"agents/{agent['id']}", {"version": agent["version"] + 1, "deny": []})
    wanted = {"message": "x", "expected_live": published.snapshot_id}

    moved = publisher.post("publications", {**wanted, "expected_draft": reviewed})
    asked = publisher.post("publish-requests", {**wanted, "expected_draft": reviewed, "publish_at": _tomorrow()})
    publisher.ask("PATCH", f"agents/{agent['id']}", {"version": agent["version"] + 2, "deny": ["write"]})
    done = publisher.post("publications", {**wanted, "expected_draft": reviewed})

    assert [(each.status_code, each.json()["code"]) for each in (moved, asked)] == [(409, "draft_moved")] * 2
    assert "has changed since it was reviewed" in moved.json()["message"]
    assert (done.status_code, done.json()["digest"]) == (201, reviewed), done.content


def test_a_request_for_what_is_live_already_takes_force(program: Any, published: Any) -> None:
    publisher = program("publish")
    wanted = {"message": "x", "expected_live": published.snapshot_id, "publish_at": _tomorrow()}

    refused = publisher.post("publish-requests", wanted)
    forced = publisher.post("publish-requests", {**wanted, "force": True})

    assert [each["code"] for each in refused.json()["details"]] == ["nothing_changed"]
    assert (refused.status_code, forced.status_code) == (422, 201), forced.content


def _tomorrow() -> str:
    return (timezone.now() + timedelta(days=1)).isoformat()


def test_a_publication_needs_a_message(program: Any, draft: Any) -> None:
    answer = program("publish").post("publications", {"message": " ", "expected_live": ""})

    assert answer.status_code in {400, 422}
    assert "message" in {detail["path"] for detail in answer.json()["details"]}


def test_rolling_back_is_one_more_publication(program: Any, published: Any) -> None:
    admin = program("policy_read", "policy_write", "publish")
    agent = admin.get("agents").json()["results"][0]
    admin.ask("PATCH", f"agents/{agent['id']}", {"version": agent["version"], "deny": []})
    second = admin.post("publications", {"message": "open", "expected_live": published.snapshot_id}).json()
    first = admin.get("publications").json()[-1]

    back = admin.post(
        "publications/rollback", {"publication": first["id"], "message": "back", "expected_live": second["digest"]}
    )

    assert back.status_code == 201
    assert back.json() | {"number": 3, "digest": first["digest"], "rollback_of": first["id"]} == back.json()


def test_a_snapshot_answers_with_its_digest_and_not_twice(program: Any, published: Any) -> None:
    reader = program("policy_read")

    whole = reader.get("snapshots/live")
    again = reader.get("snapshots/live", **{"If-None-Match": whole.headers["ETag"]})

    assert whole.headers["ETag"] == f'"{published.snapshot_id}"'
    assert whole.json()["dialect"] == "2026.9"
    assert (again.status_code, again.content) == (304, b"")
    assert reader.get("snapshots/" + "0" * 64).status_code == 404


def test_nothing_is_live_before_the_first_publication(program: Any, draft: Any) -> None:
    assert program("policy_read").get("snapshots/live").status_code == 404


def test_explain_names_layer_and_rule(program: Any, published: Any) -> None:
    answer = program("explain").post("explain", {"context": {"agent_id": "main"}, "tool": "exec"})

    assert answer.status_code == 200
    decision = answer.json()["decision"]
    assert (decision["allowed"], decision["layer"], decision["label"]) == (False, "agent", "agents.main.tools.allow")
    assert decision["rule"] == "agents.main.tools.deny exec"
    assert [step["label"] for step in answer.json()["steps"] if step["removed_here"]] == ["agents.main.tools.allow"]


def test_explain_names_the_setting_behind_each_word_of_a_command(program: Any, published: Any) -> None:
    asked = {"context": {"agent_id": "ops-runner"}, "tool": "exec", "params": {"command": "ls", "ask": "always"}}
    found = program("explain").post("explain", asked).json()["exec"]
    assert found["security"] == {"value": "allowlist", "source": "default"}
    assert found["ask"] == {"value": "always", "source": "params.ask"}
    assert found["host"]["value"] == "gateway"
    assert found["elevated"] == {"value": "refused", "source": "channel"}
    assert found["refusal"] is None
    refused = program("explain").post("explain", asked | {"params": {"host": "sandbox"}}).json()["exec"]["refusal"]
    assert refused["code"] == "sandbox_missing"
    other = program("explain").post("explain", {"context": {"agent_id": "main"}, "tool": "read"}).json()
    assert other["exec"] is None


def test_explain_lists_what_every_layer_removes(program: Any, published: Any) -> None:
    answer = program("explain").post("explain", {"context": {"agent_id": "main"}, "at": "draft"}).json()

    removed = {removal["tool"]: layer["key"] for layer in answer["layers"] for removal in layer["removed"]}
    assert removed["exec"] == "agent"
    assert "exec" not in answer["allowed"]
    assert set(removed).isdisjoint(answer["allowed"])


def test_a_context_that_cannot_be_read_is_named(program: Any, published: Any) -> None:
    answer = program("explain").post("explain", {"context": {"depth": 3}})

    assert answer.status_code == 400
    assert [detail["path"] for detail in answer.json()["details"]] == ["context.depth"]


def test_changes_since_the_publication_are_listed(program: Any, published: Any) -> None:
    admin = program("policy_read", "policy_write")
    assert admin.get("draft/changes").json() == []
    agent = admin.get("agents").json()["results"][0]

    admin.ask("PATCH", f"agents/{agent['id']}", {"version": agent["version"], "deny": ["exec", "read"]})

    [change] = admin.get("draft/changes").json()
    assert (change["record"], change["field"]) == (agent["id"], "deny")
    assert (change["before"], change["after"]) == (["exec"], ["exec", "read"])
    assert change["url"] == f"/api/v1/agents/{agent['id']}"
    assert admin.get(change["url"].removeprefix("/api/v1/")).json()["deny"] == ["exec", "read"]


def test_changes_of_grants_filters_and_tools_are_listed_with_their_addresses(
    program: Any, published: Any, environment: Any
) -> None:
    admin = program("policy_read", "policy_write")
    records.permission_grant_create(environment, "reads", by=None, permissions=["db:read"], agent="main")
    records.content_filter_create(environment, "cards", by=None, pattern="[0-9]{16}", action="mask")
    registry.tool_set_state(
        registry.tool_register(environment, Definition(name="lookup", description="Look a word up.")),
        state=ToolState.ACTIVE,
    )
    registry.tool_save(named(environment, "read"), fields={"owner_only": True}, expected_version=None)
    registry.tool_set_state(named(environment, "write"), state=ToolState.DISABLED)

    changes = admin.get("draft/changes").json()

    told = {(each["kind"], each["label"].rpartition(".")[2], each["action"], each["field"]) for each in changes}
    assert told == {
        ("permission_grant", "reads", "created", ""),
        ("content_filter", "cards", "created", ""),
        ("tool", "lookup", "created", ""),
        ("tool", "read", "changed", "owner_only"),
        ("tool", "write", "deleted", ""),
    }
    assert [each["action"] for each in changes if not each["url"]] == ["deleted"]
    for each in changes:
        if each["url"]:
            assert each["record"] in admin.get(each["url"].removeprefix("/api/v1/")).content.decode()


@pytest.mark.parametrize(("at", "status"), [("%00", 422), ("x" * 300, 404), ("0" * 64, 404)])
def test_what_is_no_digest_of_a_snapshot_is_not_found(program: Any, published: Any, at: str, status: int) -> None:
    assert program("policy_read").get(f"snapshots/{at}").status_code == status


def test_a_database_that_is_away_is_said_so(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> Any:
        raise OperationalError("the connection is lost: password=hush")

    monkeypatch.setattr("apps.api.scope.environments", away)
    answer = program("policy_read").get("registry/tools")
    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
    assert "hush" not in answer.content.decode()


def test_two_snapshots_are_compared_block_by_block_and_by_their_effect(program: Any, published: Any) -> None:
    admin = program("policy_read", "policy_write")
    agent = admin.get("agents").json()["results"][0]
    admin.ask("PATCH", f"agents/{agent['id']}", {"version": agent["version"], "deny": []})

    found = admin.get("snapshots/diff").json()
    back = admin.get(f"snapshots/diff?a=draft&b={published.snapshot_id}").json()

    (block,) = found["blocks"]
    assert (block["action"], block["kind"], block["place"]) == ("changed", "agent", "agents.main.tools")
    assert block["members"] == ["deny"]
    assert (found["a"], back["b"]) == (published.snapshot_id, published.snapshot_id)
    assert [change["gained"] for change in found["blast"]["changes"]] == [["exec"]]
    assert [change["lost"] for change in back["blast"]["changes"]] == [["exec"]]
    assert found["blast"]["contexts"] > found["blast"]["unchanged"] > 0
    assert admin.get("snapshots/diff?a=" + "0" * 64).status_code == 404
    assert program("explain").get("snapshots/diff").status_code == 403


def test_another_release_is_previewed_and_spoken(program: Any, published: Any) -> None:
    admin = program("policy_read", "policy_write")

    found = admin.get("upgrade").json()

    assert (found["before"], found["after"]) == ("2026.9", "2026.2")
    assert "catalogue" in {cause["cause"] for cause in found["causes"]}
    assert {agent for change in found["commands"] for agent in change["agents"]} == {"main", "*"}
    assert admin.get("upgrade?to=2025.1").status_code == 400
    assert program("policy_read").post("upgrade", {"release": "2026.2"}).status_code == 403
    assert admin.post("upgrade", {"release": "2026.2"}).json()["release"] == "2026.2"
    assert admin.get("upgrade").json()["after"] == "2026.9"
