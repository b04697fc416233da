"""Content filters in the console: the list, the form, and texts that are only tried."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.policies.models import ContentFilter
from apps.policies.services import content_filter_create, record_update

ClientOf = Callable[..., Client]

TYPED = {"key": "cards", "pattern": "[0-9]{16}", "where": "both", "action": "mask", "tools": "", "message": ""}
NUMBER = "4111111111111111"


@pytest.fixture
def cards(published: Any, admin: Any) -> ContentFilter:
    return content_filter_create(published, "cards", by=admin, pattern="[0-9]{16}", tools=["read", "web_*"])


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_them(
    name: str, client_of: ClientOf, cards: ContentFilter, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))

    assert browser.get("/filters/").status_code == 200
    assert browser.get(f"/filters/{cards.pk}/").status_code == 200


def test_who_may_not_write_policy_changes_nothing(
    client_of: ClientOf, cards: ContentFilter, viewer: Any, outsider: Any
) -> None:
    browser = client_of(viewer)

    assert browser.post("/filters/new/", TYPED).status_code == 403
    assert browser.post(f"/filters/{cards.pk}/", TYPED | {"version": "1"}).status_code == 403
    assert browser.post(f"/filters/{cards.pk}/delete/", {"version": "1"}).status_code == 403
    assert client_of(outsider).get("/filters/").status_code == 403
    assert ContentFilter.objects.get().tools == ["read", "web_*"]


def test_without_filters_the_page_says_what_that_means(client_of: ClientOf, published: Any, viewer: Any) -> None:
    assert "No filters yet" in client_of(viewer).get("/filters/").content.decode()


def test_a_filter_is_added_changed_and_removed(client_of: ClientOf, published: Any, admin: Any) -> None:
    browser = client_of(admin)

    assert browser.post("/filters/new/", TYPED | {"tools": "read\nweb_*"}).status_code == 302
    made = ContentFilter.objects.get()
    assert (made.tools, made.action) == (["read", "web_*"], "mask")

    assert browser.post(f"/filters/{made.pk}/", TYPED | {"version": "1", "action": "block"}).status_code == 302
    made.refresh_from_db()
    assert (made.tools, made.action) == ([], "block")

    for unread in ("", "²", "1"):
        assert browser.post(f"/filters/{made.pk}/delete/", {"version": unread}).status_code == 409
    assert browser.post(f"/filters/{made.pk}/delete/", {"version": "2"}).status_code == 302
    assert not ContentFilter.objects.exists()


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"pattern": "(a+)+"}, "pattern"), ({"pattern": ""}, "pattern"), ({"action": "eat"}, "action")],
)
def test_a_mistake_stands_beside_its_field(
    client_of: ClientOf, published: Any, admin: Any, changes: dict[str, str], field: str
) -> None:
    answer = client_of(admin).post("/filters/new/", TYPED | changes)

    assert answer.status_code == 422
    assert field in answer.context["form"].errors


def test_the_slower_of_two_editors_sees_both_sides(client_of: ClientOf, cards: ContentFilter, admin: Any) -> None:
    record_update(cards, {"action": "warn"}, by=admin, expected_version=1)

    answer = client_of(admin).post(f"/filters/{cards.pk}/", TYPED | {"version": "1", "action": "block"})

    assert answer.status_code == 409
    sides = {side.label: (side.theirs, side.yours) for side in answer.context["conflict"].fields}
    assert sides["What happens"] == (("warn",), ("block",))


def test_a_text_is_tried_and_nothing_is_kept(client_of: ClientOf, cards: ContentFilter, viewer: Any) -> None:
    browser = client_of(viewer)

    masked = browser.post("/filters/", {"text": f"pay {NUMBER}"}, headers={"HX-Request": "true"})
    assert "pay [masked by cards]" in masked.content.decode()
    assert NUMBER not in masked.content.decode()
    assert (
        "it passes as it is"
        in browser.post("/filters/", {"text": "nothing"}, headers={"HX-Request": "true"}).content.decode()
    )
    assert browser.post("/filters/", {"text": NUMBER}).status_code == 200


def test_a_text_is_tried_with_the_filter_as_it_is_typed(client_of: ClientOf, cards: ContentFilter, admin: Any) -> None:
    typed = TYPED | {"action": "block", "message": "no cards", "do": "try", "text": NUMBER}

    answer = client_of(admin).post(f"/filters/{cards.pk}/", typed, headers={"HX-Request": "true"})

    assert "no cards" in answer.content.decode()
    cards.refresh_from_db()
    assert cards.action == "mask"


def test_an_expression_that_is_refused_says_why_when_it_is_tried(
    client_of: ClientOf, published: Any, admin: Any
) -> None:
    typed = TYPED | {"pattern": "(a+)+", "do": "try", "text": "aaa"}

    assert (
        "repeat inside a repeat"
        in client_of(admin).post("/filters/new/", typed, headers={"HX-Request": "true"}).content.decode()
    )


def test_the_pages_cost_a_bounded_number_of_queries(
    client_of: ClientOf, cards: ContentFilter, admin: Any, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(admin)
    browser.get("/filters/")
    with django_assert_max_num_queries(10):
        assert browser.get("/filters/").status_code == 200
    with django_assert_max_num_queries(9):
        assert browser.get(f"/filters/{cards.pk}/").status_code == 200
