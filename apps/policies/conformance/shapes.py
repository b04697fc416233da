"""Between the JSON of vectors and the engine's values: what several adapters read and write."""

from collections.abc import Mapping
from typing import Any

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.senders import Sender
from apps.firewall.engine.session_key import normalize_agent_id


def lists_of(policy: Policy) -> dict[str, Any]:
    """Return the two lists of a policy, null for an absent one."""
    return {
        name: None if names is None else list(names) for name, names in (("allow", policy.allow), ("deny", policy.deny))
    }


def given_lists_of(policy: Policy) -> dict[str, Any]:
    """Return the lists that a policy has, without absent ones."""
    return {name: names for name, names in lists_of(policy).items() if names is not None}


def inside(value: Any, *path: str) -> Any:
    """Return what stands at a path of objects, None when something on the way is missing."""
    for member in path:
        value = value.get(member) if isinstance(value, Mapping) else None
    return value


def agent_tools(dialect: Dialect, config: Any, agent_id: str | None) -> Any:
    """Return the `tools` block of a named agent, None when nobody is named or found."""
    if agent_id is None:
        return None
    wanted = normalize_agent_id(agent_id)
    agents = inside(config, "agents")
    entries = inside(agents, "entries")
    if dialect.agent_entries and isinstance(agents, Mapping) and "entries" in agents:
        listed = [{"id": key, **each} for key, each in (entries or {}).items() if isinstance(each, Mapping)]
    else:
        listed = inside(agents, "list") or []
    known = (each for each in listed if isinstance(each, Mapping) and normalize_agent_id(each.get("id")) == wanted)
    return inside(next(known, None), "tools")


def sender_of(context: Mapping[str, Any], channel: str | None = None) -> Sender:
    """Return the sender of a vector's context.

    Args:
        channel: the channel when the context names none.
    """
    return Sender(
        id=context.get("senderId"),
        username=context.get("senderUsername"),
        name=context.get("senderName"),
        e164=context.get("senderE164"),
        channel=context.get("messageProvider", channel),
    )
