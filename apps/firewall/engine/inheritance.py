"""What a session hands down to one that it spawns: the child never has more than its parent had then.

The record has the shape in which OpenClaw stores a session, and a context carries it as `stored_session`. Whoever keeps
sessions makes it; a caller cannot state it.
Source: the shipped release 2026.9.6, `resolveConversationCapabilityProfile` and the tools that spawn.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import ANYTHING, expand_groups, trim
from apps.firewall.engine.resolution import Resolution
from apps.firewall.engine.resolve import ResolutionError, resolve
from apps.firewall.engine.session_key import is_acp_key, is_dashboard_key, subagent_depth
from apps.firewall.engine.snapshot import Snapshot

VERSION: Final = 1
VERSION_MEMBER: Final = "inheritedToolPolicyVersion"
_NOT_HANDED_DOWN: Final = ("agent_id", "session_key", "spawned_by", "subagent_depth", "stored_session")
_CHILDREN: Final = "children"


def spawn_record(snapshot: Snapshot, parent: CallContext, parent_key: str, *, is_witnessed: bool) -> dict[str, Any]:
    """Make the record of a session that another one spawned.

    Args:
        parent: the context in which the parent spawned it.
        parent_key: the parent's full key.
        is_witnessed: the parent's call that spawned it was seen, so that the context is all of what held for it. Only
            then the lists stand for the rules of its group and its sender; else those are asked as well.
    """
    try:
        resolution = resolve(snapshot.engine, parent)
        allow, deny = _inherited_lists(snapshot, resolution)
        depth = resolution.depth
    except ResolutionError:  # nothing is decided for the parent, so nothing is for its child
        allow, deny = (), ("*",)
        depth = subagent_depth(snapshot.engine.dialect, parent_key)
    record: dict[str, Any] = {"spawnedBy": parent_key, "spawnDepth": depth + 1, "subagentControlScope": _CHILDREN}
    if is_witnessed:
        record[VERSION_MEMBER] = VERSION
    if allow:
        record["inheritedToolAllow"] = list(allow)
    if deny:
        record["inheritedToolDeny"] = list(deny)
    return record


def inheritable_context(context: CallContext) -> dict[str, Any]:
    """Return what a context says beside its session: what a session that this one spawns later is held to."""
    facts = context.to_json()
    if not context.inherit_runtime_tools:
        facts.pop("runtime_tools", None)
    return {name: fact for name, fact in facts.items() if name not in _NOT_HANDED_DOWN}


def with_spawn_record(context: CallContext, record: Mapping[str, Any]) -> CallContext:
    """Fill what a caller left out of its session's parent, and carry the record of it.

    A parent that the caller names is kept: the engine refuses one that is not the recorded one.
    """
    depth, stored = context.subagent_depth, record.get("spawnDepth")
    if isinstance(stored, int) and ":subagent:" in f":{context.session_key or ''}".lower():
        depth = max(depth, stored)
    return replace(
        context,
        spawned_by=context.spawned_by or record["spawnedBy"],
        subagent_depth=depth,
        stored_session=dict(record),
    )


def may_be_spawned(dialect: Dialect, key: str) -> bool:
    """Say whether a key has the shape of those that spawning makes."""
    return subagent_depth(dialect, key) > 0 or is_acp_key(dialect, key) or is_dashboard_key(dialect, key)


def _inherited_lists(snapshot: Snapshot, resolution: Resolution) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tools that a child is held to, if any allow list holds its parent, and every denial.

    What holds a parent to no tool at all is a denial of everything: an empty list would hold its child to nothing.
    """
    engine = snapshot.engine
    denied = (trim(entry) for _, _, rules, _ in resolution.layers for entry in rules.policy.deny or ())
    deny = tuple(dict.fromkeys(entry for entry in denied if entry))
    is_held = any(
        rules.policy.allow and not rules.ignored and ANYTHING not in expand_groups(engine.dialect, rules.policy.allow)
        for _, _, rules, _ in resolution.layers
    )
    if not is_held:
        return (), deny
    allow = engine.universe.names_of(resolution.mask)
    return allow, deny if allow else (*deny, ANYTHING)
