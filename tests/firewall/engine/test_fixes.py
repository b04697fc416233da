"""The smallest fix: it flips the verdict, no smaller one does, and no other of its size changes less."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from math import comb
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.contexts import classes_of, context_classes, context_of
from apps.firewall.engine.decide import allowed_tools, decide
from apps.firewall.engine.diff import diff_snapshots
from apps.firewall.engine.edits import Edit, is_lawful, list_of, lists_in
from apps.firewall.engine.fixes import UnknownToolError, fix_diff, smallest_fix
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.simulate import Block
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, ChannelSource, GroupSource, Named, SnapshotSource, ToolEntry
from apps.firewall.engine.surroundings import Surroundings
from tests.firewall.engine.environments import contexts

TOOLS = ("read", "exec", "apply_patch", "lobster", "sessions_list")
ENTRIES = (*TOOLS, "*", "group:runtime", "group:fs", "nosuchtool", "lob*")
lists = st.none() | st.lists(st.sampled_from(ENTRIES), max_size=2).map(tuple)
policies = st.builds(
    Policy,
    allow=lists,
    deny=lists,
    also_allow=lists,
    profile=st.sampled_from((None, None, "coding", "minimal", "own", "other")),
)
blocks = st.none() | policies
own_profiles = st.builds(Policy, allow=lists, deny=lists)


@st.composite
def small_sources(draw: st.DrawFn) -> SnapshotSource:
    """Return an environment with one of everything, so that every edit can be tried."""

    def one(key: str) -> Named:
        return [(key, draw(policies))] if draw(st.booleans()) else []

    chosen = draw(st.lists(st.sampled_from(TOOLS), min_size=1, unique=True))
    groups = [GroupSource("-100", draw(blocks), one("2")), GroupSource("*", draw(blocks), one("*"))]
    return SnapshotSource(
        dialect=draw(st.sampled_from(("2026.9", "2026.2"))),
        tools=[
            ToolEntry(name, "lobster" if name == "lobster" else None, optional=name == "lobster") for name in chosen
        ],
        policy=draw(blocks),
        by_provider=one("openai"),
        by_sender=one("id:1"),
        sandbox=draw(blocks),
        subagents=draw(blocks),
        agents=[
            AgentSource(
                "bot", policy=draw(blocks), by_provider=one("openai/gpt-5"), by_sender=one("2"), sandbox=draw(blocks)
            )
        ],
        channels=[ChannelSource("telegram", {"groups": draw(st.sampled_from((groups, groups[:1], groups[1:], [])))})],
        owners=draw(st.sampled_from(([], ["telegram:1"]))),
        profiles={name: draw(own_profiles) for name in draw(st.sampled_from(((), ("own",), ("own", "other"))))},
    )


def written_blocks(source: SnapshotSource) -> Iterator[tuple[Block, Policy | None]]:
    """List every block of a small source."""
    assert source.agents
    (agent,) = source.agents
    yield Block(layer="global"), source.policy
    yield Block(layer="sandbox"), source.sandbox
    yield Block(layer="subagent"), source.subagents
    yield Block(layer="agent", agent=agent.id), agent.policy
    yield Block(layer="sandbox", agent=agent.id), agent.sandbox
    for name, own in source.profiles.items():
        yield Block(layer="profile", profile=name), own
    for key, policy in source.by_provider:
        yield Block(layer="global_provider", provider=key), policy
    for key, policy in agent.by_provider:
        yield Block(layer="agent_provider", agent=agent.id, provider=key), policy
    for key, policy in source.by_sender:
        yield Block(layer="sender", sender=key), policy
    for key, policy in agent.by_sender:
        yield Block(layer="sender", agent=agent.id, sender=key), policy
    for group in source.channels[0].maps["groups"]:
        yield Block(layer="group", path=("telegram", "groups", group.key)), group.tools
        for key, policy in group.by_sender:
            yield Block(layer="group", path=("telegram", "groups", group.key), sender=key), policy


def _set(source: SnapshotSource, block: Block, policy: Policy) -> SnapshotSource:
    """Return a small source with another block."""

    def named(rules: Named, key: str | None) -> Named:
        return [(name, policy if name == key else each) for name, each in rules]

    assert source.agents
    (agent,) = source.agents
    if block.layer == "group":
        groups = [
            each
            if each.key != block.path[-1]
            else replace(each, by_sender=named(each.by_sender, block.sender))
            if block.sender
            else replace(each, tools=policy)
            for each in source.channels[0].maps["groups"]
        ]
        return replace(source, channels=[ChannelSource("telegram", {"groups": groups})])
    if block.profile is not None:
        return replace(source, profiles={**source.profiles, block.profile: policy})
    holder: Any = agent if block.agent else source
    changes: dict[str, dict[str, Any]] = {
        "global": {"policy": policy},
        "agent": {"policy": policy},
        "sandbox": {"sandbox": policy},
        "subagent": {"subagents": policy},
        "sender": {"by_sender": named(holder.by_sender, block.sender)},
        "global_provider": {"by_provider": named(holder.by_provider, block.provider)},
        "agent_provider": {"by_provider": named(holder.by_provider, block.provider)},
    }
    change = changes[block.layer]
    return replace(source, agents=[replace(agent, **change)]) if block.agent else replace(source, **change)


def _edits(source: SnapshotSource, tool: str) -> list[Edit]:
    """List every edit of any list of a small source, wherever it stands."""
    found = []
    for block, policy in written_blocks(source):
        for member in lists_in(block):
            listed = list_of(policy, member)
            found += [] if tool in listed else [Edit(block, member, tool, is_added=True)]
            found += [Edit(block, member, entry, is_added=False) for entry in dict.fromkeys(listed)]
    return found


def _after(source: SnapshotSource, edits: tuple[Edit, ...]) -> Snapshot:
    for edit in edits:
        source = _set(source, edit.block, edit.apply(dict(written_blocks(source))[edit.block]))
    return build_snapshot(source)


def _is_lawful(source: SnapshotSource, edits: tuple[Edit, ...]) -> bool:
    """Say whether a document may hold what edits make of its blocks."""
    after = dict(written_blocks(source))
    for edit in edits:
        after[edit.block] = edit.apply(after[edit.block])
    return all(is_lawful(after[edit.block] or Policy()) for edit in edits)


def _flipping(
    source: SnapshotSource, context: CallContext, tool: str, tried: Iterable[tuple[Edit, ...]]
) -> list[tuple[Edit, ...]]:
    """Try edits one after the other."""
    allowed = decide(build_snapshot(source), context, tool).allowed
    return [
        edits
        for edits in tried
        if _is_lawful(source, edits) and decide(_after(source, edits), context, tool).allowed is not allowed
    ]


def _counted(snapshot: Snapshot, other: Snapshot) -> dict[str, tuple[int, int]]:
    """Ask every class of contexts one by one; who is named anywhere is told apart there."""
    opened: Counter[str] = Counter()
    closed: Counter[str] = Counter()
    diff = diff_snapshots(snapshot, other)
    for asked in context_classes(classes_of(snapshot)):
        if diff.tells_apart(asked.conversation, asked.sender) or asked.sender.kind == "*":
            before, after = (set(allowed_tools(each, context_of(asked))) for each in (snapshot, other))
            opened.update(after - before)
            closed.update(before - after)
    return {tool: (opened[tool], closed[tool]) for tool in sorted({*opened, *closed})}


special = st.sampled_from(
    (
        CallContext(agent_id="bot", channel="webchat", sender_is_owner=True),
        CallContext(agent_id="bot", channel="webchat", sender_id="1"),
        CallContext(session_key="agent:bot:subagent:4f"),
        CallContext(session_key="agent:bot:subagent:4f", spawned_by="agent:bot:telegram:group:-100", sandboxed=True),
        CallContext(agent_id="bot", session_key="agent:bot:telegram:group:-100", sender_id="1", sandboxed=True),
        CallContext(agent_id="bot", provider="openai", model_id="gpt-5", channel="voice"),
    )
)


@pytest.mark.unhurried
@settings(max_examples=60)
@given(small_sources(), contexts() | special, st.sampled_from(TOOLS), st.randoms(use_true_random=False))
@pytest.mark.slow
def test_it_equals_brute_force(source: SnapshotSource, context: CallContext, tool: str, chance: Random) -> None:
    snapshot = build_snapshot(source)
    if tool not in snapshot.tool_names:
        return
    around = Surroundings(snapshot)
    fix = smallest_fix(around, context, tool)
    every = _edits(source, tool)
    flips = _flipping(source, context, tool, ((edit,) for edit in every))
    for size in (2, 3)[: 2 if fix is None else len(fix.edits) - 1]:
        assert not flips  # there is a fix with one edit less
        tried = combinations(every, size)
        some = chance.sample(list(tried), 150) if comb(len(every), size) > 150 else tried
        flips = _flipping(source, context, tool, some)
    if fix is None:
        assert not flips
        return
    allowed = decide(snapshot, context, tool).allowed
    assert _flipping(source, context, tool, [fix.edits])
    assert fix.opens is not allowed
    counted = _counted(snapshot, _after(source, fix.edits))
    assert {effect.tool: (effect.opened, effect.closed) for effect in fix.effects} == counted
    said = fix_diff(snapshot, context, fix, classes=around.classes)
    assert around.contexts == said.contexts
    told = dict.fromkeys(counted, (0, 0))
    for change in said.changes:
        for name in (*change.gained, *change.lost):
            gained, lost = (change.classes if name in side else 0 for side in (change.gained, change.lost))
            told[name] = (told[name][0] + gained, told[name][1] + lost)
    assert told == counted
    for edits in flips[:12]:
        assert sum(map(sum, _counted(snapshot, _after(source, edits)).values())) >= fix.verdicts


def _environment(**members: Any) -> Surroundings:
    tools = [ToolEntry(name) for name in ("read", "exec", "process", "message")]
    return Surroundings(build_snapshot(SnapshotSource(tools=tools, **members)))


def test_a_group_that_denies_all_gets_the_one_entry_out_that_refuses() -> None:
    group = GroupSource("-100", tools=Policy(deny=("message", "exec")))
    around = _environment(agents=[AgentSource("bot")], channels=[ChannelSource("telegram", {"groups": [group]})])
    context = CallContext(agent_id="bot", session_key="agent:bot:telegram:group:-100", channel="telegram")
    fix = smallest_fix(around, context, "exec")
    assert fix is not None
    assert fix.edits == (
        Edit(Block(layer="group", path=("telegram", "groups", "-100")), "deny", "exec", is_added=False),
    )
    assert (fix.opened, fix.closed) == ((), ())
    assert [effect.tool for effect in fix.effects] == ["exec"]


def test_two_layers_that_refuse_need_two_edits() -> None:
    around = _environment(
        policy=Policy(deny=("group:runtime",)), agents=[AgentSource("bot", policy=Policy(allow=("read",)))]
    )
    fix = smallest_fix(around, CallContext(agent_id="bot"), "exec")
    assert fix is not None
    assert fix.edits == (
        Edit(Block(layer="agent", agent="bot"), "allow", "exec", is_added=True),
        Edit(Block(layer="global"), "deny", "group:runtime", is_added=False),
    )
    assert fix.opened == ()
    assert {effect.tool for effect in fix.effects} == {"exec", "process"}


def test_closing_a_tool_for_one_agent_leaves_the_others_alone() -> None:
    around = _environment(agents=[AgentSource("bot"), AgentSource("ops")])
    fix = smallest_fix(around, CallContext(agent_id="bot"), "exec")
    assert fix is not None
    assert fix.edits == (Edit(Block(layer="agent", agent="bot"), "deny", "exec", is_added=True),)
    assert not fix.opens


def test_an_own_profile_is_a_list_that_changes_whoever_names_it() -> None:
    own = Policy(profile="own", also_allow=("message",))
    bots = [AgentSource("bot", policy=own), AgentSource("ops", policy=own), AgentSource("other")]
    around = _environment(agents=bots, profiles={"own": Policy(allow=("read",), deny=("exec",))})
    fix = smallest_fix(around, CallContext(agent_id="bot"), "exec")
    assert fix is not None
    profile = Block(layer="profile", profile="own")
    assert set(fix.edits) == {
        Edit(profile, "deny", "exec", is_added=False),
        Edit(Block(layer="agent", agent="bot"), "also_allow", "exec", is_added=True),
    }
    (effect,) = fix.effects
    assert (effect.tool, effect.closed) == ("exec", 0)
    everybody = around.contexts // len(around.classes.agents)
    assert effect.opened == everybody


def test_a_profile_that_two_agents_name_opens_for_both() -> None:
    bots = [AgentSource(name, policy=Policy(profile="own")) for name in ("bot", "ops")]
    around = _environment(agents=bots, profiles={"own": Policy(deny=("exec",))})
    fix = smallest_fix(around, CallContext(agent_id="bot"), "exec")
    assert fix is not None
    assert fix.edits == (Edit(Block(layer="profile", profile="own"), "deny", "exec", is_added=False),)
    (effect,) = fix.effects
    assert effect.opened == around.contexts // len(around.classes.agents) * 2


def test_what_no_list_decides_has_no_fix() -> None:
    tools = [ToolEntry("gateway", owner_only=True), ToolEntry("read")]
    around = Surroundings(build_snapshot(SnapshotSource(tools=tools, agents=[AgentSource("bot")])))
    assert smallest_fix(around, CallContext(agent_id="bot", sender_is_owner=False), "gateway") is None


def test_a_tool_that_does_not_exist_is_named() -> None:
    with pytest.raises(UnknownToolError, match="`nosuch`"):
        smallest_fix(_environment(agents=[AgentSource("bot")]), CallContext(agent_id="bot"), "nosuch")
