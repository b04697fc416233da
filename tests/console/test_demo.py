"""The page of the demo: what goes and what stays, and removing it by one action."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.policies.selectors import agent_get, agents
from apps.policies.services import agent_create, demo_import, publish, record_update

pytestmark = pytest.mark.django_db
ClientOf = Callable[..., Client]


@pytest.fixture
def loaded(environment: Any, admin: Any) -> Any:
    demo_import(environment, by=admin)
    publish(environment, by=admin, message="the demo", expected_live="")
    return environment


def page(browser: Client) -> str:
    answer = browser.get("/demo/")
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_overview_says_that_it_is_demo_data_until_it_is_removed(
    client_of: ClientOf, admin: Any, loaded: Any
) -> None:
    browser = client_of(admin)
    assert "This is demo data." in browser.get("/").content.decode()

    browser.post("/demo/remove/")

    assert "This is demo data." not in browser.get("/").content.decode()


def test_the_page_names_what_goes_and_what_stays_before_anything_goes(
    client_of: ClientOf, admin: Any, loaded: Any
) -> None:
    mine = agent_get(loaded, "main")
    assert mine is not None
    record_update(mine, {"deny": ["browser"]}, by=admin, expected_version=mine.version)

    text = page(client_of(admin))

    assert "Remove the demo" in text
    assert "somebody changed it" in text
    assert "What the ledger holds" in text
    assert "v1 is live" in text
    assert agents(loaded).count() >= 6


def test_one_action_removes_it_and_a_second_one_finds_nothing(client_of: ClientOf, admin: Any, loaded: Any) -> None:
    browser = client_of(admin)
    assert "The demo was removed." in browser.post("/demo/remove/", follow=True).content.decode()
    assert not agents(loaded).exists()
    again = browser.post("/demo/remove/", follow=True).content.decode()
    assert "Nothing of the demo was left to remove." in again
    assert "No demo data here." in again


def test_what_others_made_is_no_part_of_it(client_of: ClientOf, admin: Any, loaded: Any) -> None:
    agent_create(loaded, "mine", by=admin)
    client_of(admin).post("/demo/remove/")
    assert [agent.key for agent in agents(loaded)] == ["mine"]


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer"])
def test_who_may_not_change_policies_may_look(
    client_of: ClientOf, loaded: Any, name: str, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    text = page(browser)
    assert "Read-only." in text
    assert 'action="/demo/remove/"' not in text
    assert browser.post("/demo/remove/").status_code == 403
    assert agents(loaded).exists()


def test_strangers_are_kept_out(client_of: ClientOf, outsider: Any, loaded: Any) -> None:
    assert client_of(outsider).get("/demo/").status_code == 403
    assert client_of().get("/demo/").status_code == 302


def test_get_removes_nothing(client_of: ClientOf, admin: Any, loaded: Any) -> None:
    assert client_of(admin).get("/demo/remove/").status_code == 405
    assert agents(loaded).exists()


def test_it_can_be_loaded_again(client_of: ClientOf, admin: Any, loaded: Any) -> None:
    client_of(admin).post("/demo/remove/")
    demo_import(loaded, by=admin)
    assert agents(loaded).count() >= 6


def test_it_asks_few_questions(
    client_of: ClientOf, admin: Any, loaded: Any, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    mine = agent_get(loaded, "main")
    assert mine is not None
    record_update(mine, {"deny": ["browser"]}, by=admin, expected_version=mine.version)
    browser = client_of(admin)
    with django_assert_max_num_queries(25):
        page(browser)
