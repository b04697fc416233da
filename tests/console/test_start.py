"""How a policy begins: three ways, offered while there is neither a draft nor anything live."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.policies.selectors import agents, global_policy, live_publication
from apps.policies.services import agent_create, draft_start

pytestmark = pytest.mark.django_db
ClientOf = Callable[..., Client]


def test_the_first_page_leads_to_it_until_something_has_begun(
    client_of: ClientOf, admin: Any, environment: Any
) -> None:
    assert client_of(admin).get("/").headers["location"] == "/start/"
    draft_start(environment, by=admin)
    assert client_of(admin).get("/").status_code == 200
    assert 'action="/start/demo/"' not in client_of(admin).get("/start/?step=policy").content.decode()


def test_it_works_before_there_is_an_environment(client_of: ClientOf, admin: Any) -> None:
    assert client_of(admin).get("/start/").status_code == 200
    assert client_of(admin).post("/start/empty/").status_code == 302
    assert client_of(admin).get("/").status_code == 200


def test_reading_it_changes_nothing(client_of: ClientOf, admin: Any, environment: Any) -> None:
    client_of(admin).get("/start/")
    assert global_policy(environment) is None


def test_the_demo_becomes_the_draft_and_nothing_is_live(client_of: ClientOf, admin: Any, environment: Any) -> None:
    answer = client_of(admin).post("/start/demo/")
    assert (answer.status_code, answer.headers["location"]) == (302, "/publish/")
    assert agents(environment).filter(key="support-bot").exists()
    assert live_publication(environment) is None


def test_the_demo_is_not_loaded_over_agents(client_of: ClientOf, admin: Any, environment: Any) -> None:
    agent_create(environment, "mine", by=admin)
    answer = client_of(admin).post("/start/demo/", follow=True)
    assert "not loaded over them" in answer.content.decode()
    assert [agent.key for agent in agents(environment)] == ["mine"]


def test_an_empty_draft_leads_to_the_agents(client_of: ClientOf, admin: Any, environment: Any) -> None:
    answer = client_of(admin).post("/start/empty/")
    assert answer.headers["location"] == "/agents/"
    assert global_policy(environment) is not None


@pytest.mark.parametrize("path", ["/start/demo/", "/start/empty/"])
def test_only_a_post_begins(client_of: ClientOf, admin: Any, environment: Any, path: str) -> None:
    assert client_of(admin).get(path).status_code == 405
    assert global_policy(environment) is None


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer"])
def test_who_may_not_change_policies_sees_why_they_wait(
    client_of: ClientOf, environment: Any, name: str, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    page = browser.get("/start/?step=policy").content.decode()
    assert "An administrator has to begin." in page
    assert 'action="/start/demo/"' not in page
    assert browser.post("/start/demo/").status_code == 403
    assert browser.post("/start/empty/").status_code == 403
    assert global_policy(environment) is None


def test_strangers_are_kept_out(client_of: ClientOf, outsider: Any, environment: Any) -> None:
    assert client_of(outsider).get("/start/").status_code == 403
    assert client_of().get("/start/").status_code == 302
