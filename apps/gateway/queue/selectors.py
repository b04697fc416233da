"""Reading asynchronous calls."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, QuerySet

from apps.gateway.models import AsyncCall
from apps.registry.models import Environment

PAGE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCounts:
    """How many calls are where."""

    awaiting: int = 0
    queued: int = 0
    running: int = 0


def call_queued(call_id: UUID) -> AsyncCall | None:
    """Find an asynchronous call; None for any other."""
    return AsyncCall.objects.select_related("environment").filter(pk=call_id).first()


def async_calls(
    environment: Environment | None, *, state: str = "", before: tuple[datetime, UUID] | None = None, limit: int = PAGE
) -> list[AsyncCall]:
    """Give asynchronous calls with their callback's attempts, newest first.

    Args:
        state: one of `AsyncCall.State`, `open` for all that have not ended, empty for all.
        before: instant and id of the last one of the page before.
    """
    found = _of(environment).select_related("environment").prefetch_related("attempts")
    if state == "open":
        found = found.exclude(state=AsyncCall.State.DONE)
    elif state:
        found = found.filter(state=state)
    if before is not None:
        at, call_id = before
        found = found.filter(asked_at__lte=at).exclude(asked_at=at, pk__gte=call_id)
    return list(found.order_by("-asked_at", "-id")[:limit])


def async_call(environment: Environment | None, call_id: UUID) -> AsyncCall | None:
    """Find an asynchronous call of an environment, with its callback's attempts."""
    found = _of(environment).select_related("environment").prefetch_related("attempts")
    return found.filter(pk=call_id).first()


def queue_counts(environment: Environment | None) -> QueueCounts:
    """Count the calls that have not ended."""
    rows = _of(environment).exclude(state=AsyncCall.State.DONE).order_by().values_list("state").annotate(Count("id"))
    found = dict(rows)
    return QueueCounts(
        awaiting=found.get("awaiting_approval", 0), queued=found.get("queued", 0), running=found.get("running", 0)
    )


def _of(environment: Environment | None) -> QuerySet[AsyncCall]:
    return AsyncCall.objects.all() if environment is None else AsyncCall.objects.filter(environment=environment)
