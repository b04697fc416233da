"""Which session of a gateway spawned which: what a child asks for is decided with the call that spawned it.

A gateway tells it with each question of a child. What it told is kept here with the context of the spawning call, so
that a plugin which has forgotten, or never knew, changes nothing; so is what a reported spawn says.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypedDict

from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.inheritance import may_be_spawned
from apps.firewall.engine.session_key import is_acp_key, is_subagent_key, parse_agent_key
from apps.firewall.runtime.sessions import SPAWN, child_of
from apps.openclaw_gateways.errors import OpenClawGatewayError
from apps.openclaw_gateways.models import GatewayCall, OpenClawGateway, SpawnedSession

ANNOUNCED: Final = "announce:v1:"
"""How the run is called in which a child's end reaches the session that spawned it."""
DEPTH_LIMIT: Final = 8
KEY_LIMIT: Final = 512
KEPT: Final = timedelta(days=30)
REUSED_AFTER: Final = timedelta(days=1)
_KEYS: Final = DIALECTS["2026.9"]
"""The release whose keys gateways write."""


class Spawner(TypedDict):
    """What was known of a call that spawned a session; `known` also names what is known to be none."""

    context: dict[str, Any]
    known: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spawning:
    """That a session was spawned.

    Args:
        is_announced: the session of the call is the spawner itself, which hears how the child ended.
    """

    child_key: str
    parent_key: str
    spawner: Spawner
    is_announced: bool = False


def spawned_keep(row: GatewayCall, result: Mapping[str, Any] | None, *, at: datetime) -> None:
    """Keep the session that a reported call says it spawned; a session that has a spawner keeps it."""
    child = child_of(row.tool, result)
    if child is None or not row.session_key or row.context is None:
        return
    if len(child) > KEY_LIMIT or "\0" in child or not may_be_spawned(_KEYS, child):
        return
    SpawnedSession.objects.get_or_create(
        gateway_id=row.gateway_id,
        session_key=child,
        defaults={"parent_key": row.session_key, "context": row.context, "first_at": at, "used_at": at},
    )


def spawners_of(
    gateway: OpenClawGateway, *, session_key: str | None, claimed: str | None, run: str, at: datetime
) -> list[Spawning]:
    """Return in whose name a session was spawned, the nearest first; none for a session that nobody spawned.

    Args:
        claimed: the session that spawned it, as the gateway says.
        run: the gateway's name for the run; of one that brings a child's end, the call that spawned the child counts.
    Raises:
        OpenClawGatewayError: more sessions spawned one another than are followed.
    """
    found: list[Spawning] = []
    child = _announced(run)
    if child is not None:
        spawned = SpawnedSession.objects.filter(gateway=gateway, session_key=child).first()
        spawner = _unnamed(session_key) if spawned is None else spawned.context
        found.append(Spawning(child_key=child, parent_key=session_key or "", spawner=spawner, is_announced=True))
    key, parent = session_key, claimed
    seen: set[str] = set()
    while key and key not in seen:
        if len(seen) > DEPTH_LIMIT:
            raise OpenClawGatewayError(f"more than {DEPTH_LIMIT} sessions spawned one another")
        seen.add(key)
        spawned = _spawned(gateway, key, parent, at)
        if spawned is None:
            break
        found.append(Spawning(child_key=key, parent_key=spawned.parent_key, spawner=spawned.context))
        if parent and parent != spawned.parent_key:  # it says otherwise than before: both hold
            found.append(Spawning(child_key=key, parent_key=parent, spawner=_newest(gateway, parent)))
        key, parent = spawned.parent_key, spawned.context["context"].get("spawned_by")
    return found


def spawned_forget(at: datetime) -> int:
    """Forget sessions that asked nothing for a month."""
    return SpawnedSession.objects.filter(used_at__lt=at - KEPT).delete()[0]


def is_spawned_key(session_key: str) -> bool:
    """Say whether a session's key is one of those that only spawning makes."""
    return is_subagent_key(_KEYS, session_key) or is_acp_key(_KEYS, session_key)


def _spawned(gateway: OpenClawGateway, key: str, claimed: str | None, at: datetime) -> SpawnedSession | None:
    spawned = SpawnedSession.objects.filter(gateway=gateway, session_key=key).first()
    if spawned is None and claimed:
        spawned, _ = SpawnedSession.objects.get_or_create(
            gateway=gateway,
            session_key=key,
            defaults={
                "parent_key": claimed[:KEY_LIMIT],
                "context": _newest(gateway, claimed),
                "first_at": at,
                "used_at": at,
            },
        )
    if spawned is not None and at - spawned.used_at > REUSED_AFTER:
        spawned.used_at = at
        spawned.save(update_fields=["used_at"])
    return spawned


def _newest(gateway: OpenClawGateway, session_key: str) -> Spawner:
    """Return what was known of the last call that spawned something in a session, else of its last call."""
    asked = GatewayCall.objects.filter(gateway=gateway, session_key=session_key, context__isnull=False)
    row = asked.filter(tool=SPAWN).first() or asked.first()
    if row is not None:
        kept: Spawner = row.context
        return kept
    return _unnamed(session_key)


def _unnamed(session_key: str | None) -> Spawner:
    """Return what is known of a session of which only the key is: not who spoke in it, nor the model."""
    if not session_key:
        return {"context": {}, "known": []}
    parsed = parse_agent_key(_KEYS, session_key)
    named = {} if parsed is None else {"agent_id": parsed.agent_id}
    return {"context": {"session_key": session_key, **named}, "known": []}


def _announced(run: str) -> str | None:
    """Return the child whose end a run brings; its name ends with the child's own run."""
    if not run.startswith(ANNOUNCED):
        return None
    child, colon, _ = run.removeprefix(ANNOUNCED).rpartition(":")
    return child if colon and child else None
