"""Replays on the pages: started and watched in the review, seen before a publication, each with its own page."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.audit.drafts import EntryDraft
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id
from apps.policies.models import Replay
from apps.policies.replays.proofs import replay_is_required
from apps.policies.replays.running import replay_run
from apps.policies.selectors import agent_get, live_publication, live_snapshot
from apps.policies.services import record_update
from tests.policies.past_calls import call_record_write, publish_first

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("replays_enqueued")]
ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}


@pytest.fixture
def called(environment: Any) -> Any:
    """An environment where `bot` read, in whose draft it may not."""
    publish_first(environment)
    live = live_snapshot(environment)
    assert live is not None
    call_record_write(live, "read")
    call_record_write(live, "ls")
    _deny(environment, "read")
    return environment


def _deny(environment: Any, *names: str) -> None:
    bot = agent_get(environment, "bot")
    assert bot is not None
    record_update(bot, {"deny": list(names)}, by=None, expected_version=bot.version)


def start(browser: Client, days: object = 7) -> Replay:
    answer = browser.post("/replays/", {"days": days}, headers=HTMX)
    assert answer.status_code == 200
    return Replay.objects.defer("snapshot").latest("requested_at")


def count(replay: Replay) -> None:
    assert replay_run(replay.pk, at=timezone.now()) is False


def publication(environment: Any) -> dict[str, str]:
    live = live_publication(environment)
    assert live is not None
    return {"message": "no reading", "expected_live": live.snapshot_id}


@pytest.mark.parametrize(
    ("name", "status"), [("admin", 200), ("operator", 200), ("auditor", 200), ("viewer", 403), ("outsider", 403)]
)
def test_who_reads_the_ledger_may_replay_it(
    name: str, status: int, request: pytest.FixtureRequest, client_of: ClientOf, called: Any
) -> None:
    browser = client_of(request.getfixturevalue(name))
    assert browser.get("/replays/").status_code == status
    assert browser.post("/replays/", {"days": 7}, headers=HTMX).status_code == status


def test_a_viewer_sees_in_the_review_what_is_needed(client_of: ClientOf, viewer: Any, called: Any) -> None:
    page = client_of(viewer).get("/publish/").content.decode()
    assert "that needs the role operator, auditor or administrator" in page
    assert 'name="days"' not in page


def test_it_is_watched_until_it_has_ended(
    client_of: ClientOf, admin: Any, called: Any, replays_enqueued: list[str]
) -> None:
    browser = client_of(admin)
    assert 'name="days"' in browser.get("/publish/").content.decode()
    replay = start(browser)
    assert replays_enqueued == [str(replay.pk)]
    Replay.objects.filter(pk=replay.pk).update(calls_total=48_211, calls_done=31_400)
    going = browser.get("/publish/replay/", headers=HTMX)
    assert "31,400 of 48,211 calls" in going.content.decode() and "every 1s" in going.content.decode()
    assert "HX-Trigger" not in going.headers
    assert "every 1s" in browser.get(f"/replays/{replay.shown_id}/", headers=HTMX).content.decode()
    Replay.objects.filter(pk=replay.pk).update(calls_total=None, calls_done=0)
    count(replay)

    ended = browser.get("/publish/replay/", headers=HTMX)
    text = ended.content.decode()
    assert ended.headers["HX-Trigger"] == "replay-ended"
    assert "every 1s" not in text and "<html" not in text and 'id="replay"' in text
    assert '<b class="b6 c-ask">1</b> would have been blocked' in text
    assert '<b class="b6 c-deny">1</b> would have been allowed' in text
    assert "agents.bot.tools.deny read" in text
    assert "/audit/calls/call_" in text


def test_a_replay_that_ends_before_it_is_answered_is_told_of_at_once(
    client_of: ClientOf, admin: Any, called: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.console.views.replays.replay_enqueue", lambda pk: replay_run(pk, at=timezone.now()))
    answer = client_of(admin).post("/replays/", {"days": 7}, headers=HTMX)
    assert "every 1s" not in answer.content.decode()
    assert answer.headers["HX-Trigger"] == "replay-ended"


def test_its_own_page_shows_the_groups_and_leads_to_the_calls(client_of: ClientOf, auditor: Any, called: Any) -> None:
    browser = client_of(auditor)
    replay = start(browser, 30)
    count(replay)
    page = browser.get(f"/replays/{replay.shown_id}/").content.decode()
    assert "Replay of the last 30 days" in page and "agents.bot.tools.deny ls" in page
    listed = browser.get("/replays/").content.decode()
    assert f"/replays/{replay.shown_id}/" in listed
    call = page.split('href="/audit/calls/')[1].split('"')[0]
    assert browser.get(f"/audit/calls/{call}").status_code == 200


def test_unknown_calls_say_why(client_of: ClientOf, admin: Any, called: Any) -> None:
    entry_record(EntryDraft(kind="denial", environment=called.slug, agent="bot", tool="<b>x", call_id=new_id()))
    browser = client_of(admin)
    count(start(browser))
    page = browser.get("/publish/").content.decode()
    assert "Why 1 call is unknown" in page
    assert "The call was refused before any policy was asked." in page
    assert "<b>x" not in page and "&lt;b&gt;x" in page


def test_a_result_says_that_the_draft_moved_on(client_of: ClientOf, admin: Any, called: Any) -> None:
    browser = client_of(admin)
    count(start(browser))
    assert "of an earlier draft" not in browser.get("/publish/").content.decode()
    _deny(called, "read", "write")
    assert "of an earlier draft" in browser.get("/publish/").content.decode()


@pytest.mark.parametrize("days", ["0", "400", "many", "", "9" * 50])
def test_days_that_are_not_replayed_are_refused_in_the_panel(
    client_of: ClientOf, admin: Any, called: Any, days: str
) -> None:
    answer = client_of(admin).post("/replays/", {"days": days}, headers=HTMX)
    assert answer.status_code == 422
    assert "1 to 366 days" in answer.content.decode()
    assert not Replay.objects.exists()


def test_it_works_without_scripts(client_of: ClientOf, admin: Any, called: Any) -> None:
    browser = client_of(admin)
    assert browser.post("/replays/", {"days": 1}).headers["location"] == "/publish/#replay"
    replay = Replay.objects.get()
    assert browser.post(f"/replays/{replay.shown_id}/cancel/").headers["location"] == f"/replays/{replay.shown_id}/"
    page = browser.get(f"/replays/{replay.shown_id}/").content.decode()
    assert "Cancelled after 0 calls." in page
    for path in ("/publish/replay/", "/publish/replay/check/"):
        assert browser.get(path).headers["location"] == "/publish/"


def test_get_changes_nothing(client_of: ClientOf, admin: Any, called: Any) -> None:
    browser = client_of(admin)
    replay = start(browser)
    for path in (f"/replays/{replay.shown_id}/cancel/", "/replays/rule/"):
        assert browser.get(path).status_code == 405
    replay.refresh_from_db()
    assert replay.state == "waiting" and not replay_is_required(called)


def test_the_review_publishes_only_what_was_replayed(client_of: ClientOf, admin: Any, called: Any) -> None:
    browser = client_of(admin)
    page = browser.get("/publish/").content.decode()
    assert "Not replayed yet" in page
    button = page.split('id="publish-do"')[1].split("</form>")[0]
    assert "disabled" in button and "Replay this draft first" in button
    refused = browser.post("/publish/", publication(called), headers=HTMX)
    assert refused.status_code == 422 and "this draft was not replayed" in refused.content.decode()

    count(start(browser))

    line = browser.get("/publish/replay/check/", headers=HTMX).content.decode()
    assert "Replay: past calls would now run" in line and 'class="c-deny"' in line
    assert "circle-check" not in line
    assert browser.post("/publish/", publication(called)).status_code == 302


def test_where_nothing_was_called_there_is_nothing_to_replay(client_of: ClientOf, admin: Any, environment: Any) -> None:
    publish_first(environment)
    _deny(environment, "read")
    browser = client_of(admin)
    assert "Nothing was called in 30 days" in browser.get("/publish/").content.decode()
    assert browser.post("/publish/", publication(environment)).status_code == 302


@pytest.mark.parametrize(("name", "status"), [("admin", 302), ("operator", 403), ("auditor", 403), ("viewer", 403)])
def test_who_publishes_may_insist_on_replays_at_every_door(
    name: str, status: int, request: pytest.FixtureRequest, client_of: ClientOf, called: Any
) -> None:
    browser = client_of(request.getfixturevalue(name))
    assert browser.post("/replays/rule/", {"is_required": "on"}).status_code == status
    assert replay_is_required(called) is (status == 302)
    if status == 302:
        assert browser.post("/replays/rule/", {}).status_code == 302
        assert not replay_is_required(called)


def test_the_pages_ask_few_questions(
    client_of: ClientOf, admin: Any, called: Any, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    browser = client_of(admin)
    for _ in range(3):
        replay = start(browser)
        count(replay)
    for path in ("/replays/", f"/replays/{replay.shown_id}/"):
        browser.get(path)
        with django_assert_max_num_queries(14):
            assert browser.get(path).status_code == 200


def test_groups_of_commands_say_what_the_calls_they_name_ran_masked(
    client_of: ClientOf, auditor: Any, called: Any
) -> None:
    live = live_snapshot(called)
    assert live is not None
    for command in ("git status", "curl -H 'Authorization: Bearer sk-ant-REDACTED' x"):
        call_record_write(live, "exec", params={"command": command})
    _deny(called, "read", "exec")
    replay = start(client_of(auditor))
    count(replay)

    text = client_of(auditor).get(f"/replays/{replay.shown_id}/").content.decode()

    assert '<code class="cmd-1 replay-cmd">curl -H' in text
    assert "canary0123456789" not in text
