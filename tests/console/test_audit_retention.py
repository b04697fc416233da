"""The pages about the end of records: how long they are kept, what is held, and the erasure of one subject."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.models import Content, Entry, Erasure, Hold, PurgeRun
from apps.audit.retention.erasing import erasure_run
from apps.audit.retention.holds import hold_place
from apps.audit.services import entry_record
from apps.audit.tasks import purge_run_task
from apps.audit.verification import verify_chains
from tests.audit.conftest import fresh_writer  # noqa: F401 - a fixture
from tests.audit.drafts import denial, intent

PAGE = "/audit/retention/"
CLASS = f"{PAGE}classes/denials/"
SUBJECT = {"channel": "telegram", "sender": "7"}
ClientOf = Callable[..., Client]


@pytest.fixture
def browser(transactional_db: None, fresh_writer: None, environment: Any, client_of: ClientOf, admin: Any) -> Client:  # noqa: F811
    for days in (400, 40, 0):
        entry_record(denial(params={"n": days}, at=timezone.now() - timedelta(days=days)))
    return client_of(admin)


def told(browser: Client, path: str = PAGE) -> str:
    return browser.get(path).content.decode()


def kinds(kind: str) -> list[str]:
    return list(Entry.objects.filter(kind=kind).order_by("at", "id").values_list("status", flat=True))


def test_it_shows_each_class_with_its_floor(browser: Client) -> None:
    page = told(browser)
    assert "Calls that were refused" in page and "30 days" in page and "Nothing is held" in page
    assert f"{PAGE}classes/keeping/" not in page  # what says that records are gone never goes


def test_days_are_saved_never_below_the_floor_and_on_record(browser: Client) -> None:
    refused = browser.post(CLASS, {"days": "29"})
    assert refused.status_code == 422 and "at least 30" in refused.content.decode()
    assert browser.post(CLASS, {"days": "30"})["Location"] == CLASS
    assert "A purge would take 2 records now" in told(browser, CLASS)
    assert kinds("retention_change") == ["set"]
    assert browser.post(CLASS, {"days": ""})["Location"] == CLASS
    assert "Kept for ever" in told(browser, CLASS)


def test_a_purge_is_seen_to_its_end(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str]] = []
    monkeypatch.setattr(purge_run_task, "delay", lambda *words: asked.append(words))
    assert "Nothing was purged in the last 90 days." in told(browser)
    browser.post(CLASS, {"days": "30"})
    assert browser.post(f"{CLASS}purge/")["Location"] == CLASS and kinds("purge") == ["requested"]
    for page, path in ((told(browser, CLASS), f"{CLASS}left/"), (told(browser), f"{PAGE}purges/")):
        assert "0 of 2 records" in page and "Waits for a worker" in page
        assert f'hx-get="{path}"' in page and 'aria-valuenow="0"' in page
    purge_run_task(*asked[0])
    for path in (f"{CLASS}left/", f"{PAGE}purges/"):
        done = told(browser, path)
        assert "2 records are gone" in done and "hx-get" not in done
    assert kinds("purge") == ["requested", "purged"] and verify_chains().is_intact


def test_a_purge_that_broke_off_says_how_far_it_came_and_why(browser: Client) -> None:
    at = timezone.now()
    PurgeRun.objects.create(
        name="denials", requested_by="system", requested_at=at, finished_at=at,
        state="failed", records_total=9, records_done=4, error="the disk <is> full",
    )  # fmt: skip
    for path in (PAGE, CLASS):
        page = told(browser, path)
        assert "4 of 9 records are gone" in page and "the disk &lt;is&gt; full" in page


def test_nothing_is_purged_of_what_is_kept_for_ever(browser: Client) -> None:
    assert browser.post(f"{CLASS}purge/").status_code == 422
    assert browser.get(f"{PAGE}classes/nothing/").status_code == 404
    assert kinds("purge") == []


def test_a_hold_holds_until_it_is_lifted_with_a_reason(browser: Client) -> None:
    refused = browser.post(f"{PAGE}holds/add/", {"reason": "", **SUBJECT})
    assert refused.status_code == 422 and not Hold.objects.exists()
    assert browser.post(f"{PAGE}holds/add/", {"reason": "case <7>", **SUBJECT})["Location"] == PAGE
    page = told(browser)
    assert "case &lt;7&gt;" in page and "telegram" in page
    browser.post(CLASS, {"days": "30"})
    assert "2 records are held and stay" in told(browser, CLASS)
    lift = f"{PAGE}holds/{Hold.objects.get().shown_id}/lift/"
    assert "case &lt;7&gt;" in told(browser, lift)
    assert browser.post(lift, {"reason": ""}).status_code == 422
    assert browser.post(lift, {"reason": "closed"})["Location"] == PAGE
    assert "Nothing is held" in told(browser) and "closed" in told(browser)
    assert kinds("hold_change") == ["placed", "lifted"]


def test_a_span_that_ends_before_it_begins_is_named(browser: Client) -> None:
    span = {"reason": "case", "since": "2026-02-01T00:00", "until": "2026-01-01T00:00"}
    refused = browser.post(f"{PAGE}holds/add/", span)
    assert refused.status_code == 422 and "must be later" in refused.content.decode()


def test_a_subject_is_looked_at_confirmed_erased_and_followed(browser: Client) -> None:
    entry_record(intent(params={"word": "canary"}))
    looked = browser.post(f"{PAGE}erase/preview/", SUBJECT).content.decode()
    assert "Contents of records" in looked and not Erasure.objects.exists()
    wrong = browser.post(f"{PAGE}erase/", {**SUBJECT, "reason": "asked to", "repeated": "8"})
    assert wrong.status_code == 422 and "This is not the sender" in wrong.content.decode()
    assert not Erasure.objects.exists()
    done = browser.post(f"{PAGE}erase/", {**SUBJECT, "reason": "asked to", "repeated": "7"})
    assert done["Location"] == PAGE
    erasure = Erasure.objects.get()
    path = f"{PAGE}erasures/{erasure.shown_id}/"
    if erasure.state == Erasure.State.RUNNING:
        assert 'hx-trigger="every 1s"' in told(browser, path)
        assert erasure_run(erasure.pk, at=timezone.now())
    followed = told(browser, path)
    assert "erased" in followed and "hx-trigger" not in followed and ">7<" not in followed
    assert Content.objects.filter(params__contains="canary").count() == 0 and verify_chains().is_intact


def test_what_is_held_is_not_offered_for_erasure(browser: Client, admin: Any) -> None:
    hold_place(admin, reason="case 7", at=timezone.now(), sender="7")
    looked = browser.post(f"{PAGE}erase/preview/", SUBJECT).content.decode()
    assert "A legal hold keeps it" in looked and 'name="repeated"' not in looked
    refused = browser.post(f"{PAGE}erase/", {**SUBJECT, "reason": "asked to", "repeated": "7"})
    assert refused.status_code == 422 and not Erasure.objects.exists()


def test_a_subject_without_a_sender_is_refused(browser: Client) -> None:
    for sender in ("", "  ", "x" * 513):
        refused = browser.post(f"{PAGE}erase/preview/", {"channel": "telegram", "sender": sender})
        assert refused.status_code == 422, sender


def test_only_administrators_see_it(browser: Client, client_of: ClientOf, auditor: Any) -> None:
    assert PAGE not in told(client_of(auditor), "/audit/")
    assert PAGE in told(browser, "/audit/")
