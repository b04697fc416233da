"""What this door starts with a server process and ends with it."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import structlog
from django.utils import timezone

from apps.approvals.services import approvals_withdraw
from apps.audit.late_entries import late_entries
from apps.events.barrier import ASKED as BARRIER_ASKED
from apps.events.barrier import barrier_latest, process_answer, process_leave, process_register
from apps.events.clock import clock_check
from apps.events.listener import subscribe
from apps.events.notices import RECONNECTED, Notice
from apps.firewall.identifiers import new_id
from apps.firewall.runtime.code_mode.pool import CodePool
from apps.firewall.tools.mcp.sessions import McpSessions
from apps.gateway.agent_sessions import connections_end
from apps.gateway.background.holder import Holder
from apps.gateway.background.inputs import ASKED as COMMAND_ASKED
from apps.gateway.database import in_database
from apps.gateway.desk import Desk
from apps.gateway.halting import LiveHalts
from apps.gateway.hooks import LiveHooks
from apps.gateway.limiting import LiveLimits
from apps.gateway.listings import Listings
from apps.gateway.live import LiveSnapshots
from apps.gateway.queue.callbacks import Callbacks
from apps.gateway.queue.cancelling import ASKED as CANCEL_ASKED
from apps.gateway.queue.taking import Taker
from apps.gateway.requests import LiveRequests
from apps.gateway.reviewing import Reviewer
from apps.gateway.rpc.telling import Listeners
from apps.gateway.spawns import LiveSpawns
from apps.gateway.tokens import Tokens
from apps.gateway.tool_runs.catalogues import Catalogues
from apps.gateway.tool_states import LiveToolStates
from apps.gateway.untold import ENDED as CALL_UNTOLD
from apps.gateway.untold import untold_tell
from apps.gateway.wiring import (
    live_hooks_of_all,
    live_limits,
    live_snapshots,
    live_tool_states,
    ports_elsewhere,
    ports_with,
)
from apps.halts.selectors import halts_standing
from apps.sessions.keeping import SPAWNED
from apps.sessions.services import ENDED as SESSION_ENDED

log = structlog.get_logger(__name__)

POLL_S = 5.0
LEAVING_S = 0.3
ELSEWHERE_LIMIT = 2048  # calls that OpenClaw Gateways run: here each only waits
PUBLICATIONS = ("publication.", "environment.")
TOOLS = ("registry.", "source.", "environment.")
LIMITS = ("limit.", "environment.")
HALTS = ("halt.", "environment.")
HOOKS = ("hook.", "registry.", "environment.")
PEOPLE = ("token.", "user.")
BEAT_S = 4.0


@dataclass
class Gateway:
    """Everything this process keeps for agents."""

    snapshots: LiveSnapshots
    tool_states: LiveToolStates
    limits: LiveLimits
    halts: LiveHalts
    hooks: LiveHooks
    spawns: LiveSpawns
    tokens: Tokens
    desk: Desk
    elsewhere: Desk
    taker: Taker
    callbacks: Callbacks
    reviewer: Reviewer
    holder: Holder
    is_worker: bool = False
    sessions: McpSessions = field(default_factory=McpSessions)
    listings: Listings = field(default_factory=Listings)
    catalogues: Catalogues = field(default_factory=Catalogues)
    code: CodePool = field(default_factory=CodePool)
    requests: LiveRequests = field(default_factory=LiveRequests)
    listeners: Listeners = field(init=False)
    id: UUID = field(default_factory=new_id)
    taking_up: set[asyncio.Task[bool]] = field(default_factory=set)
    unsubscribe: Callable[[], None] = lambda: None
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def __post_init__(self) -> None:
        self.listeners = Listeners(self.requests)

    @property
    def kind(self) -> str:
        """Name what this process is, for people: `server` or `worker`."""
        return "worker" if self.is_worker else "server"

    def take_up(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Read a change in the background; a question whether this process holds to it waits for that."""
        task = self.desk.background(_done(work, name))
        self.taking_up.add(task)
        task.add_done_callback(self.taking_up.discard)

    async def take_up_all(self) -> None:
        """Read everything that is kept in memory as it stands now."""
        self.tokens.forget()
        await self.snapshots.reload()
        await self.tool_states.reload()
        await self.limits.reload()
        await self.halts.reload()
        await self.hooks.reload()
        await self.spawns.reload()


_gateway: Gateway | None = None


