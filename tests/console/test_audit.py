"""The list of calls, with the URL as its state."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.drafts import EntryDecision, EntryDraft, EntryKind
from apps.audit.following import follow
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id, show_id


def test_a_call_is_one_line(client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]) -> None:
    shown = show_id("call", called(agent="one-line"))
    page = client_of(auditor).get("/audit/?agent=one-line").content.decode()
    assert page.count(f'id="row-{shown}"') == 1
    assert page.count('id="row-') == 1


def test_htmx_gets_the_part_that_changes(client_of: Callable[..., Client], auditor: Any, environment: Any) -> None:
    part = client_of(auditor).get("/audit/", headers={"hx-request": "true"}).content.decode()
    assert part.lstrip().startswith('<div id="audit"')


def test_going_back_in_the_browser_gets_the_whole_page(
    client_of: Callable[..., Client], auditor: Any, environment: Any
) -> None:
    headers = {"hx-request": "true", "hx-history-restore-request": "true"}
    assert client_of(auditor).get("/audit/", headers=headers).content.startswith(b"<!doctype html>")


def test_filters_stay_in_the_url_and_can_be_removed_one_by_one(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]
) -> None:
    called(agent="chips")
    page = client_of(auditor).get("/audit/?agent=chips&tool=read&span=all").content.decode()
    assert 'href="/audit/?tool=read&amp;span=all"' in page
    assert 'href="/audit/?agent=chips&amp;span=all"' in page


def test_what_nothing_matches_says_so(client_of: Callable[..., Client], auditor: Any, environment: Any) -> None:
    page = client_of(auditor).get("/audit/?agent=nobody-at-all").content.decode()
    assert "No calls match" in page


def test_a_filter_that_cannot_be_read_is_named(
    client_of: Callable[..., Client], auditor: Any, environment: Any
) -> None:
    answer = client_of(auditor).get("/audit/?since=yesterday")
    assert answer.status_code == 422
    assert "`yesterday` is not a date" in answer.content.decode()


@pytest.mark.parametrize(
    "query",
    [
        "since=2026-03-29T02:30",
        "until=2026-03-29T02:30&since=2026-03-29T01:30",
        "since=2026-10-25T02:30&until=2026-10-25T02:31",
        "since=2026-03-29&until=2026-03-29",
    ],
)
def test_an_hour_that_a_clock_leaves_out_or_repeats_filters_as_any_other(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any], query: str
) -> None:
    called(agent="changes-of-clocks")
    browser = client_of(auditor)
    browser.post("/audit/display/", {"time_zone": "Europe/Berlin"})
    answer = browser.get(f"/audit/?agent=changes-of-clocks&{query}")
    assert answer.status_code == 200
    assert "Europe/Berlin" in answer.content.decode()


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_a_report_takes_the_day_of_a_change_of_clocks(
    client_of: Callable[..., Client], auditor: Any, environment: Any, day: str
) -> None:
    assert client_of(auditor).get(f"/audit/reports/?from={day}&to={day}").status_code == 200


def test_a_foreign_cursor_is_refused(client_of: Callable[..., Client], auditor: Any, environment: Any) -> None:
    assert client_of(auditor).get("/audit/?after=%3Cscript%3E").status_code == 422


def test_older_pages_follow_by_cursor(
    client_of: Callable[..., Client], auditor: Any, environment: Any, called: Callable[..., Any]
) -> None:
    for _ in range(51):
        entry_record(
            EntryDraft(
                kind=EntryKind.DENIAL,
                environment=environment.slug,
                agent="paged",
                tool="exec",
                call_id=new_id(),
                status="denied",
                decision=EntryDecision(verdict="deny", layer="agent"),
            )
        )
    browser = client_of(auditor)
    first = browser.get("/audit/?agent=paged")
    assert first.content.decode().count('id="row-') == 50
    second = browser.get("/audit/", {"agent": "paged", "after": first.context["older"]})
    assert second.content.decode().count('id="row-') >= 1
    assert second.context["older"] is None


def test_hostile_params_are_escaped(client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]) -> None:
    called(agent="hostile", session_key="<i>\u202e", params={"command": "<script>alert(1)</script>\u202e"})
    page = client_of(auditor).get("/audit/?agent=hostile").content.decode()
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert "U+202E" in page


def test_a_call_of_another_environment_is_not_listed(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]
) -> None:
    called(agent="elsewhere", environment="staging")
    assert "No calls match" in client_of(auditor).get("/audit/?agent=elsewhere").content.decode()


def test_its_queries_do_not_grow_with_the_list(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any], django_assert_max_num_queries: Any
) -> None:
    for _ in range(5):
        called(agent="counted")
    browser = client_of(auditor)
    with django_assert_max_num_queries(20):
        assert browser.get("/audit/?agent=counted").status_code == 200
    assert follow(limit_s=60.0) == 0  # what others recorded is not for this page to follow
    with django_assert_max_num_queries(36):  # the tallies of all time, of which the search itself is followed first
        assert browser.get("/audit/?agent=counted&span=all").context["total"].is_exact


def test_what_is_new_is_counted_since_the_page_was_read(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]
) -> None:
    called(agent="newer")
    browser = client_of(auditor)
    page = browser.get("/audit/?agent=newer")
    called(agent="newer")
    called(agent="newer")
    part = browser.get("/audit/new/", {"agent": "newer", "newest": page.context["newest_at"]}).content.decode()
    assert "2 new calls" in part


def test_what_is_new_without_an_instant_is_nothing(
    client_of: Callable[..., Client], auditor: Any, environment: Any
) -> None:
    assert client_of(auditor).get("/audit/new/?newest=x").status_code == 204


def test_the_chart_comes_as_data_with_a_sentence_and_a_table(
    client_of: Callable[..., Client], auditor: Any, called: Callable[..., Any]
) -> None:
    called(agent="chart")
    answer = client_of(auditor).get("/audit/?agent=chart")
    assert sum(answer.context["chart"]["data"][1]) == 1
    assert 'aria-label="Calls from' in answer.content.decode()
    assert timezone.now() - answer.context["histogram"].since <= timedelta(hours=25)


def test_the_address_names_only_what_is_filtered(
    client_of: Callable[..., Client], auditor: Any, environment: Any
) -> None:
    headers = {"hx-request": "true"}
    answer = client_of(auditor).get("/audit/?q=&tool=exec&agent=&status=", headers=headers)
    assert answer["HX-Push-Url"] == "/audit/?tool=exec"
