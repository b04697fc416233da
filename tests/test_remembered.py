"""What a request remembers of what it read: nothing beyond itself, nothing after it wrote."""

import contextvars
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from apps.policies.changes import draft_mark
from apps.policies.selectors import live_publication, live_snapshot
from apps.policies.services import agent_create, document_import, publish
from apps.registry.models import Environment
from apps.registry.services import environment_default
from apps.remembered import forget, remembered, remembering

DOCUMENT = '{"agents": {"ownership": "explicit", "entries": {"bot": {}}}}'


@pytest.fixture
def published(environment: Any, admin: Any) -> Any:
    document_import(environment, DOCUMENT, by=admin)
    return publish(environment, by=admin, message="first", expected_live=None)


@pytest.fixture
def request_open() -> Iterator[None]:
    with remembering():
        yield


@pytest.mark.django_db
def test_a_request_asks_once(
    published: Any, environment: Any, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    live_snapshot(environment)  # is loaded once for all requests
    with remembering(), django_assert_num_queries(3):
        for _ in range(3):
            assert live_publication(environment) == published
            assert live_snapshot(environment) is not None
            draft_mark()


@pytest.mark.django_db
def test_outside_requests_nothing_is_remembered(
    published: Any, environment: Any, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(2):
        assert [live_publication(environment) for _ in range(2)] == [published, published]


@pytest.mark.django_db
def test_nothing_outlives_a_request(published: Any, environment: Any, admin: Any) -> None:
    for number in (1, 2):
        with remembering():
            live = live_publication(environment)
            assert live is not None and live.number == number
        publish(environment, by=admin, message="next", expected_live=live.snapshot_id)


@pytest.mark.django_db
def test_what_was_written_in_the_same_request_is_read(
    published: Any, environment: Any, admin: Any, request_open: None
) -> None:
    before = live_publication(environment), draft_mark()
    agent_create(environment, "next", by=admin)
    made = publish(environment, by=admin, message="second", expected_live=published.snapshot_id)
    assert before[0] == published
    assert live_publication(environment) == made
    assert draft_mark() != before[1]


@pytest.mark.django_db
def test_what_was_rolled_back_was_not_remembered(
    published: Any, environment: Any, admin: Any, request_open: None
) -> None:
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        publish(environment, by=admin, message="second", expected_live=published.snapshot_id)
        assert live_publication(environment) != published
        raise ZeroDivisionError
    assert live_publication(environment) == published


@pytest.mark.django_db
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE registry_environment SET position = position",
        "WITH gone AS (DELETE FROM policies_replay RETURNING id) SELECT count(*) FROM gone",
        "SELECT pg_advisory_xact_lock(7)",
        "SELECT id FROM registry_environment FOR NO KEY UPDATE",
    ],
)
def test_a_statement_that_writes_or_locks_ends_the_memory(
    statement: str,
    published: Any,
    environment: Any,
    request_open: None,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    live_publication(environment)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    with django_assert_num_queries(1):
        live_publication(environment)


@pytest.mark.django_db
def test_rows_that_no_statement_shows_are_announced(
    published: Any, environment: Any, request_open: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    live_publication(environment)
    forget()
    with django_assert_num_queries(1):
        live_publication(environment)


def test_that_there_is_nothing_is_remembered_too() -> None:
    asked: list[int] = []

    @remembered
    def nothing(number: int) -> None:
        asked.append(number)

    with remembering():
        assert nothing(1) is nothing(1) is nothing(2)
    assert asked == [1, 2]


@pytest.mark.django_db(transaction=True)
def test_a_write_of_another_thread_of_the_request_ends_it() -> None:
    environment = environment_default()

    def write() -> None:
        Environment.objects.filter(pk=environment.pk).update(position=environment.position)
        connection.close()

    with remembering():
        before = draft_mark()
        thread = threading.Thread(target=contextvars.copy_context().run, args=(write,))
        thread.start()
        thread.join()
        with CaptureQueriesContext(connection) as caught:
            assert draft_mark() == before
    assert len(caught) == 1


@pytest.mark.django_db
def test_the_page_after_a_publication_shows_it(published: Any, environment: Any, admin: Any, client_of: Any) -> None:
    browser: Client = client_of(admin)
    assert ">v1<" in browser.get("/snapshots/").content.decode()
    publish(environment, by=admin, message="second", expected_live=published.snapshot_id)
    assert ">v2<" in browser.get("/snapshots/").content.decode()
