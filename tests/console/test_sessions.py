"""The list of sessions and the page of one: who sees what, what they do, how many queries they take."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.models import Entry
from apps.sessions.models import Session
from apps.sessions.services import session_end
from tests.sessions.conftest import take_step

Browser = Callable[..., Client]
HTMX = {"hx-request": "true"}


@pytest.fixture
def made(environment: Any) -> Session:
    for _ in range(3):
        take_step(environment.slug, "main", run="turn-7", at=timezone.now(), channel="telegram")
    take_step(environment.slug, "agent:bot:subagent:1", spawned_by="main", at=timezone.now())
    return Session.objects.get(key="agent:bot:main")


def url(session: Session, *parts: str) -> str:
    return "/".join(["/sessions", session.shown_id, *parts, ""])


def test_sessions_are_listed_with_their_last_call(client_of: Browser, auditor: Any, made: Session) -> None:
    page = client_of(auditor).get("/sessions/").content.decode()

    assert page.count('<tr id="row-ses_') == 2
    assert "agent:bot:main" in page and "telegram" in page
    assert 'hx-trigger="every 5s"' in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q=subagent", 1),
        ("channel=telegram", 1),
        ("state=ended", 0),
        ("agent=bot", 2),
        ("agent=clerk", 0),
        ("state=x", 2),
    ],
)
def test_the_list_keeps_to_its_filters(client_of: Browser, auditor: Any, made: Session, query: str, found: int) -> None:
    page = client_of(auditor).get(f"/sessions/?{query}").content.decode()

    assert page.count('<tr id="row-ses_') == found
    assert ("No sessions match" in page) is (found == 0)


def test_without_sessions_the_page_says_how_one_appears(client_of: Browser, auditor: Any, environment: Any) -> None:
    assert "No sessions yet" in client_of(auditor).get("/sessions/").content.decode()


def test_htmx_gets_the_list_alone(client_of: Browser, auditor: Any, made: Session) -> None:
    part = client_of(auditor).get("/sessions/", headers=HTMX).content.decode()

    assert part.lstrip().startswith('<div id="session-list"')


def test_a_cursor_that_is_none_is_refused(client_of: Browser, auditor: Any, environment: Any) -> None:
    answer = client_of(auditor).get("/sessions/?after=x")

    assert (answer.status_code, "cannot be read" in answer.content.decode()) == (422, True)


def test_older_sessions_follow_by_cursor_with_the_filters_kept(
    client_of: Browser, auditor: Any, environment: Any
) -> None:
    at = timezone.now()
    Session.objects.bulk_create(
        Session(environment=environment, agent="bot", key=f"k{n}", started_at=at, last_call_at=at) for n in range(51)
    )
    browser = client_of(auditor)
    first = browser.get("/sessions/?agent=bot")
    second = browser.get(first.context["older"])

    assert "agent=bot" in first.context["older"]
    assert [len(page.context["rows"]) for page in (first, second)] == [50, 1]


def test_the_page_of_a_session_shows_its_calls_runs_tree_and_what_repeats(
    client_of: Browser, auditor: Any, made: Session, called: Callable[..., Any]
) -> None:
    called(agent="bot", session_key="main", tool="web_fetch")
    called(agent="bot", session_key="elsewhere", tool="other_tool")
    page = client_of(auditor).get(url(made)).content.decode()

    assert "web_fetch" in page and "other_tool" not in page
    assert "turn-7" in page
    assert "agent:bot:subagent:1" in page
    assert "3 times" in page and "2 with the same end" in page
    assert "session_key=main" in page


def test_text_of_strangers_is_shown_as_text(client_of: Browser, auditor: Any, environment: Any) -> None:
    take_step(environment.slug, "<i>\u202e", at=timezone.now(), channel="<b>", run="<u>", tool="<s>")
    browser = client_of(auditor)
    pages = [browser.get("/sessions/"), browser.get(url(Session.objects.get()))]

    for page in pages:
        text = page.content.decode()
        assert not any(tag in text for tag in ("<i>\u202e", "<b>\u202e", "<s>", "\u202e"))
        assert "U+202E" in text


def test_a_history_that_cannot_be_read_is_shown_as_such(client_of: Browser, auditor: Any, made: Session) -> None:
    Session.objects.filter(pk=made.pk).update(loops={"format": 99})

    assert "The history cannot be read" in client_of(auditor).get(url(made)).content.decode()


def test_an_operator_ends_and_reopens_a_session(client_of: Browser, operator: Any, made: Session) -> None:
    browser = client_of(operator)
    ended = browser.post(url(made, "end"), {"reason": "enough"}, follow=True).content.decode()
    are_open = {each.is_open for each in Session.objects.all()}
    reopened = browser.post(url(made, "reopen"), follow=True).content.decode()

    assert "This session was ended" in ended and "enough" in ended
    assert are_open == {False}
    assert "This session was ended" not in reopened
    assert (
        Entry.objects.filter(kind="session_change", actor="user:operator", changes__session=made.shown_id).count() == 2
    )


def test_budgets_are_set_and_mistakes_are_named(client_of: Browser, operator: Any, made: Session) -> None:
    browser = client_of(operator)
    saved = browser.post(url(made, "budgets"), {"max_calls": "9", "max_duration_s": ""}, headers=HTMX)
    wrong = browser.post(url(made, "budgets"), {"max_calls": "0"}, headers=HTMX)

    assert (saved.status_code, wrong.status_code) == (200, 422)
    assert saved.content.decode().lstrip().startswith('<div id="session">')
    assert 'role="alert"' in wrong.content.decode()
    assert (Session.objects.get(pk=made.pk).max_calls, Session.objects.get(pk=made.pk).max_duration_s) == (9, None)


def test_a_reason_that_is_too_long_ends_nothing(client_of: Browser, operator: Any, made: Session) -> None:
    answer = client_of(operator).post(url(made, "end"), {"reason": "x" * 501})

    assert (answer.status_code, Session.objects.get(pk=made.pk).is_open) == (422, True)


@pytest.mark.parametrize("part", ["end", "reopen", "budgets"])
def test_an_auditor_changes_nothing_and_get_changes_nothing(
    client_of: Browser, auditor: Any, operator: Any, made: Session, part: str
) -> None:
    assert client_of(auditor).post(url(made, part), {}).status_code == 403
    assert client_of(operator).get(url(made, part)).status_code == 405
    assert Session.objects.get(pk=made.pk).is_open


def test_an_auditor_is_told_who_may_end_sessions(client_of: Browser, auditor: Any, made: Session) -> None:
    page = client_of(auditor).get(url(made)).content.decode()

    assert "Read-only." in page and "/end/" not in page


@pytest.mark.parametrize("who", ["viewer", "outsider"])
def test_who_may_not_read_the_ledger_sees_no_session(
    client_of: Browser, made: Session, who: str, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(who))

    assert browser.get("/sessions/").status_code == 403
    assert browser.get(url(made)).status_code == 403


def test_a_session_of_another_environment_is_not_found(client_of: Browser, admin: Any, made: Session) -> None:
    from apps.registry.models import Environment

    other = Environment.objects.create(slug="staging", name="Staging")
    Session.objects.filter(pk=made.pk).update(environment=other)

    assert client_of(admin).get(url(made)).status_code == 404


def test_the_pages_take_few_queries_however_much_there_is(
    client_of: Browser,
    auditor: Any,
    environment: Any,
    made: Session,
    called: Callable[..., Any],
    django_assert_max_num_queries: Any,
) -> None:
    for number in range(12):
        called(agent="bot", session_key="main")
        take_step(environment.slug, f"agent:bot:subagent:{number}", spawned_by="main", at=timezone.now())
        take_step(environment.slug, "main", run=f"turn-{number}", at=timezone.now())
    browser = client_of(auditor)
    with django_assert_max_num_queries(10):
        assert browser.get("/sessions/").status_code == 200
    with django_assert_max_num_queries(16):
        assert browser.get(url(made)).status_code == 200


def test_ending_an_ended_session_again_shows_it_as_it_is(client_of: Browser, operator: Any, made: Session) -> None:
    session_end(made, by=operator, at=timezone.now(), reason="the first one")
    page = client_of(operator).post(url(made, "end"), {"reason": "the other one"}, follow=True).content.decode()

    assert "the first one" in page and "the other one" not in page
