"""Who asked for an export is told once that it has ended: on every open page of the console, by push and by e-mail."""

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from apps.audit.models import Export
from apps.events.notices import announce
from apps.notifications.models import Delivery, ToldExport
from apps.notifications.places import places_of
from apps.registry.models import Environment
from apps.registry.services import environment_default

TOLD: Final = (Export.State.DONE, Export.State.FAILED)
# What ended while nothing ran is no news any more.
NEWS: Final = timedelta(hours=12)


def exports_tell(at: datetime) -> int:
    """Tell of the exports that have ended. Harmless to repeat, and to race.

    Returns:
        How many messages are new.
    """
    of_people = Export.objects.filter(requested_by__isnull=False, requested_token=None)
    ended = of_people.filter(state__in=TOLD, finished_at__gt=at - NEWS, told=None)
    return sum(_tell(export, at) for export in ended[:100])


def _tell(export: Export, at: datetime) -> int:
    with transaction.atomic():
        _row, is_new = ToldExport.objects.get_or_create(export=export)
        if not is_new:
            return 0
        announce("export.ended", id=export.requested_by_id)
        slug = export.filters.get("environment", "")
        environment = Environment.objects.filter(slug=slug).first() or environment_default()
        wanted = [place.delivery(environment, None, at, export=export) for place in places_of(export.requested_by_id)]
        return len(Delivery.objects.bulk_create(wanted))
