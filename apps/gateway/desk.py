"""The calls of this process: each runs on, whoever stops listening; an allowed one is run by exactly one process."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from django.utils import timezone

from apps.approvals.errors import ApprovalError
from apps.approvals.selectors import approvals_runnable
from apps.approvals.services import approval_claim, approval_finish, approvals_expire
from apps.audit.services import boot_id
from apps.firewall.engine.source import ToolEntry
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.call import Action, Call, CallResult
from apps.firewall.runtime.invoke import invoke, resume
from apps.firewall.runtime.ports import Ports
from apps.gateway.abandoned import abandoned_end
from apps.gateway.counters import counters
from apps.gateway.database import in_database
from apps.gateway.errors import StoppingError, TooBusyError

log = structlog.get_logger(__name__)

CALLS_LIMIT = 256
RESULTS_KEPT = 1000
RESULT_TTL_S = 600.0
GRACE_S = 5.0
LAST_WORDS_S = 10.0


@dataclass(frozen=True, slots=True)
class Ended:
    """A call of this process that ended, and whose it is; kept for a while for whoever asks again."""

    actor: str
    result: CallResult
    at: float


class Desk:
    """Starts calls, keeps their tasks alive, and remembers their answers for some minutes."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._tasks: set[asyncio.Task[Any]] = set()
        self._calls: dict[UUID, asyncio.Task[CallResult]] = {}
        self._ended: OrderedDict[UUID, Ended] = OrderedDict()
        self._resuming: set[UUID] = set()
        self._is_stopping = False

    @property
    def running(self) -> int:
        """How many calls run now."""
        return len(self._calls)

    def start(self, call: Call) -> asyncio.Task[CallResult]:
        """Begin a call; it goes on though nobody waits for it.

        Raises:
            TooBusyError, StoppingError: it was not begun.
        """
        self.check()
        return self._track(call, invoke(call, self._ports))

    def runs(self, tool: ToolEntry) -> bool:
        """Say whether a tool can run here."""
        return self._ports.executor.runs(tool)

    def check(self) -> None:
        """Let through whoever wants to begin a call.

        Raises:
            TooBusyError, StoppingError: none can begin now.
        """
        if self._is_stopping:
            raise StoppingError("this server is stopping")
        if len(self._calls) >= CALLS_LIMIT:
            raise TooBusyError(f"{CALLS_LIMIT} calls run already")

    def task_of(self, call_id: UUID) -> asyncio.Task[CallResult] | None:
        """Give the task of a call that runs in this process now."""
        return self._calls.get(call_id)

    def ended(self, call_id: UUID) -> Ended | None:
        """Give what a call of this process answered, unmasked, while it is remembered."""
        found = self._ended.get(call_id)
        return found if found is not None and time.monotonic() - found.at < RESULT_TTL_S else None

    def background(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run something and keep it from being collected."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _track(self, call: Call, work: Coroutine[Any, Any, CallResult]) -> asyncio.Task[CallResult]:
        task: asyncio.Task[CallResult] = self.background(self._finish(call, work))
        self._calls[call.id] = task
        task.add_done_callback(lambda _: self._calls.pop(call.id, None))
        return task

    async def _finish(self, call: Call, work: Coroutine[Any, Any, CallResult]) -> CallResult:
        result = await work
        counters.add(f"calls.{result.status}")
        if result.asked is None:
            self._ended[call.id] = Ended(call.actor, result, time.monotonic())
            while len(self._ended) > RESULTS_KEPT:
                self._ended.popitem(last=False)
        return result

    async def run_allowed(self, approval_id: UUID) -> None:
        """Run an allowed action if no other process took it; harmless for any other approval."""
        if approval_id in self._resuming or self._is_stopping:
            return
        self._resuming.add(approval_id)
        try:
            await self._claim_and_run(approval_id)
        except ApprovalError:
            return  # not allowed, or another process has it
        except FirewallError as exc:
            log.warning("approval.not_run", approval=str(approval_id), code=exc.code)
        finally:
            self._resuming.discard(approval_id)

    async def _claim_and_run(self, approval_id: UUID) -> None:
        boot = await in_database(boot_id)
        claim = await in_database(approval_claim, approval_id, boot=boot, at=timezone.now())
        action = Action.from_json(claim.action)
        try:
            await self._track(action.call(), resume(action, approval_id=approval_id, ports=self._ports))
        finally:
            await asyncio.shield(in_database(approval_finish, approval_id, at=timezone.now()))

    async def sweep(self) -> None:
        """Take up what was left: allowed actions nobody runs, requests out of time, runs whose runner is gone."""
        at = timezone.now()
        await in_database(approvals_expire, at)
        await in_database(abandoned_end, at)
        for approval in await in_database(approvals_runnable, at):
            self.background(self.run_allowed(approval.pk))

    async def stop(self) -> None:
        """Take no more calls, give the running ones some seconds, then end them; each leaves its outcome on record."""
        self._is_stopping = True
        running = set(self._calls.values())
        if running:
            _, running = await asyncio.wait(running, timeout=GRACE_S)
        for task in running | self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=LAST_WORDS_S)
