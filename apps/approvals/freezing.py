"""The kill switch and requests that wait: their time stands still, and goes on where it stood."""

from datetime import datetime

from django.db.models import F, Q

from apps.approvals.models import Approval
from apps.approvals.states import State
from apps.events.notices import announce
from apps.registry.models import Environment


def approvals_freeze(environment: Environment, held: Q, *, at: datetime) -> int:
    """Freeze every request that waits and is held, and let the others' time go on. Part of the caller's transaction.

    Args:
        held: which requests are stopped now, as a condition on them; an empty one means none.
    Returns:
        How many are frozen now that were not before.
    """
    waiting = Approval.objects.select_for_update().filter(environment=environment, state=State.REQUESTED).order_by("pk")
    met = set(waiting.filter(held).values_list("pk", flat=True)) if held else set()
    frozen = set(waiting.filter(frozen_at__isnull=False).values_list("pk", flat=True))
    over = set(waiting.filter(frozen_at=None, expires_at__lte=at).values_list("pk", flat=True))  # left to the sweep
    freezing, thawing = met - frozen - over, frozen - met
    rows = Approval.objects.filter(state=State.REQUESTED)
    rows.filter(pk__in=freezing).update(frozen_at=at, version=F("version") + 1)
    rows.filter(pk__in=thawing).update(
        expires_at=F("expires_at") + (at - F("frozen_at")),
        stood_still=F("stood_still") + (at - F("frozen_at")),
        frozen_at=None,
        version=F("version") + 1,
    )
    for approval_id in freezing | thawing:
        announce("approval.changed", id=approval_id, environment=environment.slug)
    return len(freezing)
