"""Calls that a person tries at the console: rehearsed without a trace, or made for real as any agent's call."""

import asyncio
import concurrent.futures
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.utils import timezone

from apps.approvals.selectors import grants_for
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.call import Call, CallResult
from apps.firewall.runtime.clock import SystemClock
from apps.firewall.runtime.ports import Ports, Standing, StandingGrant
from apps.firewall.runtime.rehearse import Rehearsal, rehearse
from apps.firewall.runtime.sessions import name_of, place_of
from apps.gateway.agent_sessions import KnownSessions
from apps.gateway.hooks import LiveHooks
from apps.gateway.lifecycle import Gateway, gateway
from apps.gateway.people import QueueOfPeople
from apps.gateway.roles import role_of
from apps.gateway.wiring import AuditLedger, executors, skill_folders
from apps.registry.hooks import live_hooks
from apps.registry.models import Environment
from apps.registry.standing import standings
from apps.sessions.keeping import session_state
from apps.sessions.spawns import spawn_of

WAIT_S: Final = 8.0
"""How long a request waits for a call before it answers that the call goes on."""


class GatewayAwayError(FirewallError):
    """This process runs no calls."""

    code = "unavailable"


@dataclass(frozen=True, slots=True)
class _AsOfNow:
    """Fills the ports `SnapshotSource` and `ToolStates` with what was read before a rehearsal began."""

    snapshot: Snapshot
    standings: Mapping[str, Standing]

    def live(self, environment: str) -> Snapshot | None:  # noqa: ARG002
        return self.snapshot

    def standing(self, environment: str, tool: str) -> Standing | None:  # noqa: ARG002
        return self.standings.get(tool)


class _KnownRole:
    """Fills the port `People` with the role that was read before a rehearsal began."""

    def __init__(self, role: str) -> None:
        self._role = role

    async def role(self, requester: str) -> str:  # noqa: ARG002
        return self._role

    async def ended(self, call: Call) -> str:  # noqa: ARG002
        return ""


class _KnownGrants(QueueOfPeople):
    """Fills the port `Approvals` with the standing answers that were read before a rehearsal began."""

    def __init__(self, grants: Sequence[StandingGrant]) -> None:
        self._grants = grants

    async def grants(self, call: Call, tool: str) -> Sequence[StandingGrant]:  # noqa: ARG002
        return self._grants

    async def check(self, call: Call) -> None:
        """Let every call through: a person who tries a tool is shown that it asks, paused or not."""


def call_rehearse(call: Call, snapshot: Snapshot, environment: Environment) -> Rehearsal:
    """Say what would become of a call now; nothing runs. Not for coroutines."""
    at = timezone.now()
    grants = grants_for(environment, call.agent, at=at, tool=call.tool)
    dialect, key = snapshot.engine.dialect, call.context.session_key
    place = place_of(call, dialect)
    spawn = spawn_of(name_of(dialect, call.environment, call.agent, key)) if key else None
    stands = standings().get(environment.slug, {})
    now = _AsOfNow(snapshot, {name: Standing(code=each.code, message=each.message) for name, each in stands.items()})
    ports = Ports(
        snapshots=now,
        ledger=AuditLedger(),
        approvals=_KnownGrants([StandingGrant(grant.entry, grant) for grant in grants]),
        executor=executors(),
        clock=SystemClock(),
        tool_states=now,
        people=_KnownRole(role_of(call.requester)),
        hooks=LiveHooks(known=live_hooks()),
        sessions=KnownSessions(None if place is None else session_state(place, at=at), spawn),
        skills=skill_folders(),
    )
    return asyncio.run(rehearse(call, ports))


def call_make(call: Call, *, wait_s: float = WAIT_S) -> CallResult | None:
    """Make a call as an agent's program would; it goes on though nobody waits for it. Not for coroutines.

    Returns:
        How it ended, or that it waits for a person; None when it still runs.
    Raises:
        GatewayAwayError: this process has no gateway.
        TooBusyError, StoppingError: it was not begun.
    """
    try:
        current = gateway()
    except RuntimeError as exc:
        raise GatewayAwayError("this process runs no calls: open the console of a server") from exc
    making = asyncio.run_coroutine_threadsafe(_made(current, call, wait_s), current.loop)
    try:
        return making.result(wait_s + 5.0)
    except concurrent.futures.TimeoutError:
        return None


async def _made(current: Gateway, call: Call, wait_s: float) -> CallResult | None:
    task = current.desk.start(call)
    await asyncio.wait({task}, timeout=wait_s)
    return task.result() if task.done() else None
