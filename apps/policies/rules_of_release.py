"""Reads of how an environment publishes: its rule, and the requests that are open or were answered."""

from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from apps.policies.models import PublishRequest, PublishRule, RequestState
from apps.registry.models import Environment

OPEN: Final = (RequestState.WAITING, RequestState.SCHEDULED)


def publish_rule(environment: Environment) -> PublishRule:
    """Return how an environment publishes; what nobody has set needs no second person."""
    return PublishRule.objects.filter(environment=environment).first() or PublishRule(environment=environment)


def needs_second_person(environment: Environment) -> bool:
    """Say whether one person alone cannot publish."""
    return PublishRule.objects.filter(environment=environment, needs_second_person=True).exists()


def publish_requests(environment: Environment) -> QuerySet[PublishRequest]:
    """Every request of an environment, the newest first."""
    return PublishRequest.objects.select_related("environment", "publication", "rollback_of").filter(
        environment=environment
    )


def publish_request_get(environment: Environment, request_id: UUID) -> PublishRequest | None:
    """Find a request of an environment."""
    return publish_requests(environment).filter(pk=request_id).first()


def open_requests() -> QuerySet[PublishRequest]:
    """Requests that wait for a person or for their time, of every environment, the oldest first."""
    found = PublishRequest.objects.select_related("environment").filter(state__in=OPEN)
    return found.order_by("asked_at", "id")
