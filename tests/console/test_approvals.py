"""The queue."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.test import Client
from django.utils import timezone

from apps.approvals.services import approval_resolve


def test_it_shows_what_waits_with_the_least_time_left_first(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    later, sooner = ask(left_s=900), ask(left_s=100)
    page = client_of(operator).get("/approvals/").content.decode()
    assert page.index(f'id="{sooner.shown_id}"') < page.index(f'id="{later.shown_id}"')
    assert 'data-count="2"' in page


def test_it_says_that_all_is_clear(client_of: Callable[..., Client], operator: Any, environment: Any) -> None:
    page = client_of(operator).get("/approvals/").content.decode()
    assert "All clear" in page
    assert 'class="ap"' not in page


def test_who_may_not_decide_sees_no_button(
    client_of: Callable[..., Client], viewer: Any, ask: Callable[..., Any]
) -> None:
    request = ask()
    page = client_of(viewer).get("/approvals/").content.decode()
    assert request.shown_id in page
    assert "data-do=" not in page
    assert "You can watch." in page


def test_it_shows_what_was_decided_and_by_whom(
    client_of: Callable[..., Client], operator: Any, viewer: Any, ask: Callable[..., Any]
) -> None:
    approval_resolve(ask(), decision="deny", by=operator, at=timezone.now(), reason="not now")
    page = client_of(viewer).get("/approvals/").content.decode()
    assert "Operator" in page
    assert "“not now”" in page


def test_a_request_of_another_environment_is_not_in_the_list(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any], environment: Any
) -> None:
    from apps.registry.models import Environment

    other = Environment.objects.create(slug="staging", name="Staging", position=9)
    foreign = ask(environment=other)
    assert foreign.shown_id not in client_of(operator).get("/approvals/").content.decode()


def test_its_queries_do_not_grow_with_the_queue(
    client_of: Callable[..., Client],
    operator: Any,
    ask: Callable[..., Any],
    django_assert_max_num_queries: Any,
) -> None:
    for number in range(5):
        ask(left_s=300 + number)
    browser = client_of(operator)
    browser.get("/approvals/")
    with django_assert_max_num_queries(11):
        assert browser.get("/approvals/").status_code == 200


def test_the_queue_alone_is_a_fragment(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    request = ask()
    part = client_of(operator).get("/approvals/queue/", headers={"hx-request": "true"}).content.decode()
    assert part.startswith('<div id="queue" role="feed"')
    assert request.shown_id in part


def test_status_carries_counts_and_people_for_their_places(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    from apps.console import presence

    approval = ask()
    presence.tab_seen(approval.environment.slug, "tab-1", username="anna", name="Anna")
    part = client_of(operator).get("/approvals/status/", headers={"hx-request": "true"}).content.decode()
    assert 'hx-target="#nav-approvals"' in part
    assert 'data-count="1"' in part
    assert "Anna" in part


def test_an_expired_request_no_longer_waits(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    expired = ask(left_s=-1)
    assert expired.expires_at <= timezone.now() + timedelta(seconds=1)
    page = client_of(operator).get("/approvals/").content.decode()
    assert f'id="{expired.shown_id}"' not in page