def gateway() -> Gateway:
    """Give the gateway of this process.

    Raises:
        RuntimeError: it was not started.
    """
    if _gateway is None:
        raise RuntimeError("the gateway was not started: the server runs without its lifespan")
    return _gateway


async def start(snapshots: LiveSnapshots | None = None, *, is_worker: bool = False) -> None:
    """Read what is live, listen to notices, and take up what an earlier process left. Before the first request.

    Args:
        snapshots: where what is live comes from; the publications when absent.
        is_worker: it runs queued calls and answers nobody: what a person allowed is left to those who answer.
    """
    from apps.gateway.tool_runs.controls import LiveRuns  # it makes calls, with what this module starts

    global _gateway
    snapshots = snapshots or live_snapshots()
    tool_states = live_tool_states()
    limits = live_limits()
    halts = LiveHalts(halts_standing, kind="worker" if is_worker else "server")
    hooks = live_hooks_of_all()
    sessions = McpSessions()
    holder, spawns = Holder(), LiveSpawns()
    ports = ports_with(snapshots, tool_states, limits, halts, hooks, sessions, holder, LiveRuns(), spawns)
    desk = Desk(ports)
    callbacks = Callbacks()
    made = Gateway(
        snapshots=snapshots,
        tool_states=tool_states,
        limits=limits,
        halts=halts,
        hooks=hooks,
        spawns=spawns,
        tokens=Tokens(),
        desk=desk,
        elsewhere=Desk(ports_elsewhere(ports), limit=ELSEWHERE_LIMIT, grace_s=0.0),
        taker=Taker(desk, callbacks),
        callbacks=callbacks,
        reviewer=Reviewer(snapshots),
        holder=holder,
        is_worker=is_worker,
        sessions=sessions,
    )
    await made.take_up_all()
    _gateway = made
    made.unsubscribe = subscribe(hear)
    await _stand(made)
    made.tasks.append(asyncio.create_task(_poll(made), name="gateway poll"))
    made.tasks.append(asyncio.create_task(_beat(made), name="gateway beat"))


async def stop() -> None:
    """End what runs, each call with its outcome on record."""
    global _gateway
    ending, _gateway = _gateway, None
    if ending is None:
        return
    ending.unsubscribe()
    ending.listeners.stop()
    for task in ending.tasks:
        task.cancel()
    await asyncio.gather(*ending.tasks, return_exceptions=True)
    await _logged(in_database(process_leave, ending.id), "end of a process")
    await ending.elsewhere.stop()
    await ending.desk.stop()
    await _logged(_store_late_entries(), "ends of calls that the ledger did not take")
    await ending.holder.stop()
    await ending.hooks.close()
    await ending.sessions.close()
    await ending.code.close()


def hear(notice: Notice) -> None:
    """Take a notice: what changed is read again in the background."""
    current = _gateway
    if current is None:
        return
    current.requests.hear(notice)
    current.listeners.hear(notice)
    if notice.kind == RECONNECTED or notice.kind.startswith(PEOPLE):
        current.tokens.forget()
        current.desk.background(_logged(in_database(approvals_withdraw, timezone.now()), "withdrawal of requests"))
    if notice.kind == RECONNECTED or notice.kind.startswith(PUBLICATIONS):
        current.take_up(_reload(current), "reload")
    if notice.kind == RECONNECTED or notice.kind.startswith(TOOLS):
        current.take_up(current.tool_states.reload(), "reload of tool states")
    if notice.kind == RECONNECTED or notice.kind.startswith(HALTS):
        current.take_up(_hold(current), "reload of stops")
    if notice.kind == RECONNECTED or notice.kind.startswith(LIMITS):
        current.take_up(current.limits.reload(), "reload of limits")
    if notice.kind == RECONNECTED or notice.kind.startswith(HOOKS):
        current.take_up(current.hooks.reload(), "reload of hooks")
    if notice.kind == RECONNECTED:
        current.take_up(current.spawns.reload(), "reload of who spawned whom")
    if notice.kind == SPAWNED:
        current.take_up(current.spawns.hear(notice.id), "record of a spawn")
    if notice.kind == BARRIER_ASKED:
        current.desk.background(_logged(_answer(current, int(notice.id)), "answer to a barrier"))
    if notice.kind == RECONNECTED:  # questions that came meanwhile were not heard
        current.desk.background(_logged(_answer_latest(current), "answer to a barrier"))
    if notice.kind == RECONNECTED:
        current.desk.background(_logged(_sweep(current), "sweep"))
    if notice.kind == CANCEL_ASKED:
        current.desk.background(_logged(current.desk.take_cancels(), "cancel"))
    if notice.kind in {COMMAND_ASKED, SESSION_ENDED, RECONNECTED}:
        current.desk.background(_logged(current.holder.take(), "wishes for commands"))
    if notice.kind == SESSION_ENDED:
        closing = connections_end(notice.id, current.sessions)
        current.desk.background(_logged(closing, "end of a session's connections"))
    if notice.kind == CALL_UNTOLD and not current.is_worker:
        current.desk.background(_logged(untold_tell(current.hooks), "ends of calls for hooks"))
    if notice.kind == "approval.resolved" and not current.is_worker:
        current.desk.background(_logged(_answered(current, notice.id), "answer"))


