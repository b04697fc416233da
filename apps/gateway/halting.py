"""Fills the port `Halts`: what is stopped, in memory, told to whoever waits for every process to have heard."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from apps.audit.services import boot_id
from apps.firewall.engine.context import CallContext
from apps.firewall.runtime.call import Call
from apps.firewall.runtime.halts.matching import Halt, aim_of, halt_for
from apps.gateway.database import in_database
from apps.halts.hearing import halts_heard
from apps.halts.selectors import InForce, Standing, rule_of


@dataclass(frozen=True, slots=True)
class Ending:
    """A stop that also ends what runs, and who placed it."""

    environment: str
    halt: Halt
    by: str


class LiveHalts:
    """Stops of this installation.

    Args:
        load: reads what holds in every environment.
        kind: of this process, for people: `server` or `worker`.
    """

    def __init__(self, load: Callable[[], Standing], *, kind: str = "server") -> None:
        self._load = load
        self._kind = kind
        self._held: dict[str, InForce] = {}
        self._told: tuple[UUID, str] | None = None
        self._ending: tuple[Ending, ...] = ()
        self._reloading = asyncio.Lock()

    def meeting(self, call: Call, tool: str) -> Halt | None:
        return self.meets(call.environment, call.context, agent=call.agent, tool=tool)

    def meets(self, environment: str, context: CallContext, *, agent: str, tool: str) -> Halt | None:
        """Tell the stop that such a call meets now; at once, and almost for nothing while nothing is stopped."""
        held = self._held.get(environment)
        if held is None or not held.halts:
            return None
        return halt_for(held.halts, aim_of(context, agent=agent, tool=tool, release=held.release))

    def ends(self, call: Call) -> str:
        """Name who wants a running call ended; empty for nobody."""
        held = self._held.get(call.environment)
        if held is None:
            return ""
        aim = aim_of(call.context, agent=call.agent, tool=call.tool, release=held.release)
        met = (each.by for each in self._ending if each.environment == call.environment and halt_for([each.halt], aim))
        return next(met, "")

    async def reload(self) -> None:
        """Read what holds now, hold to it, and say so. A database that does not answer changes nothing."""
        async with self._reloading:
            standing = await in_database(self._load)
            self._held = dict(standing.by_environment)
            self._ending = tuple(
                Ending(row.environment.slug, rule_of(row), row.placed_by_label) for row in standing.ending
            )
            self._told = await in_database(_heard, self._kind, standing.digest, self._told)


def _heard(kind: str, digest: str, told: tuple[UUID, str] | None) -> tuple[UUID, str]:
    """Say what this process holds to, once: again for other stops, and for another boot."""
    now = (boot_id(), digest)
    if now != told:
        halts_heard(now[0], kind=kind, digest=digest, at=timezone.now())
    return now
