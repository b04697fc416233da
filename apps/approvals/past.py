"""Reading requests that ended: a page of them at a time, newest first."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from apps.accounts.access import Principal
from apps.approvals.access import approvals_visible
from apps.approvals.models import Approval
from apps.approvals.states import State
from apps.firewall.engine.subjects import kept_name
from apps.registry.models import Environment

TEXT_LIMIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PastFilters:
    """Which requests; empty means any. `text` stands somewhere in the line, the tool's name or the title."""

    state: str = ""
    kind: str = ""
    agent: str = ""
    by: str = ""
    text: str = ""


ENDS = tuple(sorted(state.value for state in State if state is not State.REQUESTED))


def approvals_ended(
    environment: Environment | None,
    filters: PastFilters,
    *,
    before: UUID | None = None,
    limit: int,
    viewer: Principal | None = None,
) -> list[Approval]:
    """List requests that ended, newest first, after the one that the last page ended with.

    Args:
        environment: of every environment when None.
        before: a request that ended; one that is unknown begins anew.
        viewer: who reads them, where that decides which there are; a person sees all of an environment.
    """
    found = Approval.objects.filter(decided_at__isnull=False).select_related("environment")
    if viewer is not None:
        found = approvals_visible(viewer, found)
    if environment is not None:
        found = found.filter(environment=environment)
    exact = {"state": filters.state, "kind": filters.kind, "agent": kept_name("agent", filters.agent)}
    found = found.filter(**{name: value for name, value in exact.items() if value})
    if filters.by:
        found = found.filter(decided_by_label__icontains=filters.by[:TEXT_LIMIT])
    if filters.text:
        text = filters.text[:TEXT_LIMIT]
        found = found.filter(Q(command__icontains=text) | Q(tool__icontains=text) | Q(title__icontains=text))
    last = None if before is None else found.filter(pk=before).values_list("decided_at", "pk").first()
    if last is not None:
        found = found.filter(Q(decided_at__lt=last[0]) | Q(decided_at=last[0], pk__lt=last[1]))
    return list(found.order_by("-decided_at", "-id").prefetch_related("grants")[:limit])
