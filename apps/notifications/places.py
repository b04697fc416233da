"""Places that can be told: a browser, a mailbox, an address; and the delivery that each becomes."""

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings

from apps.accounts.models import User
from apps.approvals.models import Approval
from apps.audit.models import Export
from apps.notifications.models import (
    Channel,
    Delivery,
    Preference,
    Quiet,
    Subscription,
    ToldAlarm,
    ToldRelease,
    Webhook,
)
from apps.registry.models import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One place; `shown` tells people which, without what would let a stranger write to it."""

    channel: Channel
    target: str
    shown: str
    person: User | None = None
    subscription: Subscription | None = None
    webhook: Webhook | None = None

    def delivery(
        self,
        environment: Environment,
        approval: Approval | None,
        at: datetime,
        *,
        asked_by: User | None = None,
        export: Export | None = None,
        release: ToldRelease | None = None,
        alarm: ToldAlarm | None = None,
    ) -> Delivery:
        """Make the message to this place, due at once."""
        return Delivery(
            environment=environment,
            approval=approval,
            export=export,
            release=release,
            alarm=alarm,
            channel=self.channel,
            target=self.target,
            person=asked_by or self.person,
            subscription=self.subscription,
            webhook=self.webhook,
            shown=self.shown[:200],
            created_at=at,
            due_at=at,
        )


def push_place(row: Subscription) -> Place:
    host = urlsplit(row.endpoint).hostname or ""
    return Place(
        channel=Channel.WEB_PUSH,
        target=f"push:{row.pk}",
        shown=f"{row.person}: {row.browser or host}",
        person=row.person,
        subscription=row,
    )


def email_place(row: Preference) -> Place:
    name, _, domain = row.email.rpartition("@")
    return Place(
        channel=Channel.EMAIL,
        target=f"email:{row.person_id}",
        shown=f"{row.person}: {name[:1]}…@{domain}",
        person=row.person,
    )


def webhook_place(row: Webhook) -> Place:
    return Place(channel=Channel.WEBHOOK, target=f"webhook:{row.pk}", shown=row.name, webhook=row)


def places_of(person_id: UUID | None) -> list[Place]:
    """Give the browsers and the mailbox of a person, as they chose; none for who wants quiet."""
    chosen = Preference.objects.filter(person=person_id).select_related("person").first()
    if chosen is not None and chosen.quiet == Quiet.ALL:
        return []
    places = [push_place(row) for row in Subscription.objects.filter(person=person_id).select_related("person")]
    if chosen is not None and chosen.email and settings.EMAIL_HOST:
        places.append(email_place(chosen))
    return places
