"""What a process does with asynchronous calls: claims as many as it has room for, runs them, says that they ended."""

import asyncio
from uuid import UUID

import structlog
from django.db import DatabaseError
from django.utils import timezone

from apps.audit.services import boot_id
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.call import CallResult
from apps.gateway.database import in_database
from apps.gateway.desk import Desk
from apps.gateway.queue.callbacks import Callbacks
from apps.gateway.queue.rows import Claimed, call_end, calls_claim

log = structlog.get_logger(__name__)

AT_ONCE = 8


class Taker:
    """Runs queued calls on the desk of this process, a bounded number at once."""

    def __init__(self, desk: Desk, callbacks: Callbacks) -> None:
        self._desk = desk
        self._callbacks = callbacks
        self._running: set[UUID] = set()
        self._claiming = asyncio.Lock()
        self._is_wanted = False

    async def take(self) -> int:
        """Claim and start what waits; who comes while another looks has that one look once more.

        Returns:
            How many calls were begun.
        """
        self._is_wanted = True
        if self._claiming.locked():
            return 0
        begun = 0
        async with self._claiming:
            while self._is_wanted:
                self._is_wanted = False
                begun += await self._claim()
        return begun

    async def _claim(self) -> int:
        room = AT_ONCE - len(self._running)
        if room <= 0 or self._desk.is_stopping:
            return 0
        boot = await in_database(boot_id)
        claimed = await in_database(calls_claim, boot=boot, at=timezone.now(), limit=room)
        for each in claimed:
            self._running.add(each.call_id)
            self._desk.background(self._run(each))
        return len(claimed)

    async def _run(self, claimed: Claimed) -> None:
        task = self._desk.resume(claimed.action, approval_id=claimed.approval_id)
        try:
            await self._until_over(task)
            await self._end(claimed, task)
        finally:
            self._running.discard(claimed.call_id)
        if claimed.has_callback:
            self._desk.background(self._callbacks.deliver(claimed.call_id))
        if not self._desk.is_stopping:
            await self.take()

    async def _until_over(self, task: "asyncio.Task[CallResult]") -> None:
        """Wait for the task although this one may be cancelled: a server that stops ends the call itself."""
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                continue

    async def _end(self, claimed: Claimed, task: "asyncio.Task[CallResult]") -> None:
        """Close the row; where that fails, the sweeper closes it by what the ledger holds."""
        outcome, code = _outcome(task)
        try:
            await asyncio.shield(
                in_database(
                    call_end,
                    claimed.call_id,
                    outcome,
                    environment=claimed.action.environment,
                    code=code,
                    at=timezone.now(),
                )
            )
        except (DatabaseError, FirewallError) as exc:
            log.warning("async_call.not_ended", call=str(claimed.call_id), error=type(exc).__name__)


def _outcome(task: "asyncio.Task[CallResult]") -> tuple[str, str]:
    if task.cancelled():
        return "failed", "cancelled"
    if task.exception() is not None:
        return "unknown", "internal_error"
    result = task.result()
    return result.status, "" if result.error is None else str(result.error["code"])
