"""What this door starts with a server process and ends with it."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from apps.events.listener import subscribe
from apps.events.notices import RECONNECTED, Notice
from apps.firewall.tools.mcp.sessions import McpSessions
from apps.gateway.agent_sessions import connections_end
from apps.gateway.desk import Desk
from apps.gateway.hooks import LiveHooks
from apps.gateway.limiting import LiveLimits
from apps.gateway.listings import Listings
from apps.gateway.live import LiveSnapshots
from apps.gateway.queue.callbacks import Callbacks
from apps.gateway.queue.cancelling import ASKED as CANCEL_ASKED
from apps.gateway.queue.taking import Taker
from apps.gateway.tokens import Tokens
from apps.gateway.tool_states import LiveToolStates
from apps.gateway.wiring import live_hooks_of_all, live_limits, live_snapshots, live_tool_states, ports_with
from apps.sessions.services import ENDED as SESSION_ENDED

log = structlog.get_logger(__name__)

POLL_S = 5.0
PUBLICATIONS = ("publication.", "environment.")
TOOLS = ("registry.", "source.", "environment.")
LIMITS = ("limit.", "environment.")
HOOKS = ("hook.", "registry.", "environment.")
PEOPLE = ("token.", "user.")


@dataclass
class Gateway:
    """Everything this process keeps for agents."""

    snapshots: LiveSnapshots
    tool_states: LiveToolStates
    limits: LiveLimits
    hooks: LiveHooks
    tokens: Tokens
    desk: Desk
    taker: Taker
    callbacks: Callbacks
    is_worker: bool = False
    sessions: McpSessions = field(default_factory=McpSessions)
    listings: Listings = field(default_factory=Listings)
    unsubscribe: Callable[[], None] = lambda: None
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)


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
    global _gateway
    snapshots = snapshots or live_snapshots()
    tool_states = live_tool_states()
    limits = live_limits()
    hooks = live_hooks_of_all()
    sessions = McpSessions()
    desk = Desk(ports_with(snapshots, tool_states, limits, hooks, sessions))
    callbacks = Callbacks()
    made = Gateway(
        snapshots=snapshots,
        tool_states=tool_states,
        limits=limits,
        hooks=hooks,
        tokens=Tokens(),
        desk=desk,
        taker=Taker(desk, callbacks),
        callbacks=callbacks,
        is_worker=is_worker,
        sessions=sessions,
    )
    await snapshots.reload()
    await tool_states.reload()
    await limits.reload()
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
    for task in ending.tasks:
        task.cancel()
    await asyncio.gather(*ending.tasks, return_exceptions=True)
    await ending.desk.stop()
    await ending.hooks.close()
    await ending.sessions.close()


def hear(notice: Notice) -> None:
    """Take a notice: what changed is read again in the background."""
    current = _gateway
    if current is None:
        return
    if notice.kind == RECONNECTED or notice.kind.startswith(PEOPLE):
        current.tokens.forget()
    if notice.kind == RECONNECTED or notice.kind.startswith(PUBLICATIONS):
        current.desk.background(_logged(current.snapshots.reload(), "reload"))
    if notice.kind == RECONNECTED or notice.kind.startswith(TOOLS):
        current.desk.background(_logged(current.tool_states.reload(), "reload of tool states"))
    if notice.kind == RECONNECTED or notice.kind.startswith(LIMITS):
        current.desk.background(_logged(current.limits.reload(), "reload of limits"))
    if notice.kind == RECONNECTED or notice.kind.startswith(HOOKS):
        current.desk.background(_logged(current.hooks.reload(), "reload of hooks"))
    if notice.kind == RECONNECTED:
        current.desk.background(_logged(_sweep(current), "sweep"))
    if notice.kind == CANCEL_ASKED:
        current.desk.background(_logged(current.desk.take_cancels(), "cancel"))
    if notice.kind == SESSION_ENDED:
        closing = connections_end(notice.id, current.sessions)
        current.desk.background(_logged(closing, "end of a session's connections"))
    if notice.kind == "approval.resolved" and not current.is_worker:
        with contextlib.suppress(ValueError):
            current.desk.background(current.desk.run_allowed(UUID(notice.id)))


async def _poll(current: Gateway) -> None:
    """The net below the notices."""
    while True:
        await _logged(_sweep(current), "sweep")
        await asyncio.sleep(POLL_S)
        await _logged(current.snapshots.reload(), "reload")
        await _logged(current.tool_states.reload(), "reload of tool states")
        await _logged(current.limits.reload(), "reload of limits")
        await _logged(current.hooks.reload(), "reload of hooks")
        await _logged(current.hooks.flush(), "count of hooks")


async def _sweep(current: Gateway) -> None:
    await (current.desk.take_cancels() if current.is_worker else current.desk.sweep())


async def _logged(work: object, name: str) -> None:
    try:
        await work  # type: ignore[misc]
    except Exception as exc:  # noqa: BLE001 - the database may be away; the next round tries again
        log.warning("gateway.failed", work=name, error=type(exc).__name__)
