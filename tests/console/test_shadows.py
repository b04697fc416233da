"""Shadow rules on the pages: started in the review and from a fix, watched, stopped, put into the draft, removed."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.policies.models import ShadowRule
from apps.policies.selectors import agent_get, live_snapshot
from apps.policies.services import draft_discard, record_update
from apps.policies.shadows.counting import shadow_count
from apps.policies.tasks import shadows_count_task
from tests.policies.past_calls import call_record_write, publish_first

pytestmark = pytest.mark.django_db(transaction=True)
ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}


@pytest.fixture
def bot(environment: Any) -> Any:
    """An agent that may read, and may not in the draft."""
    publish_first(environment)
    found = agent_get(environment, "bot")
    assert found is not None
    return record_update(found, {"deny": ["read"]}, by=None, expected_version=found.version)


def call_all(environment: Any) -> None:
    live = live_snapshot(environment)
    assert live is not None
    call_record_write(live, "read")
    call_record_write(live, "ls")


def start(browser: Client, bot: Any) -> ShadowRule:
    answer = browser.post("/shadows/", {"kind": "agent", "record": bot.pk})
    assert answer.status_code == 302, answer.content.decode()
    return ShadowRule.objects.latest("started_at")


@pytest.mark.parametrize(
    ("name", "reads", "writes"),
    [("admin", 200, 302), ("operator", 200, 403), ("auditor", 200, 403), ("viewer", 200, 403), ("outsider", 403, 403)],
)
def test_who_reads_policy_may_look_and_who_writes_it_may_start(
    name: str, reads: int, writes: int, request: pytest.FixtureRequest, client_of: ClientOf, bot: Any, admin: Any
) -> None:
    kept = start(client_of(admin), bot)
    browser = client_of(request.getfixturevalue(name))
    assert browser.get("/shadows/").status_code == reads
    assert browser.get(f"/shadows/{kept.shown_id}/").status_code == reads
    assert browser.post("/shadows/", {"kind": "agent", "record": bot.pk}).status_code == writes
    for action in ("draft", "stop", "remove"):
        assert browser.post(f"/shadows/{kept.shown_id}/{action}/").status_code == writes
        assert browser.get(f"/shadows/{kept.shown_id}/{action}/").status_code in (405, 403)


def test_nothing_is_watched_says_how_to_begin(client_of: ClientOf, viewer: Any, bot: Any) -> None:
    page = client_of(viewer).get("/shadows/").content.decode()
    assert "Nothing is watched" in page and "in the review of the draft" in page


def test_a_change_of_the_review_is_watched_with_one_click(
    client_of: ClientOf, admin: Any, bot: Any, environment: Any
) -> None:
    browser = client_of(admin)
    review = browser.get("/publish/").content.decode()
    assert "Watch in shadow" in review and f'name="record" value="{bot.pk}"' in review
    shadow = start(browser, bot)
    call_all(environment)
    assert shadows_count_task() == 1

    page = browser.get(f"/shadows/{shadow.shown_id}/").content.decode()
    assert '<b class="b6">2</b> calls seen' in page
    assert '<b class="b6 c-deny">1</b> would have been blocked' in page
    assert '<b class="b6 c-allow">1</b> would have been allowed' in page
    assert "agents.bot.tools.deny read" in page and "With the change" in page
    call = page.split('href="/audit/calls/')[1].split('"')[0]
    assert browser.get(f"/audit/calls/{call}").status_code == 200
    listed = browser.get("/shadows/").content.decode()
    assert f"/shadows/{shadow.shown_id}/" in listed and "every 5s" in listed


def test_who_may_not_read_the_ledger_sees_figures_and_no_calls(
    client_of: ClientOf, admin: Any, viewer: Any, bot: Any, environment: Any
) -> None:
    shadow = start(client_of(admin), bot)
    call_all(environment)
    shadow_count(shadow.pk, at=timezone.now())
    page = client_of(viewer).get(f"/shadows/{shadow.shown_id}/").content.decode()
    assert "would have been blocked" in page and "/audit/calls/" not in page
    assert "may change the draft" in page and "/stop/" not in page


def test_it_asks_itself_again_until_it_is_stopped(client_of: ClientOf, admin: Any, bot: Any) -> None:
    browser = client_of(admin)
    shadow = start(browser, bot)
    going = browser.get(f"/shadows/{shadow.shown_id}/", headers=HTMX).content.decode()
    assert "every 5s" in going and "<html" not in going and f'id="shadow-{shadow.pk}"' in going
    assert browser.post(f"/shadows/{shadow.shown_id}/stop/").status_code == 302
    again = browser.post(f"/shadows/{shadow.shown_id}/stop/")
    assert again.status_code == 409 and "the shadow rule has ended" in again.content.decode()
    still = browser.get(f"/shadows/{shadow.shown_id}/", headers=HTMX).content.decode()
    assert "every 5s" not in still and "Somebody stopped it" in still
    assert "every 5s" not in browser.get("/shadows/", headers=HTMX).content.decode()


def test_it_goes_into_the_draft_and_away(client_of: ClientOf, admin: Any, bot: Any, environment: Any) -> None:
    browser = client_of(admin)
    shadow = start(browser, bot)
    draft_discard(environment, by=None)
    assert browser.post(f"/shadows/{shadow.shown_id}/draft/").headers["Location"] == "/publish/"
    bot.refresh_from_db()
    assert bot.deny == ["read"]
    assert browser.post(f"/shadows/{shadow.shown_id}/remove/").status_code == 302
    assert browser.get(f"/shadows/{shadow.shown_id}/").status_code == 404


@pytest.mark.parametrize("said", [{}, {"kind": "agent", "record": "x"}, {"edit": "{}"}])
def test_what_no_button_sends_is_refused(client_of: ClientOf, admin: Any, bot: Any, said: dict[str, str]) -> None:
    assert client_of(admin).post("/shadows/", said).status_code == 400


def test_a_change_that_cannot_be_watched_says_why(client_of: ClientOf, admin: Any, bot: Any, environment: Any) -> None:
    browser = client_of(admin)
    draft_discard(environment, by=None)
    answer = browser.post("/shadows/", {"kind": "agent", "record": bot.pk})
    assert answer.status_code == 422
    assert "the draft changes nothing in this record" in answer.content.decode()


def test_looking_asks_few_questions(
    client_of: ClientOf, admin: Any, bot: Any, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    browser = client_of(admin)
    shadow = start(browser, bot)
    for path in ("/shadows/", f"/shadows/{shadow.shown_id}/"):
        browser.get(path)
        with django_assert_max_num_queries(14):
            assert browser.get(path).status_code == 200
