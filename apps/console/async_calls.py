"""What the pages of asynchronous calls show: where a call is, who runs it, and how its callback went."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.console.calls import STATUSES, StatusKind
from apps.gateway.queue.selectors import runners_of

if TYPE_CHECKING:
    from apps.gateway.models import AsyncCall
    from apps.gateway.queue.selectors import Runner

STATES: dict[str, StatusKind] = {
    "awaiting_approval": StatusKind("warn", _("waits for a person")),
    "queued": StatusKind("warn", _("queued")),
    "running": StatusKind("warn", _("running")),
}
FILTERS: dict[str, Promise] = {"": _("All"), "open": _("Not ended"), "done": _("Ended")}
CALLBACKS: dict[str, StatusKind] = {
    "waiting": StatusKind("warn", _("to be told")),
    "delivered": StatusKind("ok", _("told")),
    "failed": StatusKind("bad", _("given up")),
}


@dataclass(frozen=True, slots=True)
class ShownAsyncCall:
    """A call with the process that runs, or ran, it."""

    call: "AsyncCall"
    runner: "Runner | None"

    @property
    def status(self) -> StatusKind:
        known = STATES if self.call.is_open else STATUSES
        return known.get(self.call.state if self.call.is_open else self.call.outcome, STATUSES["unknown"])

    @property
    def callback(self) -> StatusKind | None:
        return CALLBACKS.get(self.call.callback)

    @property
    def is_recorded(self) -> bool:
        """Say whether the ledger has it: what only waits in the queue has no entry yet."""
        return not (self.call.state == "queued" and self.call.approval_id is None)


def shown(calls: "Iterable[AsyncCall]") -> Iterator[ShownAsyncCall]:
    """Put each call together with its runner, in one query for all."""
    found = list(calls)
    runners = runners_of(found)
    return (ShownAsyncCall(call, runners.get(call.claimed_by) if call.claimed_by else None) for call in found)
