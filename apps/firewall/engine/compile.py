"""The compiled form of a snapshot: everything that a decision looks up, ready in dictionaries."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Final

from apps.firewall.engine.answers import Decision
from apps.firewall.engine.candidates import Candidates
from apps.firewall.engine.dialect import Dialect, ProfilePolicy, dialect_named
from apps.firewall.engine.document import read_stored_policy
from apps.firewall.engine.exec_settings import ExecSettings, read_exec_settings
from apps.firewall.engine.groups import DIRECT, ChannelGroups, GroupEntry, GroupMap
from apps.firewall.engine.owners import OwnerList
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.providers import ProviderMap, provider_map
from apps.firewall.engine.sandbox_policy import SandboxPolicy, resolve_sandbox_policy
from apps.firewall.engine.senders import SenderIndex, compile_senders
from apps.firewall.engine.session_key import normalize_agent_id
from apps.firewall.engine.source import UNPROVEN_GROUPS_REFUSED
from apps.firewall.engine.subagents import is_leaf, max_spawn_depth, subagent_policy
from apps.firewall.engine.universe import Universe

MEMO_LIMIT: Final = 32_768
_NOTHING: Final[Mapping[str, Any]] = {}


@dataclass(slots=True)
class AgentRules:
    """One agent's blocks; `policy` and the provider blocks as written, before any merging. `labels` decide nothing."""

    name: str
    is_default: bool = False
    policy: Policy | None = None
    by_provider: ProviderMap = field(default_factory=dict)
    senders: SenderIndex[int] | None = None
    sandbox: Policy | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    labels: tuple[str, ...] = ()


