"""The smallest fix for programs: asked for, taken, refused where somebody was faster."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.policies.models import Agent
from apps.policies.services import record_update

ASKED = {"context": {"agent_id": "main"}, "tool": "exec"}


@pytest.fixture
def editor(program: Callable[..., Any]) -> Any:
    return program("explain", "policy_read", "policy_write")


def test_it_gives_the_edits_with_what_else_they_change(draft: Any, editor: Any) -> None:
    found = editor.post("explain/fix", ASKED).json()
    agent = Agent.objects.get()
    assert found["edits"] == [
        {
            "kind": "agent",
            "record": str(agent.pk),
            "version": 1,
            "field": "deny",
            "entry": "exec",
            "is_added": False,
            "path": "agents.entries.main.tools.deny",
        }
    ]
    assert (found["tool"], found["allowed"], found["opened"], found["closed"]) == ("exec", False, [], [])
    (effect,) = found["effects"]
    assert effect["tool"] == "exec"
    assert 0 < effect["opened"] <= found["contexts"]
    assert found["blast"] is None


def test_it_says_who_gains_what_in_the_same_contexts(draft: Any, editor: Any) -> None:
    found = editor.post("explain/fix", ASKED | {"with_blast": True}).json()
    (effect,), blast = found["effects"], found["blast"]
    assert blast["contexts"] == found["contexts"]
    assert [(change["gained"], change["agents"]) for change in blast["changes"]] == [(["exec"], ["main"])]
    assert blast["changes"][0]["contexts"] == effect["opened"] == blast["contexts"] - blast["unchanged"]


def test_its_edits_go_into_the_draft_as_they_are(draft: Any, editor: Any) -> None:
    edits = editor.post("explain/fix", ASKED).json()["edits"]
    answer = editor.post("draft/edits", {"edits": edits})
    assert answer.status_code == 200
    agent = Agent.objects.get()
    assert agent.deny == []
    assert answer.json() == [{"kind": "agent", "record": str(agent.pk), "version": 2}]
    decision = editor.post("explain", ASKED | {"at": "draft"}).json()["decision"]
    assert decision["allowed"]


def test_a_record_that_changed_since_is_a_conflict(draft: Any, editor: Any, admin: Any) -> None:
    edits = editor.post("explain/fix", ASKED).json()["edits"]
    record_update(Agent.objects.get(), {"deny": ["exec", "read"]}, by=admin, expected_version=1)
    answer = editor.post("draft/edits", {"edits": edits})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
    assert Agent.objects.get().deny == ["exec", "read"]


def test_what_no_list_decides_names_the_layer(draft: Any, editor: Any) -> None:
    context = {"agent_id": "main", "channel": "telegram", "sender_id": "7", "sender_is_owner": False}
    found = editor.post("explain/fix", {"context": context, "tool": "gateway"}).json()
    assert (found["edits"], found["effects"], found["beyond"]) == ([], [], ["owner_only"])


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"context": {"agent_id": "main"}, "tool": "nosuch"}, "tool_unknown"),
        ({"context": {"agent_id": 1}, "tool": "exec"}, "invalid_request"),
        ({"context": {}}, "invalid_request"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(body: Any, code: str, draft: Any, editor: Any) -> None:
    answer = editor.post("explain/fix", body)
    assert answer.status_code in (400, 422)
    assert answer.json()["code"] == code


@pytest.mark.parametrize("body", [{}, {"edits": []}, {"edits": [{"kind": "agent"}]}, {"edits": "exec"}])
def test_what_are_no_edits_is_refused(body: Any, draft: Any, editor: Any) -> None:
    assert editor.post("draft/edits", body).status_code in (400, 422)


def test_only_lists_of_tools_are_edited(draft: Any, editor: Any) -> None:
    agent = Agent.objects.get()
    edit = {"kind": "agent", "record": str(agent.pk), "version": 1, "field": "name", "entry": "x", "is_added": True}
    answer = editor.post("draft/edits", {"edits": [edit]})
    assert (answer.status_code, answer.json()["code"]) == (422, "record_invalid")


def test_a_record_that_is_gone_is_not_found(draft: Any, editor: Any) -> None:
    edit = {
        "kind": "agent",
        "record": "6f2f4b1e-0000-4000-8000-000000000000",
        "version": 1,
        "field": "deny",
        "entry": "x",
        "is_added": True,
    }
    assert editor.post("draft/edits", {"edits": [edit]}).status_code == 404


def test_scopes_are_asked_for(draft: Any, program: Callable[..., Any]) -> None:
    assert program().post("explain/fix", ASKED).status_code == 401
    assert program("policy_read").post("explain/fix", ASKED).status_code == 403
    reader = program("explain", "policy_read")
    assert reader.post("explain/fix", ASKED).status_code == 200
    assert reader.post("draft/edits", {"edits": []}).status_code == 403
