"""Gateways that fall silent, never report or run calls unasked: an alarm, an entry of the log, and a message."""

from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from apps.audit.models import Entry
from apps.gateway.gateway_alarms import alarms_tell
from apps.notifications.delivering import deliver, deliveries_due
from apps.notifications.models import ToldAlarm
from apps.notifications.people import preference_save
from apps.notifications.words import told_to_programs
from apps.openclaw_gateways.alarms import (
    Ungoverned,
    alarm_clear,
    gateways_watch,
    not_asking_report,
    silence_end,
    ungoverned_report,
)
from apps.openclaw_gateways.models import Alarm, OpenClawGateway
from apps.openclaw_gateways.services import (
    Heartbeat,
    enrolment_create,
    enrolment_redeem,
    gateway_heard,
    gateway_revoke,
)
from tests.notifications.conftest import Mailbox

pytestmark = pytest.mark.django_db
BEAT = Heartbeat(boot="boot-0001")
LONG = timedelta(hours=1)


@pytest.fixture
def gateway(environment: Any) -> OpenClawGateway:
    _, secret = enrolment_create(environment, name="office", by=None, at=timezone.now())
    return enrolment_redeem(secret, BEAT, at=timezone.now())[0]


def watch(at: datetime) -> int:
    return gateways_watch(at, since=at - LONG)


def entries(status: str) -> int:
    return Entry.objects.filter(kind="gateway_change", status=status).count()


def test_a_gateway_that_stops_reporting_is_an_alarm_until_it_reports(gateway: OpenClawGateway) -> None:
    at = timezone.now()
    gateway_heard(gateway, BEAT, at=at)
    assert watch(at + timedelta(seconds=60)) == 0
    later = at + timedelta(minutes=3)

    assert watch(later) == 1
    assert watch(later + timedelta(minutes=1)) == 0

    alarm = Alarm.objects.get()
    assert (alarm.kind, alarm.count, entries("silent")) == ("silent", 1, 1)
    gateway_heard(gateway, BEAT, at=later + timedelta(minutes=2))
    silence_end(gateway, at=later + timedelta(minutes=2))
    alarm.refresh_from_db()
    assert (alarm.cleared_by_label, entries("alarm_cleared")) == ("system", 1)
    assert watch(later + timedelta(minutes=9)) == 1


def test_one_that_a_person_has_seen_to_is_not_raised_again_for_the_same_silence(
    gateway: OpenClawGateway, admin: Any
) -> None:
    at = timezone.now()
    gateway_heard(gateway, BEAT, at=at)
    watch(at + timedelta(minutes=3))
    alarm_clear(Alarm.objects.get(), by=admin, at=at + timedelta(minutes=4))
    assert watch(at + timedelta(minutes=5)) == 0


def test_a_gateway_whose_plugin_never_reports_is_an_alarm(gateway: OpenClawGateway) -> None:
    at = timezone.now()
    assert watch(at + timedelta(minutes=10)) == 0
    assert watch(at + timedelta(minutes=20)) == 1
    assert (Alarm.objects.get().kind, entries("not_loaded")) == ("not_loaded", 1)


def test_nobody_is_missed_who_could_not_be_heard_or_was_revoked(gateway: OpenClawGateway, admin: Any) -> None:
    at = timezone.now()
    gateway_heard(gateway, BEAT, at=at)
    later = at + LONG
    assert gateways_watch(later, since=None) == 0
    assert gateways_watch(later, since=later - timedelta(seconds=30)) == 0
    gateway_revoke(gateway, by=admin, at=later)
    assert watch(later) == 0


def test_whoever_manages_gateways_hears_of_each_alarm_once(
    gateway: OpenClawGateway, admin: Any, operator: Any, mailbox: Mailbox
) -> None:
    for person in (admin, operator):
        preference_save(person, email=f"{person.username}@example.com", language="en", quiet="")
    at = timezone.now() - timedelta(minutes=10)
    gateway_heard(gateway, BEAT, at=at)
    ungoverned_report(gateway, Ungoverned(tool="exec", agent="main", tool_call="c1"), at=at)
    not_asking_report(gateway, "1 calls ran", at=at)
    later = at + timedelta(minutes=3)
    watch(later)

    assert alarms_tell(later) == 3
    assert alarms_tell(later) == 0
    for delivery_id in deliveries_due(timezone.now()):
        deliver(delivery_id)

    told = sorted((to[0], str(mail["Subject"])) for to, mail in mailbox.mails)
    assert told == [
        ("admin@example.com", "A call ran unasked at the gateway office"),
        ("admin@example.com", "The gateway office does not ask about calls"),
        ("admin@example.com", "The gateway office stopped reporting"),
    ]
    assert f"/gateways/{gateway.shown_id}/" in mailbox.mails[0][1].as_string()


def test_programs_hear_which_gateway_and_what(gateway: OpenClawGateway) -> None:
    at = timezone.now()
    not_asking_report(gateway, "1 calls ran", at=at)
    alarms_tell(at)
    row = ToldAlarm.objects.get()
    told = told_to_programs(None, at, row)
    assert (told["event"], told["alarm"]["kind"]) == ("gateway.alarm", "not_asking")
    assert (told["alarm"]["gateway"]["id"], told["alarm"]["gateway"]["name"]) == (gateway.shown_id, "office")


def test_what_is_old_is_no_news(gateway: OpenClawGateway) -> None:
    not_asking_report(gateway, "1 calls ran", at=timezone.now() - timedelta(hours=13))
    assert alarms_tell(timezone.now()) == 0


def test_the_command_that_enrols_says_first_that_something_must_be_published(environment: Any) -> None:
    said = StringIO()
    call_command("gateway", "enrol", "home", stdout=said)
    assert said.getvalue().startswith("Nothing is published in `production`: publish first.")
    assert "oce_" in said.getvalue()
