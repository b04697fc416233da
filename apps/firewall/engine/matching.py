"""Which rules match a call: the blocks of groups and senders, and the entries of lists, that let it pass or refused it.

The notion is that of the coverage of policy tests: of a call that was refused the layer that refused it counts, of one
that was let pass every layer that did.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from apps.firewall.engine.candidates import Candidates
from apps.firewall.engine.compile import AgentRules, Engine
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.edits import blocks_in, list_of, lists_in
from apps.firewall.engine.groups import GroupEntry, GroupMap
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.providers import ProviderMap
from apps.firewall.engine.resolution import Resolution, layers_refusing
from apps.firewall.engine.resolve import ResolutionError, resolve
from apps.firewall.engine.senders import SenderIndex
from apps.firewall.engine.simulate import Block

WHOLE: Final = frozenset({"group", "sender"})
"""The layers whose blocks are rules of their own: each says for whom or where it holds."""


class Rule(NamedTuple):
    """One entry of one list, or a whole block; of that `member` and `entry` are empty."""

    block: Block
    member: str = ""
    entry: str = ""


def rules_of(engine: Engine) -> Iterator[Rule]:
    """Return every rule: the blocks of groups and senders, and each entry of each list."""
    for block, policy in blocks_of(engine):
        if block.layer in WHOLE or block.sender is not None:
            yield Rule(block)
        for member in lists_in(block):
            for entry in dict.fromkeys(list_of(policy, member)):
                yield Rule(block, member, entry)


def can_match(engine: Engine, rule: Rule) -> bool:
    """Say whether an entry means any tool that there is; a whole block always may."""
    return not rule.member or bool(_meaning(engine.candidates(engine.universe.full), rule))


def rules_matched(engine: Engine, context: CallContext, tool: str) -> frozenset[Rule]:
    """Return the rules that let a call pass or refused it; none where nothing can be decided."""
    name = engine.canonical_name(tool)
    if name is None:
        return frozenset()
    try:
        resolution = resolve(engine, context)
    except ResolutionError:
        return frozenset()
    bit = engine.universe.bits[name]
    refusing = next(layers_refusing(resolution, bit), None)
    return frozenset(_matched(engine, resolution, bit, refusing))


def rules_about(engine: Engine, rules: Iterable[Rule], tool: str) -> frozenset[Rule]:
    """Return the rules that may have matched a call of a tool of which nothing else is known."""
    name = engine.canonical_name(tool)
    if name is None:
        return frozenset()
    bit, candidates = engine.universe.bits[name], engine.candidates(engine.universe.full)
    return frozenset(rule for rule in rules if not rule.member or _meaning(candidates, rule) & bit)


def _meaning(candidates: Candidates, rule: Rule) -> int:
    return candidates.entry_mask(rule.entry) if rule.member == "deny" else candidates.admitted_by(rule.entry)


def _matched(engine: Engine, resolution: Resolution, bit: int, refusing: str | None) -> Iterator[Rule]:
    candidates = resolution.opening.candidates
    for block, policy in blocks_in(engine, resolution).items():
        if policy is None or not (refusing is None or _refuses(resolution, block, policy, refusing)):
            continue
        if block.layer in WHOLE:
            yield Rule(block)
        for member in ("deny",) if refusing is not None else ("allow", "also_allow"):
            if _is_read(engine, resolution, block, member):
                rules = (Rule(block, member, entry) for entry in dict.fromkeys(list_of(policy, member)))
                yield from (rule for rule in rules if _meaning(candidates, rule) & bit)


def _refuses(resolution: Resolution, block: Block, policy: Policy, refusing: str) -> bool:
    """Say whether a block is that of the layer that refuses."""
    if block.layer == "profile":
        opening = resolution.opening
        return {"profile": opening.profile, "provider_profile": opening.provider_profile}.get(refusing) == block.profile
    if block.layer in WHOLE:  # a block without lists passes on to the next one
        return refusing == block.layer and policy.merged() is not None
    return refusing == block.layer


def _is_read(engine: Engine, resolution: Resolution, block: Block, member: str) -> bool:
    """Say whether a list counts: of the sandbox an agent's own list stands in for everybody's."""
    if block.layer != "sandbox":
        return True
    if member == "also_allow" and not engine.dialect.sandbox_also_allow:
        return False
    agent = resolution.opening.agent if engine.agents is not None else None
    own = agent.sandbox if agent is not None else None
    return block.agent is not None or own is None or getattr(own, member) is None


# --- every block that is written ---


def blocks_of(engine: Engine) -> Iterator[tuple[Block, Policy | None]]:
    """Return every block that is written, and those of lists that nobody wrote."""
    yield Block(layer="global"), engine.policy
    yield from _providers(engine.by_provider, "global_provider", None)
    yield Block(layer="sandbox"), engine.sandbox
    yield Block(layer="subagent"), engine.subagents
    for name, own in engine.own_profiles.items():
        yield Block(layer="profile", profile=name), Policy(own.allow, own.deny)
    yield from _senders(engine, engine.senders, Block(layer="sender"))
    for agent in (engine.agents or {}).values():
        yield from _of_agent(engine, agent)
    for name, channel in engine.channels.items():
        for maps in (channel.maps, *channel.accounts.values()):
            for groups in maps.values():
                yield from _groups(engine, name, groups)


def _of_agent(engine: Engine, agent: AgentRules) -> Iterator[tuple[Block, Policy | None]]:
    yield Block(layer="agent", agent=agent.name), agent.policy
    yield from _providers(agent.by_provider, "agent_provider", agent.name)
    yield Block(layer="sandbox", agent=agent.name), agent.sandbox
    yield from _senders(engine, agent.senders, Block(layer="sender", agent=agent.name))


def _providers(blocks: ProviderMap, layer: str, agent: str | None) -> Iterator[tuple[Block, Policy | None]]:
    for each in blocks.values():
        yield Block(layer=layer, agent=agent, provider=each.key), each.policy


def _groups(engine: Engine, channel: str, groups: GroupMap[int]) -> Iterator[tuple[Block, Policy | None]]:
    for entry in groups.entries.values():
        yield from _group(engine, (channel, *groups.path, entry.key), entry)
        if entry.channels is not None:
            yield from _groups(engine, channel, entry.channels)


def _group(engine: Engine, path: tuple[str, ...], entry: GroupEntry[int]) -> Iterator[tuple[Block, Policy | None]]:
    if entry.tools is not None:
        yield Block(layer="group", path=path), engine.policies[entry.tools]
    yield from _senders(engine, entry.senders, Block(layer="group", path=path))


def _senders(engine: Engine, index: SenderIndex[int] | None, at: Block) -> Iterator[tuple[Block, Policy | None]]:
    for key, position in index.rules() if index is not None else ():
        yield Block(layer=at.layer, agent=at.agent, path=at.path, sender=key), engine.policies[position]
