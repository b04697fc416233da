"""What a call's session may at most do: what the session that spawned it might, by our own record of who spawned whom.

A caller that leaves its parent out is held to the record all the same. Where there is none yet, the first caller that
names a parent makes one, and a call that spawns a session makes the record of that session.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Protocol

from apps.firewall.engine.context import CallContext, ContextError
from apps.firewall.engine.inheritance import may_be_spawned, spawn_record, with_spawn_record
from apps.firewall.engine.names import trim
from apps.firewall.engine.session_key import normalize_agent_id, parse_agent_key, store_key
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.runtime.call import Call
from apps.firewall.runtime.sessions.naming import SessionName, SessionPlace, name_of
from apps.firewall.tools.running import ToolOutcome

SPAWN: Final = "sessions_spawn"
CONTROL: Final = "tool_call"
_CHILD: Final = "childSessionKey"
_WHOLE: Final = "spawnDepth"


class Spawns(Protocol):
    """Who spawned whom."""

    async def spawn(self, name: SessionName) -> Mapping[str, Any] | None:
        """Give the record of the session that spawned one; None where none is known.

        Raises:
            FirewallError: nobody can tell now.
        """

    async def last_context(self, environment: str, key: str) -> tuple[str, Mapping[str, Any]] | None:
        """Give the agent of a session and what its last call said; None where it made none.

        Raises:
            FirewallError: nobody can tell now.
        """


async def held_to_parent(
    spawns: Spawns, snapshot: Snapshot, environment: str, agent: str, context: CallContext
) -> CallContext:
    """Complete a context by what is known of its session's parent.

    Args:
        agent: normal id of the agent that the context speaks for.
    Raises:
        FirewallError: nobody can tell now; nothing may be decided.
    """
    dialect = snapshot.engine.dialect
    key, said = trim(context.session_key or ""), trim(context.spawned_by or "")
    if not key:
        return context
    name = name_of(dialect, environment, agent, key)
    record = await spawns.spawn(name)
    if record is None or _WHOLE not in record:
        parent = store_key(dialect, (record or {}).get("spawnedBy") or said, agent_id=agent) if record or said else ""
        if not parent or parent == name.key:
            return context
        record = await _as_told(spawns, snapshot, environment, agent, parent)
    return with_spawn_record(context, record)


async def _as_told(spawns: Spawns, snapshot: Snapshot, environment: str, agent: str, parent: str) -> Mapping[str, Any]:
    """Make the record of a session of which only the parent is known: by what that one said in its last call."""
    known = await spawns.last_context(environment, parent)
    of_parent = _agent_of(snapshot, parent) or (known[0] if known is not None else agent)
    try:
        context = CallContext() if known is None else CallContext.from_json(known[1])
    except ContextError:  # of a version that knew other members
        context = CallContext()
    context = replace(context, agent_id=of_parent, session_key=parent)
    record = await spawns.spawn(name_of(snapshot.engine.dialect, environment, of_parent, parent))
    if record is not None:
        context = with_spawn_record(context, record)
    return spawn_record(snapshot, context, parent, is_witnessed=False)


def spawned_by_call(snapshot: Snapshot, call: Call, tool: str, outcome: ToolOutcome) -> SessionPlace | None:
    """Give the session that a call spawned, with its record; None where it spawned none.

    Only keys of the shapes that spawning makes count: what a tool's result says lays hold of no other session.
    """
    if outcome.error is not None or not call.context.session_key:
        return None
    child, dialect = child_of(tool, outcome.result), snapshot.engine.dialect
    agent = "" if child is None else _agent_of(snapshot, child)
    if child is None or not agent or not may_be_spawned(dialect, child):
        return None
    parent = store_key(dialect, call.context.session_key, agent_id=call.agent)
    record = spawn_record(snapshot, call.context, parent, is_witnessed=True)
    context = CallContext(agent_id=agent, session_key=child, spawned_by=parent)
    return SessionPlace(
        name=name_of(dialect, call.environment, agent, child),
        call=replace(call, agent=agent, context=context),
        parent_key=name_of(dialect, call.environment, call.agent, parent).key,
        depth=record[_WHOLE],
        spawn=record,
    )


def child_of(tool: str, result: Mapping[str, Any] | None) -> str | None:
    """Find the key of the session that a call says it spawned: beside the text that a model reads, or in its place.

    Args:
        tool: what was called; the control of an OpenClaw Gateway's tool search names in its result what it called.
    """
    details = _member(result, "details")
    if tool == CONTROL and _member(details, "tool").get("name") == SPAWN:
        return child_of(SPAWN, _member(details, "result"))
    for place in (details, result or {}) if tool == SPAWN else ():
        key = place.get(_CHILD)
        if isinstance(key, str) and trim(key):
            return trim(key)
    return None


def _member(value: Any, name: str) -> Mapping[str, Any]:
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _agent_of(snapshot: Snapshot, key: str) -> str:
    parsed = parse_agent_key(snapshot.engine.dialect, key)
    return "" if parsed is None else normalize_agent_id(parsed.agent_id)
