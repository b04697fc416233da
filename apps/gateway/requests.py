"""Requests to people as the waits of this process see them: whoever hears of a change reads the row together."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable
from typing import Final
from uuid import UUID

from apps.approvals.models import Approval
from apps.approvals.selectors import approval_now
from apps.events.notices import RECONNECTED, Notice
from apps.gateway.database import in_database

FRESH_S: Final = 1.0
KEPT: Final = 256
Reading = asyncio.Future[Approval | None]


class LiveRequests:
    """Rows that were read since the last notice about them. Belongs to the loop of the server.

    One notice has many readers: who waits for the answer, who is told of it, who runs what was allowed. A row that was
    read after the notice is the same for all of them.
    """

    def __init__(self) -> None:
        self._read: OrderedDict[UUID, tuple[float, Reading]] = OrderedDict()

    def hear(self, notice: Notice) -> None:
        """Take a notice: what was read before it is not given to anybody any more."""
        if notice.kind == RECONNECTED:
            self._read.clear()
        elif notice.kind.startswith("approval.") and notice.kind != "approval.requested":  # that tells of a first row
            self.forget(notice.id)

    def forget(self, approval_id: UUID | str) -> None:
        """Have the next reader read anew."""
        try:
            self._read.pop(UUID(str(approval_id)), None)
        except ValueError:
            return

    async def asked(self, approval_id: UUID, work: Awaitable[Approval]) -> Approval:
        """Ask people: whoever hears of the new request before the answer is here waits for this row.

        Args:
            approval_id: which the new request will have.
            work: asks, and gives the request that stands.
        """
        asking = asyncio.ensure_future(work)
        self._keep(approval_id, asking)
        try:
            approval: Approval = await asyncio.shield(asking)
        except BaseException:
            self.forget(approval_id)
            raise
        return approval

    async def now(self, approval_id: UUID) -> Approval | None:
        """Give a request as it stands, read since the last notice about it and never longer than a second ago."""
        at, reading = self._read.get(approval_id, (0.0, None))
        if reading is None or (time.monotonic() - at > FRESH_S and reading.done()) or _has_failed(reading):
            reading = asyncio.ensure_future(in_database(approval_now, approval_id))
            self._keep(approval_id, reading)
        return await asyncio.shield(reading)

    def _keep(self, approval_id: UUID, reading: "asyncio.Future[Approval] | Reading") -> None:
        self._read[approval_id] = (time.monotonic(), reading)  # type: ignore[assignment]
        self._read.move_to_end(approval_id)
        while len(self._read) > KEPT:
            self._read.popitem(last=False)


def _has_failed(reading: Reading) -> bool:
    return reading.done() and (reading.cancelled() or reading.exception() is not None)