@dataclass(slots=True)
class Engine:
    """A snapshot ready to decide. Nothing in it changes but memos of what was already worked out.

    Attributes:
        policies: every distinct block by its position.
        agents: by normal id; None when the document names no agents at all.
        agent_defaults: the layer of any agent when there are none.
        channels: by name.
        leaf_depth: from there on a sub-agent is a leaf.
        refuses_unproven_groups: nothing is decided where a caller names a group that no session key leads to.
        talks, speakers, memo, openings: what was worked out about sessions, about who speaks in them, and about
            agents, providers and models.
        admitted: of every tool the one answer that it gets wherever it is allowed.
    """

    dialect: Dialect
    universe: Universe
    policies: list[Policy]
    policy: Policy | None
    by_provider: ProviderMap
    senders: SenderIndex[int] | None
    sandbox: Policy | None
    subagents: Policy | None
    max_spawn_depth: int | None
    agents: dict[str, AgentRules] | None
    agent_defaults: AgentRules
    channels: dict[str, ChannelGroups[int]]
    owners: OwnerList
    settings: Mapping[str, Any]
    exec_approvals: Mapping[str, Any]
    blocks: list[Policy | None] = field(init=False)
    owner_only: Policy = field(init=False)
    sole_agent: str | None = field(init=False)
    leaf_depth: int = field(init=False)
    refuses_unproven_groups: bool = field(init=False)
    transports: frozenset[str] = field(init=False)
    memo: dict[Any, Any] = field(init=False, default_factory=dict)
    talks: dict[Any, Any] = field(init=False, default_factory=dict)
    speakers: dict[Any, Any] = field(init=False, default_factory=dict)
    admitted: dict[str, Decision] = field(init=False, default_factory=dict)
    _candidates: dict[int, Candidates] = field(init=False, default_factory=dict)
    openings: dict[Any, Any] = field(init=False, default_factory=dict)
    _sandboxes: dict[Policy | None, SandboxPolicy] = field(init=False, default_factory=dict)
    _subagents: dict[bool, Policy] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.blocks = [policy.merged() for policy in self.policies]
        self.owner_only = Policy(deny=self.dialect.owner_only)
        self.sole_agent = self._sole_agent()
        self.leaf_depth = max_spawn_depth(self.dialect, self.max_spawn_depth)
        self.refuses_unproven_groups = self.settings.get("groups") == UNPROVEN_GROUPS_REFUSED
        self.transports = frozenset((*self.dialect.message_provider_deny, *self.dialect.message_provider_allow))

    def varied(self, *added: Policy, **members: Any) -> "Engine":
        """Return this engine with other members; what is worked out for blocks that stay is kept.

        Args:
            added: blocks behind those that are there, so that rules may name them by position.
        """
        other = copy(self)
        for name, value in members.items():
            setattr(other, name, value)
        other.memo, other.talks, other.openings = {}, {}, {}
        other._sandboxes, other._subagents = {}, {}
        if added:
            other.policies = [*self.policies, *added]
            other.blocks = [*self.blocks, *(policy.merged() for policy in added)]
            other._candidates = {mask: each.with_blocks(other.blocks) for mask, each in self._candidates.items()}
        return other

    @property
    def own_profiles(self) -> Mapping[str, ProfilePolicy]:
        """The environment's own profiles by name, without the built-in ones of the release."""
        built_in = dialect_named(self.dialect.release).profiles
        return {name: profile for name, profile in self.dialect.profiles.items() if name not in built_in}

    def sandbox_of(self, agent: AgentRules | None) -> SandboxPolicy:
        """Return the policy of an agent's sandboxed sessions."""
        own = agent.sandbox if agent else None
        policy = self._sandboxes.get(own)
        if policy is None:
            policy = self._sandboxes[own] = resolve_sandbox_policy(self.dialect, own, self.sandbox)
        return policy

    def subagent_of(self, depth: int) -> Policy:
        """Return the policy of a sub-agent this deep."""
        leaf = is_leaf(self.dialect, depth, self.max_spawn_depth)
        policy = self._subagents.get(leaf)
        if policy is None:
            policy = self._subagents[leaf] = subagent_policy(self.dialect, self.subagents, leaf=leaf)
        return policy

    def candidates(self, mask: int) -> Candidates:
        """Return the candidates of a mask, with all that was compiled against them."""
        found = self._candidates.get(mask)
        if found is None:
            found = self._candidates[mask] = Candidates(self.universe, mask, self.blocks)
        return found

    def remember(self, memo: dict[Any, Any], key: Any, value: Any) -> Any:
        """Keep a value under a key; the memo starts afresh when callers have filled it with ever new keys."""
        if len(memo) >= MEMO_LIMIT:
            memo.clear()
        memo[key] = value
        return value

    def canonical_name(self, name: str) -> str | None:
        """Return the tool that a name means, or None."""
        return self.universe.canonical_name(name)

    def own_settings(self, agent_id: str) -> Mapping[str, Any]:
        """Return the runtime's settings that an agent has of its own; those of everybody are `settings`."""
        agent = (self.agents or {}).get(normalize_agent_id(agent_id))
        return agent.settings if agent else _NOTHING

    def exec_settings(self, agent_id: str) -> ExecSettings:
        """Return the settings of command execution that hold for an agent."""
        name = normalize_agent_id(agent_id)
        own = self.own_settings(name)
        return read_exec_settings(name, self.settings, own, self.exec_approvals, modes=self.dialect.exec_modes)

    def _sole_agent(self) -> str | None:
        """Return the agent of a call that names none: the one marked as default, else the only one."""
        agents = list((self.agents or {}).values())
        marked = [agent for agent in agents if agent.is_default]
        if len(marked) == 1:
            return marked[0].name
        return agents[0].name if len(agents) == 1 else None


def compile_document(document: Mapping[str, Any], dialect: Dialect | None = None) -> Engine:
    """Compile the stored form of a snapshot.

    Args:
        dialect: as which it is read; as the release that it names when not given.
    """
    return _Compiler(document, dialect or dialect_named(document["dialect"])).engine()


