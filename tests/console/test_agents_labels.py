"""Labels of agents: written in the agent's form, kept beside OpenClaw's document, found by guardrails."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.policies.document.writing import write_tree
from apps.policies.files import files_export
from apps.policies.guardrails import guardrails_checked
from apps.policies.models import Agent
from apps.policies.selectors import draft_change_count, draft_snapshot, live_publication
from apps.policies.services import draft_discard, files_apply, guardrail_create, publish, record_update

ClientOf = Callable[..., Client]
PAGE = "/agents/ops-runner/"
VALUES = {"version": "1", "labels": "production\nEU west"}


def agent(key: str = "ops-runner") -> Agent:
    return Agent.objects.get(key=key)


@pytest.fixture
def labelled(published: Any, admin: Any) -> Any:
    record_update(agent(), {"labels": ["production"]}, by=admin, expected_version=1)
    return published


def test_they_are_saved_to_the_draft_and_shown_beside_what_is_live(
    client_of: ClientOf, published: Any, admin: Any
) -> None:
    browser = client_of(admin)
    assert browser.post(PAGE, VALUES).status_code == 302
    assert (agent().labels, draft_change_count(published)) == (["production", "EU west"], 1)
    page = browser.get(PAGE)
    assert (page.context["fields"][-1].added, page.context["changed"]) == (2, 1)
    assert browser.post(f"{PAGE}discard/").status_code == 302
    assert agent().labels == []


@pytest.mark.parametrize("labels", ["a*", "label:x", "prod\nPROD", "x" * 65, "\n".join(f"l{n}" for n in range(33))])
def test_what_is_no_label_is_refused_beside_the_field(
    labels: str, client_of: ClientOf, published: Any, admin: Any
) -> None:
    answer = client_of(admin).post(PAGE, VALUES | {"labels": labels})
    assert (answer.status_code, agent().labels) == (422, [])
    assert [mistake.name for mistake in answer.context["mistakes"]] == ["labels"]


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_nobody_else_writes_them(
    name: str, client_of: ClientOf, published: Any, request: pytest.FixtureRequest
) -> None:
    assert client_of(request.getfixturevalue(name)).post(PAGE, VALUES).status_code == 403
    assert agent().labels == []


def test_a_second_editor_sees_both_sides(client_of: ClientOf, labelled: Any, admin: Any) -> None:
    answer = client_of(admin).post(PAGE, VALUES | {"labels": "pilot"})
    assert answer.status_code == 409
    (field,) = answer.context["conflict"].fields
    assert (field.name, field.theirs, field.yours) == ("labels", ("production",), ("pilot",))


def test_agents_are_found_by_them(client_of: ClientOf, labelled: Any, viewer: Any) -> None:
    page = client_of(viewer).get("/agents/?q=PRODUCT")
    assert [row.record.key for row in page.context["rows"]] == ["ops-runner"]
    assert "production" in page.content.decode()


def test_openclaw_is_not_told_of_them_and_a_repository_keeps_them(labelled: Any, admin: Any) -> None:
    assert "production" not in json.dumps(write_tree(labelled))
    files = files_export(labelled)
    assert json.loads(files["guards.json"])["agentLabels"] == {"ops-runner": ["production"]}
    assert not files_apply(labelled, files, by=admin).is_changed
    guards = json.dumps({"agentLabels": {"main": ["pilot"], "ops-runner": []}})
    assert files_apply(labelled, {"guards.json": guards}, by=admin).counts["changed"] == 2
    assert (agent().labels, agent("main").labels) == ([], ["pilot"])


def test_a_discard_brings_back_those_that_are_live(labelled: Any, admin: Any) -> None:
    live = live_publication(labelled)
    assert live is not None
    publish(labelled, by=admin, message="x", expected_live=live.snapshot_id)
    record_update(agent(), {"labels": []}, by=admin, expected_version=2)
    draft_discard(labelled, by=admin)
    assert agent().labels == ["production"]


def test_a_guardrail_finds_whoever_has_one(labelled: Any, admin: Any) -> None:
    form = {"requires": "never", "tools": ["exec"], "agents": ["label:production"]}
    guardrail_create(labelled, by=admin, name="no commands in production", form=form)
    (found,) = guardrails_checked(labelled, draft_snapshot(labelled))
    assert found.check is not None
    assert found.check.agents == ("ops-runner",)
