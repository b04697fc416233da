"""What this door starts with a server process and ends with it."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from apps.events.listener import subscribe
from apps.events.notices import RECONNECTED, Notice
from apps.firewall.runtime.code_mode.pool import CodePool
from apps.firewall.tools.mcp.sessions import McpSessions
from apps.gateway.agent_sessions import connections_end
from apps.gateway.background.holder import Holder
from apps.gateway.background.inputs import ASKED as COMMAND_ASKED
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


@dataclass
class Gateway:
    """Everything this process keeps for agents."""

    snapshots: LiveSnapshots
    tool_states: LiveToolStates
    limits: LiveLimits
    halts: LiveHalts
    hooks: LiveHooks
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
    unsubscribe: Callable[[], None] = lambda: None
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def __post_init__(self) -> None:
        self.listeners = Listeners(self.requests)


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
    holder = Holder()
    ports = ports_with(snapshots, tool_states, limits, halts, hooks, sessions, holder, LiveRuns())
    desk = Desk(ports)
    callbacks = Callbacks()
    made = Gateway(
        snapshots=snapshots,
        tool_states=tool_states,
        limits=limits,
        halts=halts,
        hooks=hooks,
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
    await snapshots.reload()
    await tool_states.reload()
    await limits.reload()
    await halts.reload()
    await hooks.reload()
    made.unsubscribe = subscribe(hear)
    made.tasks.append(asyncio.create_task(_poll(made), name="gateway poll"))
    _gateway = made


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
    await ending.elsewhere.stop()
    await ending.desk.stop()
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
    if notice.kind == RECONNECTED or notice.kind.startswith(PUBLICATIONS):
        current.desk.background(_logged(_reload(current), "reload"))
    if notice.kind == RECONNECTED or notice.kind.startswith(TOOLS):
        current.desk.background(_logged(current.tool_states.reload(), "reload of tool states"))
    if notice.kind == RECONNECTED or notice.kind.startswith(HALTS):
        current.desk.background(_logged(_hold(current), "reload of stops"))
    if notice.kind == RECONNECTED or notice.kind.startswith(LIMITS):
        current.desk.background(_logged(current.limits.reload(), "reload of limits"))
    if notice.kind == RECONNECTED or notice.kind.startswith(HOOKS):
        current.desk.background(_logged(current.hooks.reload(), "reload of hooks"))
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
        await asyncio.sleep(POLL_S)
        await _logged(_reload(current), "reload")
        await _logged(current.tool_states.reload(), "reload of tool states")
        await _logged(_hold(current), "reload of stops")
        await _logged(current.limits.reload(), "reload of limits")
        await _logged(current.hooks.reload(), "reload of hooks")
        await _logged(current.hooks.flush(), "count of hooks")
        await _logged(current.holder.take(), "wishes for commands")
        await _logged(current.holder.tidy(), "commands that nobody holds")


async def _reload(current: Gateway) -> None:
    """Take what is live by now, and look at the requests that wait under it."""
    await current.snapshots.reload()
    if not current.is_worker:
        await current.reviewer.review()


async def _hold(current: Gateway) -> None:
    """Hold to what is stopped now, and end what runs against it."""
    await current.halts.reload()
    current.desk.end_stopped(current.halts)
    current.holder.end_stopped(current.halts)
    await asyncio.sleep(LEAVING_S)  # a call that was about to leave its command has left it by now
    current.holder.end_stopped(current.halts)


async def _sweep(current: Gateway) -> None:
    if current.is_worker:
        await current.desk.take_cancels()
        return
    await current.desk.sweep()
    await untold_tell(current.hooks)


async def _logged(work: object, name: str) -> None:
    try:
        await work  # type: ignore[misc]
    except Exception as exc:  # noqa: BLE001 - the database may be away; the next round tries again
        log.warning("gateway.failed", work=name, error=type(exc).__name__)
