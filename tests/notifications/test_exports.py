"""The end of an export reaches who asked for it: once, on their open pages, by push and by e-mail."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from apps.audit.exporting import export_run
from apps.audit.exports import export_by_machine, export_cancel, export_request
from apps.audit.filters import EntryFilters
from apps.audit.models import Export
from apps.console.tabs import Tabs
from apps.events.notices import Notice
from apps.notifications.delivering import deliver, deliveries_due
from apps.notifications.exports import NEWS, exports_tell
from apps.notifications.models import Delivery
from apps.notifications.people import notifications_test, preference_save
from tests.notifications.conftest import Browser, Mailbox
from tests.receiver import Receiver

pytestmark = pytest.mark.django_db
AT = datetime.now(UTC)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> None:
    settings.VAR_DIR = tmp_path


def ended(person: Any) -> Export:
    export = export_request(person, filters=EntryFilters(agent=("nobody",)), format_name="csv", at=AT)
    export_run(export.pk, at=AT)
    return export


def told(at: datetime = AT) -> int:
    count = exports_tell(at)
    for delivery_id in deliveries_due(at):
        deliver(delivery_id)
    return count


def test_who_asked_gets_a_mail_and_a_push_in_their_language_once(
    auditor: Any, environment: Any, mailbox: Mailbox, receiver: Receiver, browser_at: Callable[..., Browser]
) -> None:
    preference_save(auditor, email="ada@example.com", language="zh-hans", quiet="low")
    browser = browser_at()
    browser.subscribe(auditor)
    ended(auditor)
    assert told() == 2 and told() == 0
    [(to, mail)] = mailbox.mails
    assert to == ["ada@example.com"] and mail["Subject"] == "您的导出已就绪"
    assert "/audit/exports/" in cast(bytes, mail.get_payload(decode=True)).decode()
    assert browser.read(receiver.heard[0][2])["path"] == "/audit/exports/"
    assert set(Delivery.objects.values_list("state", flat=True)) == {"sent"}


def test_a_failed_one_is_told_as_failed(auditor: Any, environment: Any, mailbox: Mailbox) -> None:
    preference_save(auditor, email="ada@example.com", language="en", quiet="")
    export = export_request(auditor, filters=EntryFilters(), format_name="csv", at=AT)
    Export.objects.filter(pk=export.pk).update(state="failed", finished_at=AT)
    assert told() == 1
    assert mailbox.mails[0][1]["Subject"] == "Your export failed"


def test_nobody_is_told_who_wants_quiet_or_has_no_place(
    auditor: Any, operator: Any, environment: Any, mailbox: Mailbox
) -> None:
    preference_save(auditor, email="ada@example.com", language="en", quiet="all")
    ended(auditor)
    export_run(export_by_machine(filters=EntryFilters(agent=("nobody",)), format_name="csv", at=AT).pk, at=AT)
    cancelled = export_request(auditor, filters=EntryFilters(), format_name="csv", at=AT)
    export_cancel(auditor, cancelled, at=AT)
    assert told() == 0 and mailbox.mails == []


def test_what_ended_long_ago_is_no_news(auditor: Any, environment: Any, mailbox: Mailbox) -> None:
    preference_save(auditor, email="ada@example.com", language="en", quiet="")
    ended(auditor)
    assert told(AT + NEWS + timedelta(seconds=1)) == 0


def test_an_export_does_not_keep_a_person_from_trying(auditor: Any, environment: Any, mailbox: Mailbox) -> None:
    preference_save(auditor, email="ada@example.com", language="en", quiet="")
    ended(auditor)
    told()
    assert len(notifications_test(auditor, environment, AT)) == 1


class Heard:
    """A tab that keeps what it hears."""

    environment = "production"
    permissions: frozenset[Any] = frozenset()

    def __init__(self, person_id: str) -> None:
        self.person_id, self.texts, self.outbox = person_id, list[str](), self

    def put(self, text: str) -> None:
        self.texts.append(text)

    async def check(self) -> None:
        raise AssertionError


def test_only_the_tabs_of_that_person_hear_it() -> None:
    tabs, own, other = Tabs(), Heard("one"), Heard("two")
    tabs.join(own)  # type: ignore[arg-type]
    tabs.join(other)  # type: ignore[arg-type]
    tabs.hear(Notice("export.ended", "one"))
    assert [json.loads(text)["type"] for text in own.texts] == ["export.ended"] and other.texts == []