class _Compiler:
    def __init__(self, document: Mapping[str, Any], dialect: Dialect) -> None:
        self._document = document
        self._policies = [read_stored_policy(members) for members in document["policies"]]
        self._dialect = self._with_profiles(dialect)
        self._numbers: dict[int | None, int | None] = {None: None, **{at: at for at in range(len(self._policies))}}

    def _with_profiles(self, dialect: Dialect) -> Dialect:
        """Add the environment's own profiles; a built-in one cannot be replaced."""
        own = {
            name: ProfilePolicy(self._policies[position].allow, self._policies[position].deny)
            for name, position in self._document.get("profiles", _NOTHING).items()
        }
        return replace(dialect, profiles={**own, **dialect.profiles}) if own else dialect

    def engine(self) -> Engine:
        document, shared = self._document, self._document["global"]
        defaults = document["agent_defaults"]
        return Engine(
            dialect=self._dialect,
            universe=Universe(self._dialect, document["tools"]),
            policies=self._policies,
            policy=self._policy(shared["policy"]),
            by_provider=self._providers(shared["by_provider"]),
            senders=self._senders(shared["by_sender"]),
            sandbox=self._policy(shared["sandbox"]),
            subagents=self._policy(shared["subagents"]),
            max_spawn_depth=shared["max_spawn_depth"],
            agents=self._agents(),
            agent_defaults=AgentRules(
                name="",
                policy=self._policy(defaults["policy"]),
                by_provider=self._providers(defaults["by_provider"]),
            ),
            channels={channel["name"]: self._channel(channel) for channel in document["channels"]},
            owners=OwnerList(self._dialect, document["owners"]),
            settings=document["settings"],
            exec_approvals=document["exec_approvals"],
        )

    def _agents(self) -> dict[str, AgentRules] | None:
        """Index agents by normal id; of several with the same the first counts."""
        if self._document["agents"] is None:
            return None
        agents: dict[str, AgentRules] = {}
        for members in self._document["agents"]:
            name = normalize_agent_id(members["id"])
            if name not in agents:
                agents[name] = self._agent(name, members)
        return agents

    def _agent(self, name: str, members: Mapping[str, Any]) -> AgentRules:
        return AgentRules(
            name=name,
            is_default=members.get("default", False),
            policy=self._policy(members["policy"]),
            by_provider=self._providers(members.get("by_provider", ())),
            senders=self._senders(members.get("by_sender", ())),
            sandbox=self._policy(members.get("sandbox")),
            settings=members.get("settings", _NOTHING),
            labels=tuple(members.get("labels", ())),
        )

    def _policy(self, position: int | None) -> Policy | None:
        return None if position is None else self._policies[position]

    def _providers(self, flat: list[Any]) -> ProviderMap:
        pairs = zip(flat[::2], flat[1::2], strict=True)
        return provider_map(self._dialect, [(key, self._policy(position)) for key, position in pairs])

    def _senders(self, flat: Sequence[Any]) -> SenderIndex[int] | None:
        return compile_senders(self._dialect, self._rules(flat)) if flat else None

    def _rules(self, flat: Sequence[Any]) -> Iterator[tuple[str, int | None]]:
        numbers = self._numbers  # one shared number for a block, not one for each of its rules
        return ((flat[at], numbers[flat[at + 1]]) for at in range(0, len(flat), 2))

    def _channel(self, stored: Mapping[str, Any]) -> ChannelGroups[int]:
        has_direct = stored["name"] in self._dialect.direct_channels
        accounts = {
            account["id"]: self._maps(account["maps"], ("accounts", account["id"]), has_direct=has_direct)
            for account in stored["accounts"]
        }
        return ChannelGroups(self._maps(stored["maps"], (), has_direct=has_direct), accounts)

    def _maps(self, stored: Mapping[str, Any], path: tuple[str, ...], *, has_direct: bool) -> dict[str, GroupMap[int]]:
        """Compile the maps of a channel or an account; direct chats where the release has rules for them."""
        return {
            name: self._group_map(groups, (*path, name))
            for name, groups in stored.items()
            if has_direct or name != DIRECT
        }

    def _group_map(self, stored: Sequence[Mapping[str, Any]], path: tuple[str, ...]) -> GroupMap[int]:
        return GroupMap((self._group(members, path) for members in stored), path)

    def _group(self, stored: Mapping[str, Any], path: tuple[str, ...]) -> GroupEntry[int]:
        below = stored.get("channels")
        return GroupEntry(
            stored["key"],
            self._numbers[stored.get("tools")],
            self._senders(stored.get("by_sender", ())),
            stored.get("slug"),
            None if below is None else self._group_map(below, (*path, stored["key"], "channels")),
        )
