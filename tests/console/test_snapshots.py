"""Publications: the list, one of them with its difference, and the way back."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from apps.policies.history import publication_change_counts
from apps.policies.selectors import agent_get, live_publication, publications
from apps.policies.services import document_import, publish, record_update
from apps.registry.services import environment_create

pytestmark = pytest.mark.django_db
ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}

DOCUMENT = (
    '{"agents": {"ownership": "explicit", "entries": {"bot": {"tools": {"allow": ["read", "exec"]}}, "ops": {}}}}'
)


def _publish(environment: Any, by: Any, message: str, *denied: str) -> Any:
    agent = agent_get(environment, "bot")
    assert agent is not None
    record_update(agent, {"deny": list(denied)}, by=by, expected_version=agent.version)
    live = live_publication(environment)
    return publish(environment, by=by, message=message, expected_live=live.snapshot_id if live else None)


@pytest.fixture
def two(environment: Any, admin: Any) -> tuple[Any, Any]:
    """Two publications; the second one takes exec from bot."""
    document_import(environment, DOCUMENT, by=admin)
    return _publish(environment, admin, "first"), _publish(environment, admin, "no <b>exec</b>\u202e", "exec")


def test_the_list_marks_what_is_live(client_of: ClientOf, viewer: Any, two: Any) -> None:
    page = client_of(viewer).get("/snapshots/").content.decode()
    assert page.index(">v2<") < page.index(">v1<")
    assert page.count("lab allow") == 1
    assert "<b>exec" not in page
    assert "\u202e" not in page


def test_an_empty_list_leads_to_the_review(client_of: ClientOf, viewer: Any, environment: Any) -> None:
    page = client_of(viewer).get("/snapshots/").content.decode()
    assert "Nothing was published yet" in page
    assert 'href="/publish/"' in page


@pytest.mark.slow
def test_the_list_goes_on_under_a_number(client_of: ClientOf, admin: Any, environment: Any, two: Any) -> None:
    for number in range(25):
        _publish(environment, admin, f"more {number}", *(["exec"] if number % 2 else []))
    browser = client_of(admin)
    assert "?before=3" in browser.get("/snapshots/").content.decode()
    older = browser.get("/snapshots/?before=3").content.decode()
    assert ">v2<" in older
    assert ">v27<" not in older.replace('">v27</a></span>', "")
    assert browser.get("/snapshots/?before=x").status_code == 200


def test_each_publication_counts_the_records_it_changed(environment: Any, two: Any) -> None:
    first, second = two
    counts = publication_change_counts(environment, [second, first])
    assert counts[second.pk] == 1
    assert counts[first.pk] == 3  # the global record and two agents


def test_the_number_of_queries_does_not_grow_with_the_list(
    client_of: ClientOf, admin: Any, environment: Any, two: Any, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(8):
        _publish(environment, admin, f"more {number}", *(["exec"] if number % 2 else []))
    browser = client_of(admin)
    with django_assert_max_num_queries(14):
        assert browser.get("/snapshots/").status_code == 200


def test_a_snapshot_shows_its_facts_and_a_download(client_of: ClientOf, viewer: Any, two: Any) -> None:
    first, _ = two
    page = client_of(viewer).get(reverse("snapshot", args=[first.pk])).content.decode()
    assert first.snapshot_id in page
    assert f"/api/v1/snapshots/{first.snapshot_id}" in page
    assert "checked" in page
    assert "Rolling back needs the role administrator." in page


def test_its_difference_is_from_the_one_before_or_a_chosen_one(client_of: ClientOf, viewer: Any, two: Any) -> None:
    first, second = two
    browser = client_of(viewer)
    url = reverse("snapshot-difference", args=[second.pk])
    fragment = browser.get(url, headers=HTMX).content.decode()
    assert "Compared with v1." in fragment
    assert ">exec</span>" in fragment
    back = browser.get(reverse("snapshot-difference", args=[first.pk]) + "?with=2", headers=HTMX).content.decode()
    assert "Compared with v2." in back
    assert "Nobody loses a tool." in back
    assert "<html" in browser.get(url).content.decode()


def test_rolling_back_publishes_again_and_leaves_the_draft(
    client_of: ClientOf, admin: Any, environment: Any, two: Any
) -> None:
    first, second = two
    form = {"message": "back", "expected_live": second.snapshot_id}
    answer = client_of(admin).post(reverse("snapshot-rollback", args=[first.pk]), form, follow=True)
    page = answer.content.decode()
    live = live_publication(environment)
    assert live is not None
    assert (live.number, live.rollback_of_id, live.snapshot_id) == (3, first.pk, first.snapshot_id)
    agent = agent_get(environment, "bot")
    assert agent is not None
    assert agent.deny == ["exec"]
    assert "The draft is unchanged." in page
    assert reverse("snapshot-reset-draft", args=[live.pk]) in page


def test_the_draft_is_reset_to_a_publication(client_of: ClientOf, admin: Any, environment: Any, two: Any) -> None:
    first, _ = two
    answer = client_of(admin).post(reverse("snapshot-reset-draft", args=[first.pk]))
    agent = agent_get(environment, "bot")
    assert answer.headers["location"] == "/publish/"
    assert agent is not None
    assert not agent.deny


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_who_was_faster_is_told(
    client_of: ClientOf, admin: Any, environment: Any, two: Any, headers: dict[str, str]
) -> None:
    first, second = two
    _publish(environment, admin, "third", "read")
    form = {"message": "back", "expected_live": second.snapshot_id}
    answer = client_of(admin).post(reverse("snapshot-rollback", args=[first.pk]), form, headers=headers)
    assert answer.status_code == 409
    assert "Admin published v3 in the meantime." in answer.content.decode()
    assert publications(environment).count() == 3


@pytest.mark.parametrize(("at", "message"), [(0, ""), (1, "what is live already")])
def test_what_cannot_be_rolled_back_says_why(
    client_of: ClientOf, admin: Any, environment: Any, two: Any, at: int, message: str
) -> None:
    form = {"message": message, "expected_live": two[1].snapshot_id}
    answer = client_of(admin).post(reverse("snapshot-rollback", args=[two[at].pk]), form, headers=HTMX)
    assert answer.status_code == 422
    assert publications(environment).count() == 2


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_only_administrators_go_back(
    client_of: ClientOf, environment: Any, two: Any, name: str, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    form = {"message": "back", "expected_live": two[1].snapshot_id}
    assert browser.post(reverse("snapshot-rollback", args=[two[0].pk]), form).status_code == 403
    assert browser.post(reverse("snapshot-reset-draft", args=[two[0].pk])).status_code == 403
    assert publications(environment).count() == 2


@pytest.mark.parametrize("name", ["snapshot-rollback", "snapshot-reset-draft"])
def test_reading_changes_nothing(client_of: ClientOf, admin: Any, environment: Any, two: Any, name: str) -> None:
    assert client_of(admin).get(reverse(name, args=[two[0].pk])).status_code == 405
    client_of(admin).get(reverse("snapshot", args=[two[0].pk]))
    assert publications(environment).count() == 2


def test_another_environments_publication_is_not_found(client_of: ClientOf, admin: Any, two: Any) -> None:
    other = environment_create(slug="staging")
    document_import(other, DOCUMENT, by=admin)
    theirs = publish(other, by=admin, message="staging", expected_live=None)
    browser = client_of(admin)
    assert browser.get(reverse("snapshot", args=[theirs.pk])).status_code == 404
    assert browser.get(reverse("snapshot-difference", args=[theirs.pk])).status_code == 404
    form = {"message": "x", "expected_live": two[1].snapshot_id}
    assert browser.post(reverse("snapshot-rollback", args=[theirs.pk]), form).status_code == 404


def test_strangers_are_kept_out(client_of: ClientOf, outsider: Any, environment: Any) -> None:
    assert client_of(outsider).get("/snapshots/").status_code == 403
    assert client_of().get("/snapshots/").status_code == 302
