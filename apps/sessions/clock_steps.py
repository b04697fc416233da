"""Sessions when the clock of the day is set: what they may last is counted on as if it had not been."""

from datetime import datetime, timedelta

from django.db.models import F

from apps.sessions.models import Session


def sessions_shift(step: timedelta, at: datetime) -> None:  # noqa: ARG001 - as every handler of a step
    """Move the beginning of sessions that go on along with the clock: a budget of seconds is used up by no step."""
    Session.objects.filter(ended_at=None).update(started_at=F("started_at") + step)
