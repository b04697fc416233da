"""Who manages gateways is told of an alarm about one, and so is each webhook of its environment."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from apps.accounts.access import Permission, may, may_environment
from apps.accounts.models import User
from apps.notifications.models import Delivery, ToldAlarm, Webhook
from apps.notifications.places import places_of, webhook_place
from apps.registry.models import Environment


def alarm_tell(
    environment: Environment, *, alarm_id: UUID, kind: str, gateway_id: UUID, name: str, at: datetime
) -> int:
    """Tell of an alarm, once. Harmless to repeat, and to race.

    Args:
        kind: of the alarm, such as `silent`.
        name: of the gateway.
    Returns:
        How many messages are new.
    """
    with transaction.atomic():
        values = {"kind": kind, "gateway": gateway_id, "name": name}
        row, is_new = ToldAlarm.objects.get_or_create(alarm=alarm_id, defaults=values)
        if not is_new:
            return 0
        places = [place for person in _managers(environment) for place in places_of(person)]
        places += [webhook_place(each) for each in Webhook.objects.filter(environment=environment, is_active=True)]
        wanted = [place.delivery(environment, None, at, alarm=row) for place in places]
        return len(Delivery.objects.bulk_create(wanted))


def alarms_told(alarm_ids: list[UUID]) -> set[UUID]:
    """Give those of some alarms that were told."""
    return set(ToldAlarm.objects.filter(alarm__in=alarm_ids).values_list("alarm", flat=True))


def _managers(environment: Environment) -> list[UUID]:
    people = User.objects.filter(is_active=True).order_by("pk")
    return [
        person.pk
        for person in people
        if may(person, Permission.GATEWAYS_MANAGE) and may_environment(person, environment.slug)
    ]
