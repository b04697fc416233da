"""Connections that are kept between requests: looked at before each use, and asked now and then."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from openclaw_admin.postgresql import base


@pytest.fixture
def kept(transactional_db: None) -> Iterator[Any]:
    """A connection of its own that is checked, as outside of tests."""
    connection = connections["default"].copy()
    connection.settings_dict = connection.settings_dict | {"CONN_HEALTH_CHECKS": True, "CONN_MAX_AGE": None}
    connection.ensure_connection()
    try:
        yield connection
    finally:
        connection.close()


def pid_in_a_new_use(connection: Any) -> int:
    connection.close_if_unusable_or_obsolete()  # what stands between two requests
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def test_one_that_stands_is_used_again_without_a_question(kept: Any) -> None:
    first = pid_in_a_new_use(kept)
    questions: list[str] = []
    asked = kept.is_usable

    def is_usable() -> bool:
        questions.append("SELECT 1")
        return bool(asked())

    kept.is_usable = is_usable
    assert [pid_in_a_new_use(kept) for _ in range(3)] == [first] * 3
    assert questions == []


def test_one_that_the_server_ended_is_replaced_at_once(kept: Any) -> None:
    first = pid_in_a_new_use(kept)
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 30000)", [first])
    assert pid_in_a_new_use(kept) != first


def test_one_that_was_not_asked_for_seconds_is_asked(kept: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = pid_in_a_new_use(kept)
    monkeypatch.setattr(base, "ASKED_EVERY_S", 0.0)
    monkeypatch.setattr(kept, "is_usable", lambda: False)
    assert pid_in_a_new_use(kept) != first


def test_within_a_request_nothing_is_looked_at(kept: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pid_in_a_new_use(kept)
    monkeypatch.setattr(base, "_is_quiet", lambda _: pytest.fail("it was looked at twice"))
    with CaptureQueriesContext(kept) as queries, kept.cursor() as cursor:
        cursor.execute("SELECT 1")
    assert len(queries) == 1


def test_a_new_one_plans_for_short_reads(kept: Any) -> None:
    with kept.cursor() as cursor:
        cursor.execute("SELECT current_setting('jit'), current_setting('max_parallel_workers_per_gather')")
        assert cursor.fetchone() == ("off", "0")
