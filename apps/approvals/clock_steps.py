"""Pending requests when the clock of the day is set: each keeps the time that it has left."""

from datetime import datetime, timedelta

from django.db.models import F

from apps.approvals.models import Approval
from apps.approvals.states import State
from apps.events.notices import announce


def approvals_shift(step: timedelta, at: datetime) -> None:  # noqa: ARG001 - as every handler of a step
    """Move the ends of requests along with the clock, and count the step for nothing of the time that they waited.

    A frozen one gets the time that it had left when it thaws.
    """
    pending = Approval.objects.filter(state=State.REQUESTED, frozen_at=None)
    for approval in pending.select_related("environment"):
        announce("approval.changed", id=approval.pk, environment=approval.environment.slug)
    pending.update(expires_at=F("expires_at") + step, stood_still=F("stood_still") + step)
