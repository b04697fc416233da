"""Files of the ledger to take away."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.exporting import export_run
from apps.audit.exports import exports_of


@pytest.mark.parametrize(
    ("name", "status"), [("admin", 200), ("auditor", 200), ("operator", 403), ("viewer", 403), ("outsider", 403)]
)
def test_only_who_may_export_asks_for_a_file(
    name: str, status: int, request: pytest.FixtureRequest, client_of: Callable[..., Client], environment: Any
) -> None:
    browser = client_of(request.getfixturevalue(name))
    answer = browser.post("/exports/", {"format": "csv", "query": ""}, headers={"hx-request": "true"})
    assert answer.status_code == status


def test_get_asks_for_nothing(client_of: Callable[..., Client], auditor: Any, environment: Any) -> None:
    assert client_of(auditor).get("/exports/").status_code == 405
    assert exports_of(auditor) == []


def test_an_unknown_format_is_refused(client_of: Callable[..., Client], auditor: Any, environment: Any) -> None:
    answer = client_of(auditor).post("/exports/", {"format": "exe"}, headers={"hx-request": "true"})
    assert answer.status_code == 422
    assert exports_of(auditor) == []


def test_it_asks_again_every_second_until_the_file_can_be_taken(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]
) -> None:
    called(agent="exported")
    browser = client_of(auditor)
    first = browser.post("/exports/", {"format": "jsonl", "query": "agent=exported"}, headers={"hx-request": "true"})
    assert 'hx-trigger="every 1s"' in first.content.decode()
    (export,) = exports_of(auditor)
    export_run(export.pk, at=timezone.now())

    then = browser.get(f"/exports/{export.pk}/").content.decode()
    assert "every 1s" not in then
    assert f"/exports/{export.pk}/file/" in then
    taken = browser.get(f"/exports/{export.pk}/file/")
    assert b"exported" in b"".join(taken.streaming_content)  # type: ignore[attr-defined]
    assert taken["Content-Disposition"].startswith("attachment")


def test_a_file_belongs_to_whoever_asked_for_it(
    client_of: Callable[..., Client], auditor: Any, admin: Any, environment: Any
) -> None:
    client_of(auditor).post("/exports/", {"format": "csv"}, headers={"hx-request": "true"})
    (export,) = exports_of(auditor)
    assert client_of(admin).get(f"/exports/{export.pk}/").status_code == 404
    assert client_of(admin).get(f"/exports/{export.pk}/file/").status_code == 404


def test_each_file_says_which_filter_it_had_and_the_page_what_a_row_is(
    client_of: Callable[..., Client], auditor: Any, environment: Any
) -> None:
    browser = client_of(auditor)
    query = "agent=exported&status=denied&q=tool:exec%20rm&span=all"
    shown = browser.post("/exports/", {"format": "csv", "query": query}, headers={"hx-request": "true"})
    page = browser.get("/audit/exports/").content.decode()

    for told in (shown.content.decode(), page):
        words = " ".join(re.sub(r"<[^>]+>", "", told).split())
        assert "Agent: exported" in words and "Tool: exec" in words and "Status: denied" in words
        assert "Words: rm" in words
    assert "one for its intent and one for its outcome" in page
    assert "one for its intent and one for its outcome" in browser.get("/audit/").content.decode()
