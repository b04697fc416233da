"""Fills the port `Sessions` with the room that keeps them; ends what ended ones left open in this process."""

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from apps.firewall.runtime.sessions import SessionPlace, SessionState
from apps.firewall.tools.mcp.sessions import McpSessions, Owner
from apps.gateway.database import in_database
from apps.gateway.people import sender_of
from apps.keys.installation import loop_key
from apps.sessions.keeping import session_change, session_state
from apps.sessions.selectors import session_named

T = TypeVar("T")


class SessionRecords:
    """Fills the port `Sessions`."""

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
        return await in_database(lambda: session_change(place, change, sender=sender, at=at, is_call=is_call))


class KnownSessions(SessionRecords):
    """Fills the port for one rehearsal, with the state that was read before it began."""

    def __init__(self, state: SessionState | None) -> None:
        self._state = state

    async def state(self, place: SessionPlace, *, at: datetime) -> SessionState:  # noqa: ARG002
        return self._state or SessionState(started_at=at)


async def connections_end(session_id: str, connections: McpSessions) -> None:
    """Close the connections that an ended session has in this process."""
    session = await in_database(session_named, UUID(session_id))
    if session is not None:
        slug = session.environment.slug
        connections.end([Owner.of(slug, session.agent, key) for key in {session.key, *session.spellings}])
