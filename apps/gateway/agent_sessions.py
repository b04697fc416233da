"""Fills the port `Sessions` with the room that keeps them; ends what ended ones left open in this process."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from apps.firewall.runtime.sessions import SessionName, SessionPlace, SessionState
from apps.firewall.tools.mcp.sessions import McpSessions, Owner
from apps.gateway.database import in_database
from apps.gateway.people import sender_of
from apps.gateway.spawns import LiveSpawns
from apps.keys.installation import loop_key
from apps.sessions.keeping import session_change, session_state, spawn_keep
from apps.sessions.selectors import session_named

T = TypeVar("T")


class SessionRecords:
    """Fills the port `Sessions`.

    Args:
        spawns: what this process knows of who spawned whom.
    """

    def __init__(self, spawns: LiveSpawns) -> None:
        self._spawns = spawns

    @property
    def loop_key(self) -> bytes:
        return loop_key()

    async def state(self, place: SessionPlace, *, at: datetime) -> SessionState:
        return await in_database(session_state, place, at=at)

    async def change(
        self,
        place: SessionPlace,
        change: Callable[[SessionState], tuple[SessionState, T]],
        *,
        at: datetime,
        is_call: bool,
    ) -> T:
        sender = sender_of(place.call)
        answer = await in_database(lambda: session_change(place, change, sender=sender, at=at, is_call=is_call))
        if place.spawn is not None and is_call:
            self._spawns.told(place.name, place.spawn)
        return answer

    async def spawn(self, name: SessionName) -> Mapping[str, Any] | None:
        return await self._spawns.spawn(name)

    async def last_context(self, environment: str, key: str) -> tuple[str, Mapping[str, Any]] | None:
        return await self._spawns.last_context(environment, key)

    async def spawned(self, place: SessionPlace, *, at: datetime) -> None:
        await in_database(spawn_keep, place, at=at)
        self._spawns.forget(place.name)


class KnownSessions(SessionRecords):
    """Fills the port for one rehearsal, with the state that was read before it began."""

    def __init__(self, state: SessionState | None, spawn: Mapping[str, Any] | None) -> None:
        super().__init__(LiveSpawns())
        self._state, self._spawn = state, spawn

    async def spawn(self, name: SessionName) -> Mapping[str, Any] | None:  # noqa: ARG002
        return self._spawn

    async def state(self, place: SessionPlace, *, at: datetime) -> SessionState:  # noqa: ARG002
        return self._state or SessionState(started_at=at)


async def connections_end(session_id: str, connections: McpSessions) -> None:
    """Close the connections that an ended session has in this process."""
    session = await in_database(session_named, UUID(session_id))
    if session is not None:
        slug = session.environment.slug
        connections.end([Owner.of(slug, session.agent, key) for key in {session.key, *session.spellings}])
