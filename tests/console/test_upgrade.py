"""The preview of another release: what it tells, who may switch, and that looking changes nothing."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.audit.models import Entry
from apps.firewall.tools.definition import Definition
from apps.registry.models import Environment
from apps.registry.services import plugin_save, tools_import

pytestmark = pytest.mark.django_db
ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}


def _release(environment: Any) -> str:
    return Environment.objects.get(pk=environment.pk).dialect


def test_it_leads_to_the_start_while_nothing_has_begun(client_of: ClientOf, admin: Any, environment: Any) -> None:
    assert client_of(admin).get("/upgrade/").headers["location"] == "/start/"
    assert client_of(admin).get("/upgrade/difference/").headers["location"] == "/start/"


def test_the_page_asks_for_the_difference_and_offers_the_switch(client_of: ClientOf, admin: Any, draft: Any) -> None:
    page = client_of(admin).get("/upgrade/").content.decode()
    assert "From OpenClaw 2026.9 to 2026.2" in page
    assert 'hx-get="/upgrade/difference/?to=2026.2"' in page
    assert 'name="release" value="2026.2"' in page


def test_causes_and_commands_are_told(client_of: ClientOf, viewer: Any, draft: Any) -> None:
    fragment = client_of(viewer).get("/upgrade/difference/?to=2026.2", headers=HTMX).content.decode()
    assert fragment.strip().startswith('<div class="stack" id="upgrade-difference">')
    assert 'id="cause-catalogue"' in fragment
    assert "Tools that OpenClaw brings" in fragment
    assert "Defaults of commands" in fragment
    assert "<code>gateway</code>" in fragment
    assert "<html" in client_of(viewer).get("/upgrade/difference/").content.decode()


def test_the_switch_is_made_and_on_record(client_of: ClientOf, admin: Any, published: Any) -> None:
    answer = client_of(admin).post("/upgrade/", {"release": "2026.2"}, follow=True)
    assert _release(published) == "2026.2"
    assert "The draft speaks 2026.2 now." in answer.content.decode()
    entry = Entry.objects.filter(kind="policy_change").latest("seq")
    assert entry.changes is not None and entry.changes["fields"] == {"dialect": "2026.2"}
    assert entry.actor == "user:admin"


@pytest.mark.parametrize("release", ["", "2025.1", "2026.9"])
def test_a_release_that_is_no_other_one_is_refused(client_of: ClientOf, admin: Any, draft: Any, release: str) -> None:
    assert client_of(admin).post("/upgrade/", {"release": release}).status_code == 422
    assert _release(draft) == "2026.9"


def test_a_name_that_is_taken_stands_in_the_way(client_of: ClientOf, admin: Any, draft: Any) -> None:
    tools_import(draft, [Definition(name="image")], source="plugin", plugin=plugin_save(draft, key="c"))
    browser = client_of(admin)
    assert "This cannot be compared." in browser.get("/upgrade/difference/", headers=HTMX).content.decode()
    answer = browser.post("/upgrade/", {"release": "2026.2"})
    assert answer.status_code == 422
    assert "Not changed." in answer.content.decode()
    assert _release(draft) == "2026.9"


def test_the_number_of_queries_is_bounded(
    client_of: ClientOf, admin: Any, draft: Any, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    browser = client_of(admin)
    with django_assert_max_num_queries(25):
        assert browser.get("/upgrade/").status_code == 200
    with django_assert_max_num_queries(25):
        assert browser.get("/upgrade/difference/", headers=HTMX).status_code == 200


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_only_administrators_switch(client_of: ClientOf, draft: Any, name: str, request: pytest.FixtureRequest) -> None:
    browser = client_of(request.getfixturevalue(name))
    assert browser.get("/upgrade/").status_code == (403 if name == "outsider" else 200)
    assert browser.post("/upgrade/", {"release": "2026.2"}).status_code == 403
    assert _release(draft) == "2026.9"


def test_strangers_are_asked_to_sign_in(client_of: ClientOf, draft: Any) -> None:
    assert client_of().get("/upgrade/").status_code == 302
