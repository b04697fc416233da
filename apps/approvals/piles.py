"""Similar requests that wait, taken together: one card for many of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

from django.db.models import Case, CharField, Count, F, Q, QuerySet, When, Window
from django.db.models.functions import Cast, RowNumber

from apps.accounts.access import Principal
from apps.approvals.access import approvals_visible
from apps.approvals.assigned import Assigned
from apps.approvals.models import Approval
from apps.approvals.selectors import approvals_pending, in_time
from apps.registry.models import Environment

SIMILAR_FROM: Final = 3
"""So many similar requests become one card; of fewer, each is answered faster by itself."""


@dataclass(frozen=True, slots=True)
class Pile:
    """Similar requests: how many wait, and the one of them with the least time left."""

    first: Approval
    count: int

    @property
    def is_alone(self) -> bool:
        """Say whether it is one request that has a card of its own."""
        return self.count == 1


def piles(environment: Environment, *, by: Principal, at: datetime, most: int, mine: bool = False) -> list[Pile]:
    """Give what waits as cards, the one with the least time left first; one query however many requests wait.

    Args:
        by: who looks; what they may not see counts nowhere.
        most: cards that are given at most.
        mine: only what is left to who looks.
    """
    key = Case(When(shape="", then=Cast("id", CharField())), default=F("shape"), output_field=CharField())
    counted = waiting(environment, by=by, at=at, mine=mine).annotate(
        key=key,
        alike=Window(Count("*"), partition_by=F("key")),
        place=Window(RowNumber(), partition_by=F("key"), order_by=["expires_at", "id"]),
    )
    rows = counted.filter(Q(place=1) | Q(alike__lt=SIMILAR_FROM)).order_by("expires_at", "id")[:most]
    return [Pile(row, row.alike if row.alike >= SIMILAR_FROM else 1) for row in cast(Iterable, rows)]  # type: ignore[type-arg]


def waiting(
    environment: Environment, *, by: Principal, at: datetime, shape: str = "", mine: bool = False
) -> QuerySet[Approval]:
    """Give the requests that can be answered now, the one with the least time left first.

    Args:
        by: who looks.
        shape: only those of this shape; empty for all.
        mine: only those that are left to who looks.
    """
    found = approvals_visible(by, approvals_pending(environment)).filter(in_time(at))
    found = found.filter(shape=shape) if shape else found
    return found.filter(pk__in=Assigned(environment, by, at).ids(found)) if mine else found
