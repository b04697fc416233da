"""The list of agents: who sees it, what it says, who adds one."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools
from apps.policies.models import Agent
from apps.policies.selectors import draft_snapshot
from apps.policies.services import agent_create, record_update

ClientOf = Callable[..., Client]


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_it(name: str, client_of: ClientOf, published: Any, request: pytest.FixtureRequest) -> None:
    answer = client_of(request.getfixturevalue(name)).get("/agents/")
    assert answer.status_code == 200
    assert "ops-runner" in answer.content.decode()


def test_an_outsider_and_a_stranger_do_not(client_of: ClientOf, published: Any, outsider: Any) -> None:
    assert client_of(outsider).get("/agents/").status_code == 403
    assert client_of().get("/agents/").status_code == 302


def test_it_counts_the_tools_as_the_engine_does(client_of: ClientOf, published: Any, viewer: Any) -> None:
    answer = client_of(viewer).get("/agents/")
    rows = {row.record.key: row for row in answer.context["rows"]}
    wanted = len(allowed_tools(draft_snapshot(published), CallContext(agent_id="ops-runner")))
    assert rows["ops-runner"].allowed == rows["ops-runner"].allowed_live == wanted
    assert (rows["ops-runner"].exec.security, rows["ops-runner"].exec.ask) == ("allowlist", "on-miss")


def test_it_marks_what_differs_from_what_is_live(client_of: ClientOf, published: Any, viewer: Any, admin: Any) -> None:
    agent = Agent.objects.get(key="ops-runner")
    record_update(agent, {"deny": ["group:fs"]}, by=admin, expected_version=1)
    rows = {row.record.key: row for row in client_of(viewer).get("/agents/").context["rows"]}
    assert rows["ops-runner"].is_changed
    assert rows["ops-runner"].allowed < rows["ops-runner"].allowed_live
    assert not rows["main"].is_changed


def test_it_marks_lists_with_mistakes(client_of: ClientOf, draft: Any, viewer: Any, admin: Any) -> None:
    record_update(Agent.objects.get(key="main"), {"deny": ["git_hub__*"]}, by=admin, expected_version=1)
    rows = {row.record.key: row for row in client_of(viewer).get("/agents/").context["rows"]}
    assert rows["main"].remarks["warning"] == 1


def test_it_shows_fifty_at_once_and_finds_the_others(
    client_of: ClientOf, published: Any, viewer: Any, admin: Any, django_assert_max_num_queries: Any
) -> None:
    for number in range(55):
        agent_create(published, f"many-{number:02}", by=admin)
    browser = client_of(viewer)
    first = browser.get("/agents/").context["page"]
    assert (len(first.rows), first.first, first.earlier, first.later) == (50, 1, None, 2)
    with django_assert_max_num_queries(16):
        second = browser.get("/agents/", {"page": "2"}).context["page"]
    assert (second.first, second.last, second.count, second.earlier, second.later) == (
        51,
        first.count,
        first.count,
        1,
        None,
    )
    assert not {row.record.key for row in first.rows} & {row.record.key for row in second.rows}
    found = browser.get("/agents/", {"q": "Y-54"}).context["page"]
    assert [row.record.key for row in found.rows] == ["many-54"]
    assert browser.get("/agents/", {"page": "999999"}).context["page"].first == 51
    for odd in ("-1", "x", "1" * 40, "²"):
        assert browser.get("/agents/", {"page": odd}).context["page"].first == 1
    assert browser.get("/agents/", {"q": "nobody\0"}).status_code == 422
    nobody = browser.get("/agents/", {"q": "nobody"})
    assert "No agent's key or name holds that." in nobody.content.decode().replace("&#x27;", "'")


def test_without_agents_it_says_so(client_of: ClientOf, environment: Any, viewer: Any) -> None:
    assert "No agents yet" in client_of(viewer).get("/agents/").content.decode()


def test_more_agents_cost_no_more_queries(
    client_of: ClientOf, published: Any, viewer: Any, admin: Any, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(viewer)
    for number in range(12):
        agent_create(published, f"extra-{number}", by=admin, profile="minimal")
    browser.get("/agents/")
    with django_assert_max_num_queries(20):
        assert browser.get("/agents/").status_code == 200


def test_an_admin_adds_one_to_the_draft(client_of: ClientOf, published: Any, admin: Any) -> None:
    answer = client_of(admin).post("/agents/", {"key": "release-bot", "name": "Release", "profile": "minimal"})
    assert (answer.status_code, answer["Location"]) == (302, "/agents/release-bot/")
    agent = Agent.objects.get(key="release-bot")
    assert (agent.name, agent.profile, agent.allow) == ("Release", "minimal", None)


def test_a_second_agent_of_one_id_is_refused_beside_the_field(client_of: ClientOf, published: Any, admin: Any) -> None:
    answer = client_of(admin).post("/agents/", {"key": "main"})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()
    assert Agent.objects.filter(key="main").count() == 1


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_nobody_else_adds_one(name: str, client_of: ClientOf, published: Any, request: pytest.FixtureRequest) -> None:
    assert client_of(request.getfixturevalue(name)).post("/agents/", {"key": "mine"}).status_code == 403
    assert not Agent.objects.filter(key="mine").exists()


def test_a_hostile_key_is_escaped_and_has_its_page(client_of: ClientOf, draft: Any, viewer: Any, admin: Any) -> None:
    agent_create(draft, "<b>x/y\u202e", by=admin, deny=["<i>"])
    page = client_of(viewer).get("/agents/")
    text = page.content.decode()
    assert "<b>x" not in text
    assert "U+202E" in text
    row = next(row for row in page.context["rows"] if row.record.key.startswith("<b>"))
    from django.urls import reverse

    answer = client_of(viewer).get(reverse("agent", args=[row.record.key]))
    assert answer.status_code == 200
    assert "<i>" not in answer.content.decode()
