"""Edits of lists: one entry more or less in one list of a block, and the engine that holds afterwards."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, cast

from apps.firewall.engine.compile import AgentRules, Engine
from apps.firewall.engine.dialect import ProfilePolicy
from apps.firewall.engine.groups import ChannelGroups, GroupEntry, find_in_chain
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.providers import ProviderBlock, ProviderMap
from apps.firewall.engine.resolution import Resolution
from apps.firewall.engine.senders import SenderIndex
from apps.firewall.engine.simulate import Block

LISTS: Final = ("allow", "also_allow", "deny")
_PROFILE_LISTS: Final = ("allow", "deny")


@dataclass(frozen=True, slots=True)
class Edit:
    """One entry of one list, added to it or removed from it.

    Attributes:
        block: where the list stands.
        member: `allow`, `also_allow` or `deny`; where the block has no such list, adding makes one.
    """

    block: Block
    member: str
    entry: str
    is_added: bool

    def apply(self, policy: Policy | None) -> Policy:
        """Return a block with this edit."""
        policy = policy or Policy()
        listed = list_of(policy, self.member)
        entries = (*listed, self.entry) if self.is_added else tuple(each for each in listed if each != self.entry)
        members: dict[str, Any] = {self.member: entries}
        return replace(policy, **members)


class Edited(NamedTuple):
    """A snapshot with other blocks, as far as comparisons ask."""

    engine: Engine
    tool_names: tuple[str, ...]


def is_lawful(policy: Policy) -> bool:
    """Say whether a document may hold a block: OpenClaw refuses names in `allow` and `alsoAllow` of the same one."""
    return not (policy.allow and policy.also_allow)


def lists_in(block: Block) -> tuple[str, ...]:
    """Return the lists that a block may have; a profile is what others add names to, and adds none itself."""
    return _PROFILE_LISTS if block.layer == "profile" else LISTS


def list_of(policy: Policy | None, member: str) -> tuple[str, ...]:
    """Return one list of a block; an absent one has no entries."""
    return () if policy is None else cast(tuple[str, ...] | None, getattr(policy, member)) or ()


def blocks_after(blocks: Mapping[Block, Policy | None], edits: Iterable[Edit]) -> dict[Block, Policy]:
    """Return the blocks that edits change, as they are afterwards."""
    changed: dict[Block, Policy] = {}
    for edit in edits:
        changed[edit.block] = edit.apply(changed.get(edit.block) or blocks[edit.block])
    return changed


def blocks_in(engine: Engine, resolution: Resolution) -> dict[Block, Policy | None]:
    """Return every block that holds in a context, or would hold there had it lists, the narrowest first."""
    narrow = () if resolution.delegated else (*_senders(engine, resolution), *_groups(engine, resolution))
    return dict((*narrow, *_of_opening(engine, resolution), *_of_session(engine, resolution)))


def _groups(engine: Engine, resolution: Resolution) -> Iterator[tuple[Block, Policy | None]]:
    for name, chain in resolution.chains:
        for each in chain:
            place = each.of_sender(resolution.group_sender)
            if place is None:
                continue
            found = find_in_chain((place,), resolution.group_sender)
            path = (name.removeprefix("channels."), *place.path)
            if found is not None:
                yield Block(layer="group", path=path, sender=found[2]), engine.policies[found[0]]
                if engine.blocks[found[0]] is not None:
                    return
                break  # a block without lists passes on to the next chain
            yield Block(layer="group", path=path), None


def _senders(engine: Engine, resolution: Resolution) -> Iterator[tuple[Block, Policy | None]]:
    if "sender" not in engine.dialect.layers or (resolution.is_owner and resolution.talk.is_webchat):
        return
    agent = resolution.opening.agent
    for name, index in ((agent.name if agent else None, agent.senders if agent else None), (None, engine.senders)):
        found = index.find(resolution.sender) if index is not None else None
        if found is not None:
            yield Block(layer="sender", agent=name, sender=found[0]), engine.policies[found[1]]
            return


def _of_opening(engine: Engine, resolution: Resolution) -> Iterator[tuple[Block, Policy | None]]:
    opening = resolution.opening
    agent = opening.agent if engine.agents is not None else None
    if agent is not None:
        key = opening.agent_provider_key
        if key is not None:
            yield Block(layer="agent_provider", agent=agent.name, provider=key), _under(agent.by_provider, key)
        yield Block(layer="agent", agent=agent.name), agent.policy
    if opening.provider_key is not None:
        key = opening.provider_key
        yield Block(layer="global_provider", provider=key), _under(engine.by_provider, key)
    for name in dict.fromkeys((opening.profile, opening.provider_profile)):
        own = engine.own_profiles.get(name or "")
        if own is not None:
            yield Block(layer="profile", profile=name), Policy(own.allow, own.deny)
    yield Block(layer="global"), engine.policy


def _of_session(engine: Engine, resolution: Resolution) -> Iterator[tuple[Block, Policy | None]]:
    if resolution.sandboxed:
        agent = resolution.opening.agent if engine.agents is not None else None
        if agent is not None:
            yield Block(layer="sandbox", agent=agent.name), agent.sandbox
        yield Block(layer="sandbox"), engine.sandbox
    if resolution.is_child:
        yield Block(layer="subagent"), engine.subagents


def _under(blocks: ProviderMap, key: str) -> Policy:
    return next(block.policy for block in blocks.values() if block.key == key)


def engine_after(engine: Engine, blocks: Mapping[Block, Policy]) -> Engine:
    """Return an engine with other blocks where blocks stand already, or groups, or agents; the rest is shared."""
    for block, policy in blocks.items():
        engine = _with_block(engine, block, policy)
    return engine


def _with_block(engine: Engine, block: Block, policy: Policy) -> Engine:
    match block.layer:
        case "global":
            return engine.varied(policy=policy)
        case "subagent":
            return engine.varied(subagents=policy)
        case "profile":
            changed = ProfilePolicy(policy.allow, policy.deny)
            profiles = {**engine.dialect.profiles, block.profile or "": changed}
            return engine.varied(dialect=replace(engine.dialect, profiles=profiles))
        case "global_provider":
            return engine.varied(by_provider=_providers(engine.by_provider, block, policy))
        case "sandbox" if block.agent is None:
            return engine.varied(sandbox=policy)
        case "sender" if block.agent is None:
            return engine.varied(policy, senders=_rule(engine.senders, block, len(engine.policies)))
        case "group":
            channels = {**engine.channels, block.path[0]: _channel(engine, block)}
            return engine.varied(policy, channels=channels)
    agents = engine.agents or {}
    agent = agents[block.agent or ""]
    other = replace(agent, **_members(agent, block, policy, len(engine.policies)))
    added = (policy,) if block.layer == "sender" else ()
    return engine.varied(*added, agents={**agents, agent.name: other})


def _members(agent: AgentRules, block: Block, policy: Policy, position: int) -> dict[str, Any]:
    """Return what differs in an agent with another block."""
    if block.layer == "agent_provider":
        return {"by_provider": _providers(agent.by_provider, block, policy)}
    if block.layer == "sender":
        return {"senders": _rule(agent.senders, block, position)}
    return {"sandbox" if block.layer == "sandbox" else "policy": policy}


def _providers(blocks: ProviderMap, block: Block, policy: Policy) -> ProviderMap:
    return {
        normal: ProviderBlock(each.key, policy) if each.key == block.provider else each
        for normal, each in blocks.items()
    }


def _rule(index: SenderIndex[int] | None, block: Block, position: int) -> SenderIndex[int] | None:
    return index.with_rule(block.sender or "", position) if index is not None else None


def _channel(engine: Engine, block: Block) -> ChannelGroups[int]:
    """Return a channel in which a group, or its rule by sender, has the block behind all others."""
    position = len(engine.policies)

    def change(entry: GroupEntry[int]) -> GroupEntry[int]:
        if block.sender is None:
            return replace(entry, tools=position)
        return replace(entry, senders=_rule(entry.senders, block, position))

    return engine.channels[block.path[0]].with_entry(block.path[1:], change)
