"""Reading deliveries."""

from apps.accounts.models import User
from apps.notifications.models import Delivery
from apps.registry.models import Environment

RECENT = 50
TRIED = 20


def deliveries_recent(environment: Environment, *, limit: int = RECENT) -> list[Delivery]:
    """Give the latest messages of an environment that were about requests, the newest first."""
    found = Delivery.objects.filter(environment=environment, approval__isnull=False)
    return list(found.select_related("approval", "environment")[:limit])


def deliveries_tried(person: User) -> list[Delivery]:
    """Give what came of the last try of a person's notifications."""
    tried = Delivery.objects.filter(person=person, approval=None, export=None, release=None, alarm=None)
    last = tried.values_list("created_at", flat=True).first()
    return [] if last is None else list(tried.filter(created_at=last).order_by("channel", "id")[:TRIED])
