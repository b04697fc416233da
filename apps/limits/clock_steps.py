"""Limits when the clock of the day is set: windows, pauses and kept results last as long as they would have."""

from datetime import datetime, timedelta
from typing import Final

from django.db.models import F

from apps.events.notices import announce
from apps.limits.models import KeptResult, RateCounter, ToolBreaker

MINUTE_S: Final = 60
COUNTING: Final = 2
"""So many minutes before the step and as many after it a counter may be of."""


def limits_shift(step: timedelta, at: datetime) -> None:
    """Move what counts by the clock along with it.

    A counter that was used since the clock was set is of the new time already and stays.
    """
    _counters_shift(round(step.total_seconds() / MINUTE_S), int(at.timestamp() // MINUTE_S))
    for breaker in ToolBreaker.objects.exclude(opened_at=None).select_related("environment"):
        announce("limit.breaker_changed", id=breaker.pk, environment=breaker.environment.slug)
    ToolBreaker.objects.update(opened_at=F("opened_at") + step, tried_at=F("tried_at") + step)
    KeptResult.objects.update(kept_at=F("kept_at") + step, expires_at=F("expires_at") + step)


def _counters_shift(minutes: int, minute: int) -> None:
    before = minute - minutes
    if abs(minutes) > COUNTING:
        RateCounter.objects.filter(minute__gte=before - COUNTING, minute__lte=before + COUNTING).update(
            minute=F("minute") + minutes
        )
