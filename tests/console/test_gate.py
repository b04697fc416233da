"""Each page asks who it is, before anything else."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

CAST = ("admin", "operator", "auditor", "viewer", "outsider")
# Page, and who of the cast may open it.
PAGES = {
    "/approvals/": {"admin", "operator", "auditor", "viewer"},
    "/approvals/queue/": {"admin", "operator", "auditor", "viewer"},
    "/approvals/status/": {"admin", "operator", "auditor", "viewer"},
    "/audit/": {"admin", "operator", "auditor"},
    "/audit/new/?newest=2026-11-20T12:00:00%2B00:00": {"admin", "operator", "auditor"},
    "/users/": {"admin"},
    "/tokens/": {"admin"},
    "/settings/": set(CAST),
    "/password/": set(CAST),
}
FRAGMENT = re.compile("queue|status|/new/")
LISTS = (
    "/agents/",
    "/tools/",
    "/explorer/",
    "/sessions/",
    "/approvals/history/",
    "/approvals/fatigue/",
    "/audit/exports/",
    "/audit/reports/",
    "/halts/",
)


@pytest.mark.parametrize("path", PAGES)
def test_a_page_opens_for_those_who_may_and_for_nobody_else(
    path: str, request: pytest.FixtureRequest, client_of: Callable[..., Client], environment: Any
) -> None:
    for name in CAST:
        status = client_of(request.getfixturevalue(name)).get(path).status_code
        assert status == (200 if name in PAGES[path] else 403), name


@pytest.mark.parametrize("path", PAGES)
def test_nobody_is_sent_to_sign_in(path: str, client: Client, db: None) -> None:
    answer = client.get(path)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/sign-in/?next=")


def test_a_fragment_without_a_session_reloads_the_page(client: Client, db: None) -> None:
    answer = client.get("/approvals/queue/", headers={"hx-request": "true"})
    assert (answer.status_code, answer["HX-Refresh"]) == (401, "true")


@pytest.mark.parametrize("path", [*(each for each in PAGES if not FRAGMENT.search(each)), *LISTS])
def test_the_back_button_gets_a_whole_page_that_no_browser_keeps(
    client_of: Callable[..., Client], admin: Any, environment: Any, path: str
) -> None:
    headers = {"hx-request": "true", "hx-history-restore-request": "true"}
    answer = client_of(admin).get(path, headers=headers)
    assert (answer.status_code, "no-store" in answer["Cache-Control"]) == (200, True)
    assert answer.content.lstrip().lower().startswith(b"<!doctype html>")


def test_a_page_is_never_kept_by_a_proxy(client_of: Callable[..., Client], viewer: Any, environment: Any) -> None:
    assert "no-store" in client_of(viewer).get("/approvals/")["Cache-Control"]


def test_a_person_who_was_switched_off_is_out_at_the_next_click(
    client_of: Callable[..., Client], admin: Any, viewer: Any, environment: Any
) -> None:
    browser = client_of(viewer)
    client_of(admin).post(f"/users/{viewer.shown_id}/active/", {"active": "no"})
    assert browser.get("/approvals/").status_code == 302