async def _answered(current: Gateway, identifier: str) -> None:
    """Do what follows from an answer here: nothing where whoever asked runs the action itself."""
    with contextlib.suppress(ValueError):
        approval = await current.requests.now(UUID(identifier))
        if approval is not None and approval.runs_here:
            current.desk.background(_logged(untold_tell(current.hooks), "ends of calls for hooks"))
            await current.desk.run_allowed(approval.pk)


async def _poll(current: Gateway) -> None:
    """The net below the notices."""
    while True:
        await _logged(_sweep(current), "sweep")
        await _logged(_store_late_entries(), "ends of calls that the ledger did not take")
        await asyncio.sleep(POLL_S)
        await _logged(_reload(current), "reload")
        await _logged(current.tool_states.reload(), "reload of tool states")
        await _logged(_hold(current), "reload of stops")
        await _logged(current.limits.reload(), "reload of limits")
        await _logged(current.hooks.reload(), "reload of hooks")
        await _logged(current.hooks.flush(), "count of hooks")
        await _logged(current.holder.take(), "wishes for commands")
        await _logged(current.holder.tidy(), "commands that nobody holds")


async def _store_late_entries() -> None:
    if late_entries:
        await in_database(late_entries.store)


async def _stand(current: Gateway) -> None:
    """Read everything once more, now that notices are heard, and say from when on this process holds to it."""
    number = await in_database(barrier_latest)
    await current.take_up_all()
    await in_database(process_register, current.id, kind=current.kind, heard=number)


async def _beat(current: Gateway) -> None:
    """Keep the lease of this process, and notice when the clock of the day is set."""
    while True:
        await asyncio.sleep(BEAT_S)
        await _logged(in_database(process_register, current.id, kind=current.kind, heard=0), "lease of the process")
        await _logged(in_database(clock_check), "look at the clock")


async def _answer(current: Gateway, number: int) -> None:
    """Answer a question once everything that was heard before it is in force."""
    done = await asyncio.gather(*current.taking_up)
    if not all(done):
        await current.take_up_all()
    await in_database(process_answer, current.id, number)


async def _answer_latest(current: Gateway) -> None:
    number = await in_database(barrier_latest)
    await current.take_up_all()
    await in_database(process_answer, current.id, number)


async def _reload(current: Gateway) -> None:
    """Take what is live by now, and have the requests looked at that wait under it."""
    await current.snapshots.reload()
    if not current.is_worker:
        current.desk.background(_logged(current.reviewer.review(), "review of requests"))


async def _hold(current: Gateway) -> None:
    """Hold to what is stopped now, and end what runs against it."""
    await current.halts.reload()
    current.desk.end_stopped(current.halts)
    current.holder.end_stopped(current.halts)
    current.desk.background(_logged(_hold_those_that_leave(current), "end of commands"))


async def _hold_those_that_leave(current: Gateway) -> None:
    """End commands, too, that calls were about to leave behind when everything else was ended."""
    await asyncio.sleep(LEAVING_S)
    current.holder.end_stopped(current.halts)


async def _sweep(current: Gateway) -> None:
    if current.is_worker:
        await current.desk.take_cancels()
        return
    await current.desk.sweep()
    await untold_tell(current.hooks)


async def _logged(work: object, name: str) -> None:
    await _done(work, name)


async def _done(work: object, name: str) -> bool:
    """Do something in the background, and say whether it succeeded."""
    try:
        await work  # type: ignore[misc]
    except Exception as exc:  # noqa: BLE001 - the database may be away; the next round tries again
        log.warning("gateway.failed", work=name, error=type(exc).__name__)
        return False
    return True
