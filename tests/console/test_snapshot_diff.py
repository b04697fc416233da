"""Any two snapshots beside each other: what differs, and what is refused."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from apps.policies.errors import SnapshotUntrustedError
from apps.policies.models import StoredSnapshot
from apps.policies.selectors import agent_get, live_publication
from apps.policies.services import document_import, publish, record_update
from apps.registry.services import environment_create

pytestmark = pytest.mark.django_db
ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}
DOCUMENT = '{"agents": {"ownership": "explicit", "entries": {"bot": {"tools": {"allow": ["read"]}}, "ops": {}}}}'


def _publish(environment: Any, by: Any, message: str, *denied: str) -> Any:
    agent = agent_get(environment, "bot")
    assert agent is not None
    record_update(agent, {"deny": list(denied)}, by=by, expected_version=agent.version)
    live = live_publication(environment)
    return publish(environment, by=by, message=message, expected_live=live.snapshot_id if live else None)


@pytest.fixture
def three(environment: Any, admin: Any) -> list[Any]:
    document_import(environment, DOCUMENT, by=admin)
    return [_publish(environment, admin, "v", *denied) for denied in ([], ["read"], ["<i>x</i>\u202e"])]


def test_the_history_lets_two_be_chosen(client_of: ClientOf, viewer: Any, three: Any) -> None:
    page = client_of(viewer).get("/snapshots/").content.decode()
    assert 'action="/snapshots/diff/"' in page
    assert 'name="a" value="2" checked' in page
    assert 'name="b" value="3" checked' in page
    assert 'name="b" value="draft"' in page


def test_blocks_show_line_by_line_what_differs(client_of: ClientOf, viewer: Any, three: Any) -> None:
    page = client_of(viewer).get("/snapshots/diff/?a=1&b=2").content.decode()
    assert "1 block of policy differs." in page
    assert "agents.bot.tools" in page
    assert "<ins>read</ins>" in page
    assert "/snapshots/diff/blast/?a=1&amp;b=2" in page
    assert "/snapshots/diff/?a=2&amp;b=1" in page


def test_the_blast_radius_tells_who_loses_what(client_of: ClientOf, viewer: Any, three: Any) -> None:
    browser = client_of(viewer)
    lost = browser.get("/snapshots/diff/blast/?a=1&b=2", headers=HTMX).content.decode()
    assert "Compared with v1." in lost
    assert ">read</span>" in lost
    assert "Nobody gains a tool." in lost
    back = browser.get("/snapshots/diff/blast/?a=2&b=1", headers=HTMX).content.decode()
    assert "Nobody loses a tool." in back
    assert "<html" in browser.get("/snapshots/diff/blast/?a=1&b=2").content.decode()


def test_the_draft_can_be_one_of_them(client_of: ClientOf, admin: Any, environment: Any, three: Any) -> None:
    agent = agent_get(environment, "bot")
    assert agent is not None
    record_update(agent, {"deny": ["message"]}, by=admin, expected_version=agent.version)
    page = client_of(admin).get("/snapshots/diff/?a=3&b=draft").content.decode()
    assert "From v3 to the draft" in page
    assert "<ins>message</ins>" in page
    assert "<i>x</i>" not in page
    assert "\u202e" not in page


def test_the_same_one_twice_says_so(client_of: ClientOf, viewer: Any, three: Any) -> None:
    assert "Both are the same snapshot." in client_of(viewer).get("/snapshots/diff/?a=2&b=2").content.decode()


def test_without_a_choice_it_leads_to_the_history(client_of: ClientOf, viewer: Any, three: Any) -> None:
    assert client_of(viewer).get("/snapshots/diff/").headers["location"] == "/snapshots/"


@pytest.mark.parametrize("query", ["a=9&b=1", "a=x&b=1", "a=1", "b=1", "a=1&b=-1"])
def test_what_was_never_published_is_not_found(client_of: ClientOf, viewer: Any, three: Any, query: str) -> None:
    browser = client_of(viewer)
    assert browser.get(f"/snapshots/diff/?{query}").status_code == 404
    assert browser.get(f"/snapshots/diff/blast/?{query}").status_code == 404


def test_numbers_are_those_of_the_chosen_environment(client_of: ClientOf, admin: Any, three: Any) -> None:
    other = environment_create(slug="staging")
    document_import(other, DOCUMENT, by=admin)
    publish(other, by=admin, message="one", expected_live=None)
    browser = client_of(admin)
    browser.post("/environment/", {"environment": "staging", "next": "/"})
    assert browser.get("/snapshots/diff/?a=1&b=1").status_code == 200
    assert browser.get("/snapshots/diff/?a=1&b=2").status_code == 404


def test_a_snapshot_that_cannot_be_trusted_is_not_compared(
    client_of: ClientOf, viewer: Any, three: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def untrusted(publication: Any) -> Any:
        raise SnapshotUntrustedError("the signature does not fit")

    monkeypatch.setattr("apps.console.views.snapshot_diff.publication_snapshot", untrusted)
    page = client_of(viewer).get("/snapshots/diff/?a=1&b=2").content.decode()
    assert "One of the two cannot be used." in page
    assert "the signature does not fit" in page


def test_going_back_leads_to_what_it_would_change(client_of: ClientOf, admin: Any, three: Any) -> None:
    page = client_of(admin).get(reverse("snapshot", args=[three[0].pk])).content.decode()
    assert "/snapshots/diff/?a=3&amp;b=1" in page


def test_the_number_of_queries_is_bounded(
    client_of: ClientOf, admin: Any, three: Any, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    browser = client_of(admin)
    with django_assert_max_num_queries(14):
        assert browser.get("/snapshots/diff/?a=1&b=3").status_code == 200


@pytest.mark.parametrize("path", ["/snapshots/diff/", "/snapshots/diff/blast/"])
def test_who_may_read_policy_may_compare(
    client_of: ClientOf, operator: Any, auditor: Any, viewer: Any, outsider: Any, three: Any, path: str
) -> None:
    for person, status in ((operator, 200), (auditor, 200), (viewer, 200), (outsider, 403)):
        assert client_of(person).get(f"{path}?a=1&b=2").status_code == status
    assert client_of().get(f"{path}?a=1&b=2").status_code == 302
    assert client_of(viewer).post(f"{path}?a=1&b=2").status_code == 405
    assert StoredSnapshot.objects.count() == 3
