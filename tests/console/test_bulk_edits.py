"""Bulk edits on the page and for programs: seen before they begin, watched while they go on."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from apps.policies.bulk.running import bulk_run
from apps.policies.models import Agent, BulkEdit
from apps.policies.services import record_update

ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}
CHANGE = {"action": "add", "list": "deny", "entry": "read", "agents": ["main", "ops-runner"]}


def started(browser: Client) -> Any:
    """Preview a change and begin it."""
    shown = browser.post("/bulk-edits/preview/", CHANGE)
    return browser.post("/bulk-edits/start/", CHANGE | {"seen": shown.context["preview"].seen})


def test_a_change_is_seen_then_begun_then_watched(draft: Any, client_of: ClientOf, admin: Any) -> None:
    browser = client_of(admin)
    shown = browser.post("/bulk-edits/preview/", CHANGE)
    assert shown.context["blast"].lose.agents == ("main", "ops-runner")
    assert not BulkEdit.objects.exists()
    page = started(browser).headers["Location"]
    text = browser.get(page, headers=HTMX).content.decode()
    assert text.startswith('<section class="panel" id="bulk-edit"')
    assert 'hx-trigger="every 1s"' in text
    edit = BulkEdit.objects.get()
    bulk_run(edit.pk, at=timezone.now())
    text = browser.get(page).content.decode()
    assert "2 of 2 agents" in text
    assert "every 1s" not in text
    assert all("read" in (agent.deny or ()) for agent in Agent.objects.all())
    assert "add read to “Deny”" in browser.get("/bulk-edits/").content.decode()


def test_all_agents_may_be_meant(draft: Any, client_of: ClientOf, admin: Any) -> None:
    shown = client_of(admin).post("/bulk-edits/preview/", CHANGE | {"agents": [], "everyone": "on"})
    assert shown.context["preview"].agents == 2


def test_agents_are_found_by_words_and_ticks_stay(draft: Any, client_of: ClientOf, admin: Any) -> None:
    record_update(Agent.objects.get(key="ops-runner"), {"labels": ["production"]}, by=admin, expected_version=1)
    browser = client_of(admin)
    page = browser.post("/bulk-edits/preview/", {"find": "1", "words": "PRODUC", "agents": ["main"], "entry": ""})
    assert page.status_code == 200
    assert [(agent.key, is_ticked) for agent, is_ticked in page.context["form"].boxes] == [
        ("main", True),
        ("ops-runner", False),
    ]
    assert "The 1 agent that matches" in page.content.decode()
    assert 'role="alert"' not in page.content.decode()
    none = browser.post("/bulk-edits/preview/", {"find": "1", "words": "<b>"}).content.decode()
    assert "No agent matches." in none
    assert "&lt;b&gt;" in none


def test_all_that_match_are_meant_and_no_others(draft: Any, client_of: ClientOf, admin: Any) -> None:
    browser = client_of(admin)
    wanted = CHANGE | {"agents": [], "everyone": "on", "words": "ops"}
    shown = browser.post("/bulk-edits/preview/", wanted)
    assert (shown.context["preview"].agents, shown.context["blast"].lose.agents) == (1, ("ops-runner",))
    browser.post("/bulk-edits/start/", wanted | {"seen": shown.context["preview"].seen})
    bulk_run(BulkEdit.objects.get().pk, at=timezone.now())
    assert [agent.key for agent in Agent.objects.all() if "read" in (agent.deny or ())] == ["ops-runner"]
    assert browser.post("/bulk-edits/preview/", wanted | {"words": "nobody"}).status_code == 422


def test_of_many_agents_some_have_a_box(draft: Any, client_of: ClientOf, admin: Any, environment: Any) -> None:
    bot = Agent.objects.get(key="main")
    Agent.objects.bulk_create(Agent(environment=bot.environment, key=f"a{number:03}") for number in range(150))
    page = client_of(admin).get("/bulk-edits/")
    assert len(page.context["form"].boxes) == 100
    assert "52 more match" in page.content.decode()


def test_a_draft_that_changed_since_the_preview_begins_nothing(draft: Any, client_of: ClientOf, admin: Any) -> None:
    browser = client_of(admin)
    seen = browser.post("/bulk-edits/preview/", CHANGE).context["preview"].seen
    record_update(Agent.objects.get(key="main"), {"deny": ["write"]}, by=admin, expected_version=1)
    answer = browser.post("/bulk-edits/start/", CHANGE | {"seen": seen})
    assert answer.status_code == 409
    assert "nothing was begun" in answer.content.decode()
    assert not BulkEdit.objects.exists()


@pytest.mark.parametrize(
    "wrong",
    [{"agents": []}, {"entry": ""}, {"list": "x"}, {"action": "x"}, {"agents": ["nobody"]}],
)
def test_mistakes_are_named(draft: Any, client_of: ClientOf, admin: Any, wrong: dict[str, Any]) -> None:
    for path in ("/bulk-edits/preview/", "/bulk-edits/start/"):
        answer = client_of(admin).post(path, CHANGE | wrong)
        assert answer.status_code == 422
        assert 'role="alert"' in answer.content.decode()


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer", "outsider"])
def test_only_an_admin_begins_one_and_readers_watch(
    name: str, draft: Any, client_of: ClientOf, admin: Any, request: pytest.FixtureRequest
) -> None:
    started(client_of(admin))
    browser = client_of(request.getfixturevalue(name))
    reads = 403 if name == "outsider" else 200
    page = f"/bulk-edits/{BulkEdit.objects.get().pk}/"
    assert {browser.get(path).status_code for path in ("/bulk-edits/", page)} == {reads}
    writes = 200 if name == "admin" else 403
    assert browser.post("/bulk-edits/preview/", CHANGE).status_code == writes
    assert (browser.post("/bulk-edits/start/", CHANGE).status_code == 403) is (name != "admin")
    assert BulkEdit.objects.count() == 1
    assert {browser.get(f"/bulk-edits/{part}/").status_code for part in ("preview", "start")} == {405}


def test_one_that_is_not_there_is_not_found(draft: Any, client_of: ClientOf, admin: Any) -> None:
    assert client_of(admin).get(f"/bulk-edits/{uuid4()}/").status_code == 404


def test_the_pages_ask_few_questions(
    draft: Any, client_of: ClientOf, admin: Any, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(admin)
    page = started(browser).headers["Location"]
    for path in ("/bulk-edits/", page):
        with django_assert_max_num_queries(25):
            assert browser.get(path).status_code == 200


def test_programs_ask_and_read(draft: Any, token: Any) -> None:
    _row, secret = token("policy_read", "policy_write")
    headers, path = {"Authorization": f"Bearer {secret}"}, "/api/v1/bulk-edits"
    wanted = {"action": "add", "list": "deny", "entry": "read", "agents": ["main"]}
    asked = Client().post(path, wanted, content_type="application/json", headers=headers)
    assert asked.status_code == 202
    bulk_run(BulkEdit.objects.get().pk, at=timezone.now())
    told = Client().get(f"{path}/{asked.json()['id']}", headers=headers).json()
    assert (told["state"], told["rows"]) == ("done", [{"agent": "main", "result": "done", "reason": ""}])
    assert [each["id"] for each in Client().get(path, headers=headers).json()] == [asked.json()["id"]]
    refused = Client().post(path, wanted | {"list": "x"}, content_type="application/json", headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (422, "bulk_edit_invalid")
    assert Client().get(f"{path}/{uuid4()}", headers=headers).status_code == 404
    _row, weak = token("policy_read")
    denied = Client().post(path, wanted, content_type="application/json", headers={"Authorization": f"Bearer {weak}"})
    assert denied.status_code == 403
