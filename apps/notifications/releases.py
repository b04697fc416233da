"""Who publishes is told: of a request that wants a second person, of how their own one ended, of an emergency."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction

from apps.accounts.access import Permission, may
from apps.accounts.models import User
from apps.notifications.models import Delivery, ToldRelease
from apps.notifications.places import places_of
from apps.policies.models import Publication, PublishRequest, RequestState
from apps.registry.models import Environment

# What happened while nothing ran is no news any more.
NEWS: Final = timedelta(hours=12)
MOST: Final = 100


def releases_tell(at: datetime) -> int:
    """Tell of requests that moved on and of emergencies. Harmless to repeat, and to race.

    Returns:
        How many messages are new.
    """
    new = sum(_tell(each.environment, _concerned(each), at, request=each, state=each.state) for each in _moved(at))
    emergencies = Publication.objects.filter(is_emergency=True, published_at__gt=at - NEWS, told=None)
    for each in emergencies.select_related("environment")[:MOST]:
        new += _tell(each.environment, _publishers(except_for=each.published_by_id), at, publication=each)
    return new


def _moved(at: datetime) -> list[PublishRequest]:
    """Give the requests of which was not told how they stand."""
    recent = (
        PublishRequest.objects.filter(asked_at__gt=at - NEWS)
        | PublishRequest.objects.filter(ended_at__gt=at - NEWS)
        | PublishRequest.objects.filter(confirmed_at__gt=at - NEWS)
    )
    found = recent.select_related("environment").prefetch_related("told")
    return [each for each in found[:MOST] if each.state not in {told.state for told in each.told.all()}]


def _concerned(request: PublishRequest) -> set[UUID]:
    """Name those whom it concerns: who may confirm; afterwards who asked, and who confirmed what went live later."""
    if request.state == RequestState.WAITING:
        return _publishers(except_for=request.asked_by_id)
    if request.state == RequestState.SCHEDULED and request.confirmed_by_id is None:
        return set()  # nobody but the asker knows of it, who has just asked
    if request.state == RequestState.WITHDRAWN and request.actor in request.outcome:
        return set()  # by whoever asked
    is_later = request.publish_at is not None and request.state != RequestState.SCHEDULED
    people = {request.asked_by_id, request.confirmed_by_id if is_later else None}
    return {person for person in people if person is not None}


def _publishers(*, except_for: UUID | None) -> set[UUID]:
    people = User.objects.filter(is_active=True)
    return {person.pk for person in people if may(person, Permission.PUBLISH) and person.pk != except_for}


def _tell(
    environment: Environment,
    people: set[UUID],
    at: datetime,
    *,
    request: PublishRequest | None = None,
    publication: Publication | None = None,
    state: str = "",
) -> int:
    with transaction.atomic():
        row, is_new = ToldRelease.objects.get_or_create(request=request, publication=publication, state=state)
        if not is_new:
            return 0
        wanted = [
            place.delivery(environment, None, at, release=row)
            for person in sorted(people)
            for place in places_of(person)
        ]
        return len(Delivery.objects.bulk_create(wanted))
