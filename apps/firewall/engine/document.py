"""The form in which a snapshot is stored: plain JSON, every distinct policy once, rules naming it by its position."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from apps.firewall.engine.content import write_filter
from apps.firewall.engine.grants import Grant, write_grant
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.source import AgentSource, ChannelSource, GroupSource, Named, SnapshotSource, ToolEntry

FORMAT: Final = 3
TEXT: Final = "$json"


class PolicyTable:
    """The distinct policies of a snapshot in the order in which they are first met."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._positions: dict[Policy, int] = {}
        self._known: dict[int, int] = {}  # by identity: one object usually serves thousands of rules

    def position(self, policy: Policy | None) -> int | None:
        if policy is None:
            return None
        position = self._known.get(id(policy))
        if position is None:
            position = self._positions.get(policy)
            if position is None:
                position = self._positions[policy] = len(self.rows)
                self.rows.append(write_policy(policy))
            self._known[id(policy)] = position
        return position

    def named(self, blocks: Named) -> list[str | int | None]:
        """Return keys and positions in turn, flat: it loads faster than pairs."""
        flat: list[str | int | None] = []
        for key, policy in blocks:
            flat.append(key)
            flat.append(None if policy is None else self.position(policy))
        return flat


def write_policy(policy: Policy) -> dict[str, Any]:
    """Return a policy with the members that it has."""
    members: dict[str, Any] = {}
    if policy.allow is not None:
        members["allow"] = list(policy.allow)
    if policy.also_allow is not None:
        members["also_allow"] = list(policy.also_allow)
    if policy.deny is not None:
        members["deny"] = list(policy.deny)
    if policy.profile is not None:
        members["profile"] = policy.profile
    return members


def read_stored_policy(members: dict[str, Any]) -> Policy:
    """Read what `write_policy` wrote."""
    return Policy(
        allow=_names(members, "allow"),
        deny=_names(members, "deny"),
        also_allow=_names(members, "also_allow"),
        profile=members.get("profile"),
    )


def _names(members: dict[str, Any], name: str) -> tuple[str, ...] | None:
    names = members.get(name)
    return None if names is None else tuple(names)


def write_document(source: SnapshotSource) -> dict[str, Any]:
    """Return the stored form of a source."""
    table = PolicyTable()
    own_profiles = {name: table.position(policy) for name, policy in source.profiles.items()}
    return {
        "format": FORMAT,
        "dialect": source.dialect,
        "environment": source.environment,
        "tools": [write_tool(tool) for tool in source.tools],
        "global": {
            "policy": table.position(source.policy),
            "by_provider": table.named(source.by_provider),
            "by_sender": table.named(source.by_sender),
            "sandbox": table.position(source.sandbox),
            "subagents": table.position(source.subagents),
            "max_spawn_depth": source.max_spawn_depth,
        },
        "agents": None if source.agents is None else [_agent(table, agent) for agent in source.agents],
        "agent_defaults": {
            "policy": table.position(source.agent_defaults),
            "by_provider": table.named(source.agent_defaults_by_provider),
        },
        "channels": [_channel(table, channel) for channel in source.channels],
        "owners": list(source.owners),
        "settings": dict(source.settings),
        "exec_approvals": dict(source.exec_approvals),
        "policies": table.rows,
        **({"profiles": own_profiles} if own_profiles else {}),
        **({"grants": _grants(source.grants)} if source.grants else {}),
        **({"filters": [write_filter(each) for each in source.filters]} if source.filters else {}),
    }


def _grants(grants: Iterable[Grant]) -> list[dict[str, Any]]:
    return [write_grant(grant) for grant in sorted(grants, key=lambda grant: grant.key)]


def write_tool(tool: ToolEntry) -> dict[str, Any]:
    """Return a tool with the members that say something."""
    members: dict[str, Any] = {"name": tool.name, "source": tool.source}
    if tool.plugin is not None:
        members["plugin"] = tool.plugin
    for member in ("label", "description", "section"):
        text = getattr(tool, member)
        if text:
            members[member] = text
    if tool.owner_only:
        members["owner_only"] = True
    if tool.params is not None:
        members["params"] = carried(tool.params)
    if tool.sensitive:
        members["sensitive"] = list(tool.sensitive)
    if tool.traits:
        members["traits"] = carried(tool.traits)
    if tool.executor:
        members["executor"] = dict(tool.executor)
    if tool.optional:
        members["optional"] = True
    return members


def read_tool(members: dict[str, Any]) -> ToolEntry:
    """Read what `write_tool` wrote."""
    uncarried: dict[str, Any] = {name: opened(members[name]) for name in ("params", "traits") if name in members}
    return ToolEntry(**{**members, **uncarried, "sensitive": tuple(members.get("sensitive", ()))})


def carried(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON object as a snapshot holds it: as it is, or as text where it has numbers with a point.

    A snapshot holds no such numbers, so that its canonical form needs no rule for them.
    """
    if not _has_floats(value):
        return dict(value)
    return {TEXT: json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)}


def opened(value: dict[str, Any]) -> dict[str, Any]:
    """Return what `carried` was given."""
    text = value.get(TEXT)
    if len(value) != 1 or not isinstance(text, str):
        return value
    read: dict[str, Any] = json.loads(text)
    return read


def _has_floats(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_has_floats(member) for member in value.values())
    if isinstance(value, list | tuple):
        return any(_has_floats(member) for member in value)
    return isinstance(value, float)


def _agent(table: PolicyTable, agent: AgentSource) -> dict[str, Any]:
    members: dict[str, Any] = {"id": agent.id, "policy": table.position(agent.policy)}
    if agent.is_default:
        members["default"] = True
    if agent.by_provider:
        members["by_provider"] = table.named(agent.by_provider)
    if agent.by_sender:
        members["by_sender"] = table.named(agent.by_sender)
    if agent.sandbox is not None:
        members["sandbox"] = table.position(agent.sandbox)
    if agent.settings:
        members["settings"] = dict(agent.settings)
    if agent.labels:  # no member of a format of its own: a reader that knows none decides the same
        members["labels"] = list(agent.labels)
    return members


def _channel(table: PolicyTable, channel: ChannelSource) -> dict[str, Any]:
    return {
        "name": channel.name,
        "maps": _maps(table, channel.maps),
        "accounts": [{"id": account.id, "maps": _maps(table, account.maps)} for account in channel.accounts],
    }


def _maps(table: PolicyTable, maps: dict[str, list[GroupSource]]) -> dict[str, Any]:
    return {name: _groups(table, groups) for name, groups in maps.items()}


def _groups(table: PolicyTable, groups: Iterable[GroupSource]) -> list[dict[str, Any]]:
    return [_group(table, group) for group in groups]


def _group(table: PolicyTable, group: GroupSource) -> dict[str, Any]:
    members: dict[str, Any] = {"key": group.key}
    if group.tools is not None:
        members["tools"] = table.position(group.tools)
    if group.by_sender:
        members["by_sender"] = table.named(group.by_sender)
    if group.slug is not None:
        members["slug"] = group.slug
    if group.channels is not None:
        members["channels"] = _groups(table, group.channels)
    return members
