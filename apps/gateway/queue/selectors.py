"""Reading asynchronous calls."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, QuerySet

from apps.accounts.access import Principal, bound_of
from apps.audit.models import Boot
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
    environment: Environment | None,
    *,
    state: str = "",
    after: UUID | None = None,
    limit: int = PAGE,
    viewer: Principal | None = None,
) -> list[AsyncCall]:
    """Give asynchronous calls, newest first.

    Args:
        state: one of `AsyncCall.State`, `open` for all that have not ended, empty for all.
        after: the last one of the page before; one that is forgotten begins anew.
        viewer: who looks; a token that is bound to agents sees theirs alone.
    """
    found = _within(_of(environment).select_related("environment"), viewer)
    if state == "open":
        found = found.exclude(state=AsyncCall.State.DONE)
    elif state:
        found = found.filter(state=state)
    last = None if after is None else AsyncCall.objects.filter(pk=after).first()
    if last is not None:
        found = found.filter(asked_at__lte=last.asked_at).exclude(asked_at=last.asked_at, pk__gte=last.pk)
    return list(found.order_by("-asked_at", "-id")[:limit])


def async_call(environment: Environment | None, call_id: UUID, *, viewer: Principal | None = None) -> AsyncCall | None:
    """Find an asynchronous call of an environment, with its callback's attempts, for who may see it."""
    found = _of(environment).select_related("environment").prefetch_related("attempts")
    return _within(found, viewer).filter(pk=call_id).first()


def _within(calls: QuerySet[AsyncCall], viewer: Principal | None) -> QuerySet[AsyncCall]:
    bound = bound_of(viewer)
    return calls.filter(agent__in=bound) if bound else calls


def queue_counts(environment: Environment | None) -> QueueCounts:
    """Count the calls that have not ended."""
    rows = _of(environment).exclude(state=AsyncCall.State.DONE).order_by().values_list("state").annotate(Count("id"))
    found = dict(rows)
    return QueueCounts(
        awaiting=found.get("awaiting_approval", 0), queued=found.get("queued", 0), running=found.get("running", 0)
    )


def _of(environment: Environment | None) -> QuerySet[AsyncCall]:
    return AsyncCall.objects.all() if environment is None else AsyncCall.objects.filter(environment=environment)


@dataclass(frozen=True, slots=True)
class Runner:
    """A process that took calls."""

    host: str
    pid: int
    is_gone: bool


def runners_of(calls: Iterable[AsyncCall]) -> dict[UUID, Runner]:
    """Tell of each boot that took one of these calls which process it is."""
    boots = {call.claimed_by for call in calls if call.claimed_by is not None}
    rows = Boot.objects.filter(pk__in=boots).values_list("pk", "host", "pid", "ended_at")
    return {pk: Runner(host, pid, ended_at is not None) for pk, host, pid, ended_at in rows}
