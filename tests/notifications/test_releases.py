"""Who publishes is told: of a request to confirm, of how their own ended, of an emergency; as each of them chose."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.notifications.delivering import deliver, deliveries_due
from apps.notifications.models import Delivery
from apps.notifications.people import preference_save
from apps.notifications.releases import NEWS, releases_tell
from apps.notifications.selectors import deliveries_tried
from apps.policies.models import PublishRequest
from apps.policies.selectors import agent_get, live_publication
from apps.policies.services import (
    document_import,
    publish_ask,
    publish_confirm,
    publish_due,
    publish_rule_save,
    publish_withdraw,
    record_update,
    rollback,
)
from tests.notifications.conftest import Mailbox

pytestmark = pytest.mark.django_db
SAMPLE = Path(__file__).parent.parent / "samples" / "openclaw.full.json5"


@pytest.fixture
def by_two(environment: Any, admin: Any, other: Any, operator: Any, mailbox: Mailbox) -> Any:
    """Two people publish here; each of them, and an operator, has a mailbox."""
    document_import(environment, SAMPLE.read_text(), by=None)
    publish_rule_save(environment, by=admin, needs_second_person=True, hours=24)
    for person in (admin, other, operator):
        preference_save(person, email=f"{person.username}@example.com", language="en", quiet="")
    return environment


@pytest.fixture
def other(make_user: Any) -> Any:
    return make_user("other", role="admin")


def ask(environment: Any, by: Any, **more: Any) -> PublishRequest:
    live = live_publication(environment)
    seen = "" if live is None else live.snapshot_id
    return publish_ask(environment, by=by, message="secret reasons", expected_live=seen, at=timezone.now(), **more)


def told(mailbox: Mailbox) -> list[tuple[str, str]]:
    """Tell what is new; give whom, and the subject."""
    mailbox.mails.clear()
    at = timezone.now()
    releases_tell(at)
    for delivery_id in deliveries_due(at):
        deliver(delivery_id)
    return sorted((to[0].partition("@")[0], str(mail["Subject"])) for to, mail in mailbox.mails)


def test_whoever_may_confirm_is_asked_once_and_the_asker_hears_the_answer(
    by_two: Any, admin: Any, other: Any, mailbox: Mailbox
) -> None:
    request = ask(by_two, admin)
    assert told(mailbox) == [("other", f"user:admin wants to publish in {by_two.name}")]
    assert "secret reasons" not in mailbox.mails[0][1].as_string()
    assert told(mailbox) == []
    publish_confirm(request, by=other, at=timezone.now())
    assert told(mailbox) == [("admin", f"Your request in {by_two.name} is live")]
    assert deliveries_tried(admin) == []


def test_a_withdrawal_by_another_one_reaches_the_asker(by_two: Any, admin: Any, other: Any, mailbox: Mailbox) -> None:
    publish_withdraw(ask(by_two, admin), by=other, at=timezone.now())
    assert told(mailbox) == [("admin", f"A request in {by_two.name} was withdrawn")]
    publish_withdraw(ask(by_two, admin), by=admin, at=timezone.now())
    assert told(mailbox) == []


def test_what_comes_of_a_schedule_reaches_both(by_two: Any, admin: Any, other: Any, mailbox: Mailbox) -> None:
    later = timezone.now() + timedelta(hours=2)
    publish_confirm(ask(by_two, admin, publish_at=later), by=other, at=timezone.now())
    assert told(mailbox) == [("admin", f"Your request in {by_two.name} was confirmed")]
    agent = agent_get(by_two, "ops")
    assert agent is not None
    record_update(agent, {"deny": ["exec"]}, by=admin, expected_version=agent.version)
    publish_due(later)
    assert told(mailbox) == [(name, f"A request in {by_two.name} was overtaken") for name in ("admin", "other")]


def test_an_emergency_reaches_everybody_else_who_may_publish(
    by_two: Any, admin: Any, other: Any, mailbox: Mailbox
) -> None:
    publish_confirm(ask(by_two, admin), by=other, at=timezone.now())
    first, agent = live_publication(by_two), agent_get(by_two, "ops")
    assert first is not None and agent is not None
    record_update(agent, {"deny": ["exec"]}, by=admin, expected_version=agent.version)
    publish_confirm(ask(by_two, admin), by=other, at=timezone.now())
    live = live_publication(by_two)
    assert live is not None
    told(mailbox)
    rollback(by_two, first, by=other, message="x", expected_live=live.snapshot_id, is_emergency=True)
    assert told(mailbox) == [("admin", f"Emergency: user:other went back alone in {by_two.name}")]


def test_nobody_is_told_who_wants_quiet_or_what_is_old(by_two: Any, admin: Any, other: Any, mailbox: Mailbox) -> None:
    preference_save(other, email="other@example.com", language="en", quiet="all")
    ask(by_two, admin)
    assert told(mailbox) == []
    PublishRequest.objects.update(asked_at=timezone.now() - NEWS - timedelta(minutes=1))
    preference_save(other, email="other@example.com", language="en", quiet="")
    assert told(mailbox) == []
    assert not Delivery.objects.exists()
