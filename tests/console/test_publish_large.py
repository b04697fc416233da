"""The review of a large draft: its page answers at once and waits for the review, which a script or a link fetches."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.console.reviewing import AT_ONCE
from apps.policies.models import SenderRule
from apps.policies.selectors import draft_snapshot, live_publication
from apps.policies.services import agent_create, document_import, publish
from tests.markup import read

pytestmark = pytest.mark.django_db
ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}
PARTS = ("publish-head", "publish-form", "publish-requests")

DOCUMENT = """{
  "agents": {"ownership": "explicit", "entries": {"bot": {"tools": {"allow": ["read", "exce"]}}}}
}"""


@pytest.fixture
def large(environment: Any, admin: Any) -> Any:
    """An environment with more rules than are reviewed at once, published, and changed since."""
    document_import(environment, DOCUMENT, by=admin)
    SenderRule.objects.bulk_create(
        SenderRule(environment=environment, key=f"id:{number}", position=number, deny=["exec"])
        for number in range(AT_ONCE)
    )
    publish(environment, by=admin, message="first", expected_live=None)
    agent_create(environment, "next", by=admin)
    return environment


def test_the_page_waits_for_what_takes_long(
    client_of: ClientOf, admin: Any, large: Any, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    browser = client_of(admin)
    with django_assert_max_num_queries(25):
        page = browser.get("/publish/").content.decode()
    root = read(page)
    waiting = [each for each in root.walk() if each.get("hx-get") == "/publish/review/"]
    assert [(each.get("id"), each.get("hx-trigger"), each.get("aria-busy")) for each in waiting] == [
        ("review", "load", "true")
    ]
    assert {each.get("id") for each in root.walk()} >= set(PARTS)
    assert "Locked until the draft is reviewed." in page
    assert 'name="message"' not in page
    assert 'href="/publish/?now"' in page


def test_the_review_fills_the_parts_of_the_page(client_of: ClientOf, admin: Any, large: Any) -> None:
    answer = client_of(admin).get("/publish/review/", headers=HTMX).content.decode()
    root = read(answer)
    filled = {each.get("hx-target") for each in root.walk() if each.tag == "hx-partial"}
    assert filled == {f"#{part}" for part in PARTS}
    assert {each.get("id") for each in root.walk()} >= {"review", "findings", *PARTS}
    assert "did you mean `exec`?" in answer
    assert 'name="message"' in answer
    assert "1 change since v1" in answer


def test_what_was_reviewed_once_comes_with_the_page(client_of: ClientOf, admin: Any, large: Any) -> None:
    browser = client_of(admin)
    browser.get("/publish/review/", headers=HTMX)
    assert "did you mean `exec`?" in browser.get("/publish/").content.decode()
    agent_create(large, "another", by=admin)
    assert "did you mean `exec`?" not in browser.get("/publish/").content.decode()


def test_without_scripts_the_page_comes_with_its_review(client_of: ClientOf, admin: Any, large: Any) -> None:
    browser = client_of(admin)
    assert browser.get("/publish/review/").headers["location"] == "/publish/?now"
    page = browser.get("/publish/?now").content.decode()
    assert "did you mean `exec`?" in page
    assert 'name="message"' in page
    assert "/publish/review/" not in page


@pytest.mark.usefixtures("empty_ledger")  # nothing was called, so nothing need be replayed
def test_publishing_reviews_by_itself(client_of: ClientOf, admin: Any, large: Any) -> None:
    live = live_publication(large)
    assert live is not None
    browser = client_of(admin)
    browser.get("/publish/")
    answer = browser.post("/publish/", {"message": "next", "expected_live": live.snapshot_id})
    assert answer.status_code == 302
    live = live_publication(large)
    assert live is not None and live.snapshot_id == draft_snapshot(large).digest


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer"])
def test_other_roles_wait_for_the_same_review(
    client_of: ClientOf, large: Any, name: str, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    assert 'hx-get="/publish/review/"' in browser.get("/publish/").content.decode()
    assert "Publishing needs the role administrator." in browser.get("/publish/review/", headers=HTMX).content.decode()


def test_strangers_are_kept_out(client_of: ClientOf, outsider: Any, large: Any) -> None:
    assert client_of(outsider).get("/publish/review/").status_code == 403
    assert client_of().get("/publish/review/").status_code == 302
