"""The page of notifications, its API, and trying one's own channels."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.models import Entry
from apps.notifications.delivering import deliver, deliveries_due
from apps.notifications.errors import NotificationInvalidError
from apps.notifications.models import Subscription, Webhook
from apps.notifications.people import preference_of
from tests.api.conftest import Program, program  # noqa: F401 - fixtures
from tests.notifications.conftest import Browser, Mailbox
from tests.receiver import Receiver

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger")]


def newest_entry() -> Entry:
    return Entry.objects.filter(kind="notification_change").order_by("at", "seq").reverse()[0]


def test_a_person_keeps_their_choices_and_is_told_what_is_wrong(
    client_of: Callable[..., Client], viewer: Any, environment: Any
) -> None:
    browser = client_of(viewer)
    wrong = browser.post("/notifications/", {"email": "not an address", "quiet": ""})
    assert wrong.status_code == 422
    assert browser.post("/notifications/", {"email": "", "quiet": "loud"}).status_code == 422
    form = {"email": "v@example.com", "language": "zh-hans", "quiet": "low"}
    assert browser.post("/notifications/", form).status_code == 302
    assert (preference_of(viewer).email, preference_of(viewer).quiet) == ("v@example.com", "low")
    entry = newest_entry()
    assert entry.actor == viewer.actor and "v@example.com" not in str(entry.changes)


def test_a_browser_is_added_moved_to_whoever_uses_it_and_removed(
    client_of: Callable[..., Client], operator: Any, viewer: Any, environment: Any, browser_at: Callable[..., Browser]
) -> None:
    taken = browser_at()
    form = {"endpoint": taken.endpoint, "browser": "Chromium", **taken.keys}
    assert client_of(operator).post("/notifications/browsers/add/", form).status_code == 201
    assert client_of(viewer).post("/notifications/browsers/add/", form).status_code == 201
    (row,) = Subscription.objects.all()
    assert row.person == viewer and taken.keys["auth"].encode() not in bytes(row.sealed_keys)
    path = f"/notifications/browsers/{row.shown_id}/remove/"
    assert client_of(operator).post(path).status_code == 404
    assert client_of(viewer).post(path).status_code == 302
    assert not Subscription.objects.exists()


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://push.example/1",
        "https://127.0.0.1/1",
        "https://[::1]/1",
        "https://169.254.169.254/latest",
        "https://localhost/1",
        "https://name:word@push.example/1",
        "https://push.example:22/1",
        "file:///etc/passwd",
        "",
    ],
)
def test_a_browser_cannot_name_an_address_of_ours(
    client_of: Callable[..., Client], operator: Any, environment: Any, endpoint: str
) -> None:
    form = {"endpoint": endpoint, **Browser("x").keys}
    answer = client_of(operator).post("/notifications/browsers/add/", form)
    judged_later = endpoint in {"https://localhost/1"}  # names are judged by what they resolve to, when it is sent
    assert answer.status_code == (201 if judged_later else 422)
    for pk in deliveries_due(timezone.now()):
        deliver(pk)


def test_keys_that_are_none_are_refused(operator: Any, environment: Any, browser_at: Callable[..., Browser]) -> None:
    taken = browser_at()
    for p256dh, auth in (("AAAA", taken.keys["auth"]), (taken.keys["p256dh"], "AAAA"), ("é", "é"), ("", "")):
        from apps.notifications.people import browser_add

        with pytest.raises(NotificationInvalidError):
            browser_add(operator, endpoint=taken.endpoint, p256dh=p256dh, auth=auth, browser="")


def test_trying_tells_every_channel_and_shows_what_became_of_it(
    client_of: Callable[..., Client],
    admin: Any,
    environment: Any,
    browser_at: Callable[..., Browser],
    receiver: Receiver,
    mailbox: Mailbox,
) -> None:
    browser = client_of(admin)
    browser.post("/notifications/", {"email": "a@example.com", "language": "", "quiet": "all"})
    browser_at().subscribe(admin)
    hook = {"name": "pager", "url": f"{receiver.origin}/pager", "secret": ""}
    assert browser.post("/notifications/webhooks/add/", hook).status_code == 302
    mailbox.refuses = True
    assert browser.post("/notifications/test/").status_code == 302
    on_the_way = browser.get("/notifications/tried/").content.decode()
    assert "every 1s" in on_the_way and "queued" in on_the_way
    for pk in deliveries_due(timezone.now()):
        deliver(pk)
    shown = browser.get("/notifications/tried/").content.decode()
    assert shown.count("sent") == 2 and "failed, is tried again" in shown and "451" in shown
    assert "a@example.com" not in shown
    browser.post("/notifications/test/")
    assert len(receiver.heard) == 2 and not deliveries_due(timezone.now())  # too soon: nothing new


def test_an_operator_tries_their_own_channels_and_no_webhook(
    client_of: Callable[..., Client], operator: Any, environment: Any, receiver: Receiver
) -> None:
    Webhook.objects.create(environment=environment, name="pager", url=f"{receiver.origin}/pager")
    client_of(operator).post("/notifications/test/")
    assert not deliveries_due(timezone.now())


def test_webhooks_are_kept_by_page_with_a_secret_that_is_never_shown(
    client_of: Callable[..., Client], admin: Any, operator: Any, environment: Any
) -> None:
    browser = client_of(admin)
    at = "/notifications/webhooks"
    form = {"name": "pager", "url": "https://pager.example/in?key=topsecret", "secret": "0123456789abcdef"}
    assert browser.post(f"{at}/add/", form | {"secret": "short"}).status_code == 422
    assert browser.post(f"{at}/add/", form | {"url": "http://10.0.0.1/"}).status_code == 422
    assert browser.post(f"{at}/add/", form).status_code == 302
    row = Webhook.objects.get()
    for reader in (browser, client_of(operator)):
        page = reader.get("/notifications/").content.decode()
        assert "pager.example" in page and "topsecret" not in page and "0123456789abcdef" not in page
    assert "topsecret" not in str(newest_entry().changes)
    changed = {"name": "pager", "url": "https://pager.example/2", "secret": "", "version": 1, "is_active": "on"}
    assert browser.post(f"{at}/{row.pk}/", changed).status_code == 302
    row.refresh_from_db()
    assert (row.url, row.has_secret) == ("https://pager.example/2", True)
    assert browser.post(f"{at}/{row.pk}/", changed).status_code == 422  # an older version
    assert browser.post(f"{at}/{row.pk}/", changed | {"version": 2, "drops_secret": "on"}).status_code == 302
    row.refresh_from_db()
    assert not row.has_secret
    assert client_of(operator).post(f"{at}/{row.pk}/remove/").status_code == 403
    assert browser.post(f"{at}/{row.pk}/remove/").status_code == 302
    assert browser.get(f"{at}/{row.pk}/").status_code == 404


def test_webhooks_are_kept_by_programs(program: Callable[..., Program], environment: Any) -> None:  # noqa: F811
    client = program("policy_read", "policy_write", "approvals_read")
    added = client.post("notifications/webhooks", {"name": "pager", "url": "https://pager.example/in?key=hidden"})
    assert added.status_code == 201
    assert added.json() == {
        "name": "pager",
        "url": "https://pager.example/in",
        "has_secret": False,
        "is_active": True,
        "version": 1,
    }
    refused = client.post("notifications/webhooks", {"name": "x", "url": "https://169.254.169.254/"})
    assert (refused.status_code, refused.json()["details"][0]["path"]) == (422, "url")
    signed = client.ask("PATCH", "notifications/webhooks/pager", {"version": 1, "secret": "0123456789abcdef"})
    assert signed.json()["has_secret"] and "secret" not in signed.json()
    assert client.ask("PATCH", "notifications/webhooks/pager", {"version": 1, "url": "https://a/"}).status_code == 409
    assert client.get("notifications/deliveries").json() == []
    assert client.ask("DELETE", "notifications/webhooks/pager").status_code == 204
    assert client.get("notifications/webhooks/pager").status_code == 404


def test_the_worker_is_a_script_that_fetches_nothing(environment: Any) -> None:
    answer = Client().get("/notifications/worker.js")
    assert answer["Content-Type"].startswith("text/javascript")
    assert b"fetch(" not in answer.content and b"importScripts" not in answer.content
