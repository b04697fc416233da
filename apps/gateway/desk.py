"""The calls of this process: each runs on, whoever stops listening; an allowed one is run by exactly one process."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from django.db import DatabaseError
from django.utils import timezone

from apps.approvals.errors import ApprovalError
from apps.approvals.running import approval_claim, approval_finish
from apps.approvals.selectors import approvals_runnable
from apps.approvals.services import approvals_expire, approvals_lapse, approvals_withdraw
from apps.audit.services import boot_id
from apps.firewall.engine.source import ToolEntry
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.abort import Abort, CallAbortedError
from apps.firewall.runtime.abort import Reason as AbortReason
from apps.firewall.runtime.call import Action, Call, CallResult
from apps.firewall.runtime.completion import complete
from apps.firewall.runtime.invoke import invoke, resume
from apps.firewall.runtime.ports import Ports
from apps.firewall.runtime.rehearse import StagedVerdict, verdict_of
from apps.gateway.abandoned import abandoned_end
from apps.gateway.counters import counters
from apps.gateway.database import in_database
from apps.gateway.errors import StoppingError, TooBusyError
from apps.gateway.halting import LiveHalts
from apps.gateway.openclaw.approved import runs_elsewhere
from apps.gateway.queue.cancelling import call_cancel, cancels_asked
from apps.gateway.queue.rows import call_allow
from apps.gateway.queue.settling import approval_settle

log = structlog.get_logger(__name__)

CALLS_LIMIT = 256
RESULTS_KEPT = 1000
RESULT_TTL_S = 600.0
GRACE_S = 5.0
LAST_WORDS_S = 10.0
TICK_S = 0.01  # the loop's clock and the database's need not agree to the millisecond


@dataclass(frozen=True, slots=True)
class Ended:
    """A call of this process that ended, and whose it is; kept for a while for whoever asks again."""

    actor: str
    result: CallResult
    at: float


@dataclass(frozen=True, slots=True)
class Running:
    """A call of this process that runs, and the way to end it."""

    call: Call
    task: asyncio.Task[CallResult]
    abort: Abort


class Desk:
    """Starts calls, keeps their tasks alive, and remembers their answers for some minutes."""

    def __init__(self, ports: Ports, *, limit: int = CALLS_LIMIT, grace_s: float = GRACE_S) -> None:
        self._ports = ports
        self._limit = limit
        self._grace_s = grace_s
        self._tasks: set[asyncio.Task[Any]] = set()
        self._calls: dict[UUID, Running] = {}
        self._ended: OrderedDict[UUID, Ended] = OrderedDict()
        self._resuming: set[UUID] = set()
        self._is_stopping = False

    @property
    def running(self) -> int:
        """How many calls run now."""
        return len(self._calls)

    @property
    def is_stopping(self) -> bool:
        """Say whether this process takes no more calls."""
        return self._is_stopping

    def start(self, call: Call) -> asyncio.Task[CallResult]:
        """Begin a call; it goes on though nobody waits for it.

        Raises:
            TooBusyError, StoppingError: it was not begun.
        """
        self.check()
        abort = Abort()
        return self._track(call, abort, invoke(call, self._ports, abort=abort))

    def resume(self, action: Action, *, approval_id: UUID | None) -> asyncio.Task[CallResult]:
        """Run an action that this process claimed."""
        abort = Abort()
        return self._track(
            action.call(), abort, resume(action, approval_id=approval_id, ports=self._ports, abort=abort)
        )

    def abort(self, call_id: UUID, *, by: str, reason: AbortReason = "cancelled") -> bool:
        """End a call of this process: every process of it goes, and its outcome says who asked for that.

        Returns:
            False when it does not run here.
        """
        running = self._calls.get(call_id)
        if running is None or running.abort.is_asked:
            return running is not None
        running.abort.ask(by=by, reason=reason)
        # Not before its first step: a task that is cancelled earlier never enters the call, and records nothing.
        asyncio.get_running_loop().call_soon(running.task.cancel)
        return True

    async def take_cancels(self) -> None:
        """End the calls of this process that somebody, in whatever process, wants ended."""
        if not self._calls:
            return
        for call_id, by in (await in_database(cancels_asked, list(self._calls))).items():
            self.abort(call_id, by=by)

    def end_stopped(self, halts: LiveHalts) -> None:
        """End the calls of this process that the kill switch ends."""
        for call_id, running in list(self._calls.items()):
            by = halts.ends(running.call)
            if by:
                self.abort(call_id, by=by, reason="stopped")

    async def verdict(self, call: Call) -> StagedVerdict:
        """Say what a call would be answered now; nothing runs, and nothing is recorded."""
        return await verdict_of(call, self._ports)

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
        if len(self._calls) >= self._limit:
            raise TooBusyError(f"{self._limit} calls run already")

    def task_of(self, call_id: UUID) -> asyncio.Task[CallResult] | None:
        """Give the task of a call that runs in this process now."""
        running = self._calls.get(call_id)
        return None if running is None else running.task

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

    def _track(self, call: Call, abort: Abort, work: Coroutine[Any, Any, CallResult]) -> asyncio.Task[CallResult]:
        task: asyncio.Task[CallResult] = self.background(self._finish(call, abort, work))
        self._calls[call.id] = Running(call, task, abort)
        task.add_done_callback(lambda _: self._calls.pop(call.id, None))
        return task

    async def _finish(self, call: Call, abort: Abort, work: Coroutine[Any, Any, CallResult]) -> CallResult:
        try:
            result = await work
        except CallAbortedError as exc:
            result = exc.result  # whoever waits for the call is answered, not cancelled
        if abort.is_asked and _waits(result):
            await complete(self._withdraw(call, abort))
        self._calls.pop(call.id, None)  # from here on whoever wants its end asks the rows, not this process
        counters.add(f"calls.{result.status}")
        if result.asked is not None:
            self._expire_at(result.asked.expires_at)
        if not _waits(result):
            self._ended[call.id] = Ended(call.actor, result, time.monotonic())
            while len(self._ended) > RESULTS_KEPT:
                self._ended.popitem(last=False)
        return result

    async def _withdraw(self, call: Call, abort: Abort) -> None:
        """End a call that was handed over, to a person or the queue, in the moment in which somebody ended it."""
        try:
            await in_database(
                call_cancel,
                call.id,
                by=abort.by,
                environment=call.environment,
                at=timezone.now(),
                reason=abort.reason,
            )
        except (DatabaseError, FirewallError) as exc:  # it waits on, and has not run
            log.error("call.not_withdrawn", call=str(call.id), error=type(exc).__name__)

    def _expire_at(self, at: datetime) -> None:
        """End a request in the moment its time is over: whoever waits hears of it then, not at the next look."""
        left_s = max(0.0, (at - timezone.now()).total_seconds())
        asyncio.get_running_loop().call_later(left_s + TICK_S, lambda: self.background(self._expire()))

    async def _expire(self) -> None:
        if self._is_stopping:
            return
        try:
            await in_database(approvals_expire, timezone.now())
        except DatabaseError as exc:  # the next sweep ends it
            log.warning("approvals.not_expired", error=type(exc).__name__)

    async def run_allowed(self, approval_id: UUID) -> None:
        """Run an allowed action if no other process took it; harmless for any other approval."""
        if approval_id in self._resuming or self._is_stopping:
            return
        self._resuming.add(approval_id)
        try:
            await self._claim_and_run(approval_id)
        except ApprovalError:  # not allowed, or another process has it
            await in_database(approval_settle, approval_id, timezone.now())
        except FirewallError as exc:
            log.warning("approval.not_run", approval=str(approval_id), code=exc.code)
        finally:
            self._resuming.discard(approval_id)

    async def _claim_and_run(self, approval_id: UUID) -> None:
        if await in_database(runs_elsewhere, approval_id):
            return  # an OpenClaw Gateway runs it, if it still waits for the answer
        boot = await in_database(boot_id)
        if await in_database(call_allow, approval_id, boot=boot, at=timezone.now()):
            return  # a worker runs it
        claim = await in_database(approval_claim, approval_id, boot=boot, at=timezone.now())
        action = Action.from_json(claim.action)
        try:
            task = self.resume(action, approval_id=approval_id)
            await self.take_cancels()
            await task
        finally:
            await asyncio.shield(in_database(approval_finish, approval_id, at=timezone.now()))

    async def sweep(self) -> None:
        """Take up what was left: allowed actions nobody runs, requests out of time, runs whose runner is gone."""
        at = timezone.now()
        await in_database(approvals_expire, at)
        await in_database(approvals_withdraw, at)
        await in_database(approvals_lapse, at)
        await in_database(abandoned_end, at)
        await self.take_cancels()
        for approval in await in_database(approvals_runnable, at):
            self.background(self.run_allowed(approval.pk))

    async def stop(self) -> None:
        """Take no more calls, give the running ones some seconds, then end them; each leaves its outcome on record."""
        self._is_stopping = True
        await asyncio.sleep(0)  # a task that is cancelled before its first step never enters its call
        running = {each.task for each in self._calls.values()}
        if running:
            _, running = await asyncio.wait(running, timeout=self._grace_s)
        for task in running | self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=LAST_WORDS_S)


def _waits(result: CallResult) -> bool:
    """Say whether a call was handed over, and ends later and elsewhere."""
    return result.asked is not None or result.status == "queued"
