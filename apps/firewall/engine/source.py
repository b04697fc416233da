"""What a snapshot is built from: plain values in document order, filled by the policies compiler or `openclaw_json`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from apps.firewall.engine.content import ContentFilter
from apps.firewall.engine.grants import Grant
from apps.firewall.engine.policy import Policy

UNPROVEN_GROUPS_REFUSED: Final[Mapping[str, Any]] = {"unproven": "refuse"}
"""The setting `groups` where nothing is decided for a caller that names a group to which no session key leads."""

Named: TypeAlias = list[tuple[str, Policy | None]]
"""Blocks by key in document order; a block that is null stays as None, for some look-ups tell it from an absent one."""


@dataclass(slots=True)
class ToolEntry:
    """One tool that exists in the environment. `plugin` is None for a core tool.

    Attributes:
        traits: members of the tool's definition that decide nothing here, as its record holds them.
        executor: what runs the tool; None where it has none.
        optional: it is there only for whom an allow list names it or its plugin.
    """

    name: str
    plugin: str | None = None
    label: str = ""
    description: str = ""
    section: str = ""
    source: str = "core"
    owner_only: bool = False
    params: Mapping[str, Any] | None = None
    sensitive: tuple[str, ...] = ()
    traits: Mapping[str, Any] | None = None
    executor: Mapping[str, Any] | None = None
    optional: bool = False


@dataclass(slots=True)
class AgentSource:
    """One agent.

    Attributes:
        settings: `exec`, `fs`, `elevated`, `loopDetection`, `sandbox`, `workspace` as plain JSON.
        labels: by which guardrails find it; they decide nothing.
    """

    id: str
    is_default: bool = False
    policy: Policy | None = None
    by_provider: Named = field(default_factory=list)
    by_sender: Named = field(default_factory=list)
    sandbox: Policy | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    labels: tuple[str, ...] = ()


@dataclass(slots=True)
class GroupSource:
    """One entry of a channel's map: a group, room, guild or team; `channels` are those nested in a guild or team.

    `tools` None passes on to the next rule, an empty `Policy()` is an answer.
    """

    key: str
    tools: Policy | None = None
    by_sender: Named = field(default_factory=list)
    slug: str | None = None
    channels: list["GroupSource"] | None = None


@dataclass(slots=True)
class AccountSource:
    """One account of a channel; a map that the account does not have is absent from `maps`."""

    id: str
    maps: dict[str, list[GroupSource]] = field(default_factory=dict)


@dataclass(slots=True)
class ChannelSource:
    """One channel. The names in `maps`: `groups`; where it nests differently `guilds`, `channels`, `teams`, `rooms`."""

    name: str
    maps: dict[str, list[GroupSource]] = field(default_factory=dict)
    accounts: list[AccountSource] = field(default_factory=list)


@dataclass(slots=True)
class SnapshotSource:
    """Everything that decides in one environment.

    Attributes:
        agents: None when the document has neither a list nor a map of agents; then `agent_defaults` is every agent's
            layer.
        policy, by_provider, by_sender, sandbox: the global blocks.
        subagents: the block that adds to the built-in deny list of sub-agents.
        max_spawn_depth: None for the dialect's default.
        owners: entries such as `telegram:1001`.
        settings: the runtime's plain JSON: `exec`, `fs`, `elevated`, `loopDetection`, `toolSearch`, `sandbox`,
            `workspace`, and of our own `groups`.
        exec_approvals: the document of exec approvals (`defaults`, `agents`), plain JSON.
        profiles: profiles of the environment's own, beside the built-in ones of the dialect.
        grants: of the permissions that tools ask for; their order means nothing.
        filters: of content, in the order in which masks are applied.
    """

    dialect: str = "2026.9"
    environment: str = ""
    tools: list[ToolEntry] = field(default_factory=list)
    policy: Policy | None = None
    by_provider: Named = field(default_factory=list)
    by_sender: Named = field(default_factory=list)
    sandbox: Policy | None = None
    subagents: Policy | None = None
    max_spawn_depth: int | None = None
    agents: list[AgentSource] | None = None
    agent_defaults: Policy | None = None
    agent_defaults_by_provider: Named = field(default_factory=list)
    channels: list[ChannelSource] = field(default_factory=list)
    owners: list[str] = field(default_factory=list)
    settings: Mapping[str, Any] = field(default_factory=dict)
    exec_approvals: Mapping[str, Any] = field(default_factory=dict)
    profiles: Mapping[str, Policy] = field(default_factory=dict)
    grants: Sequence[Grant] = ()
    filters: Sequence[ContentFilter] = ()
