"""Which session a call belongs to: the same one, however its key is spelled."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import trim
from apps.firewall.engine.session_key import store_key, subagent_depth
from apps.firewall.runtime.call import Call

KEY_LIMIT: Final = 512
_KEPT: Final = 400


@dataclass(frozen=True, slots=True)
class SessionName:
    """What makes a session one: `key` is the full key, `agent:<agent>:<rest>`."""

    environment: str
    agent: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlace:
    """Where a call stands: its session, and the one that spawned it.

    Args:
        parent_key: full key; empty when the caller names none.
        depth: how many sub-agents deep the session is.
        spawn: the record of its parent, where one is known.
    """

    name: SessionName
    call: Call
    parent_key: str = ""
    depth: int = 0
    spawn: Mapping[str, Any] | None = None


def place_of(call: Call, dialect: Dialect) -> SessionPlace | None:
    """Tell where a call stands; None for a call that names no session.

    Source: conformance README, `store_key` of `session_key.jsonl`.
    """
    context, spawn = call.context, call.context.stored_session
    key, parent = trim(context.session_key or ""), trim(context.spawned_by or "")
    if not key:
        return None
    return SessionPlace(
        name=name_of(dialect, call.environment, call.agent, key),
        call=call,
        parent_key=_full(dialect, parent, call.agent) if parent else "",
        depth=max(context.subagent_depth, subagent_depth(dialect, key), (spawn or {}).get("spawnDepth") or 0),
        spawn=spawn,
    )


def name_of(dialect: Dialect, environment: str, agent: str, key: str) -> SessionName:
    """Name the session that a key means for an agent."""
    return SessionName(environment, agent, _full(dialect, key, agent))


def _full(dialect: Dialect, key: str, agent: str) -> str:
    """Write a full key; of one that is too long to be stored, its beginning and the digest of all of it."""
    full = store_key(dialect, key, agent_id=agent)
    if len(full) <= KEY_LIMIT:
        return full
    return f"{full[:_KEPT]}…{hashlib.sha256(full.encode('utf-8', 'surrogatepass')).hexdigest()}"
