"""The engine against the pipeline written straight down: decisions, lists of names, building, loading, memory, diff."""

import gc
import random
import tracemalloc
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from apps.firewall.engine.blast import contexts_by_agent
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools, decide
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.diff import diff_snapshots
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot, load_snapshot
from apps.firewall.engine.source import AgentSource, ChannelSource, GroupSource, SnapshotSource, ToolEntry
from bench.figures import Figure, percentile, shown, timed
from tests.firewall.engine import straight_pipeline

AGENTS, GROUPS, RULES_PER_GROUP, POLICIES, CONTEXTS = 1_000, 10_000, 10, 2_000, 4_000
CHANNELS = ("telegram", "whatsapp", "signal", "discord")


def measure() -> Iterable[Figure]:
    """Measure at 500 and at 5,000 tools."""
    for tools, limit_us, ratio in ((500, 6, 20), (5_000, 10, 100)):
        source = population(tools)
        snapshot = build_snapshot(source)
        questions = list(ask(source, snapshot))
        yield from decisions(source, snapshot, questions, limit_us, ratio)
        if tools == 500:
            yield lists(source, snapshot, questions)
            yield from building(source, snapshot)
            yield comparing(source, snapshot)


def population(tools: int) -> SnapshotSource:
    """Make an environment of 1,000 agents, 10,000 groups and 100,000 rules by sender over 2,000 distinct policies."""
    chance = random.Random(7)
    entries = [ToolEntry(tool.name, section=tool.section) for tool in DIALECTS["2026.9"].catalogue]
    while len(entries) < tools:
        plugin = f"plugin{len(entries) % 60}"
        entries.append(ToolEntry(f"{plugin}__tool_{len(entries)}", plugin=plugin, source="plugin"))
    names = [entry.name for entry in entries]
    policies = [_policy(chance, names) for _ in range(POLICIES)]
    groups = [
        GroupSource(
            f"-{100_000 + number}",
            chance.choice(policies),
            [(f"id:{number * 10 + rule}", chance.choice(policies)) for rule in range(RULES_PER_GROUP)],
        )
        for number in range(GROUPS)
    ]
    return SnapshotSource(
        environment="bench",
        tools=entries,
        policy=Policy(profile="full", deny=("x_search",)),
        by_provider=[("openai", Policy(deny=("tts",))), ("fake/fake-1", Policy(deny=("pdf",)))],
        by_sender=[(f"id:{number}", chance.choice(policies)) for number in range(0, 2_000, 20)],
        agents=[_agent(chance, number, policies) for number in range(AGENTS)],
        channels=[
            ChannelSource(name, {"groups": groups[place :: len(CHANNELS)]}) for place, name in enumerate(CHANNELS)
        ],
        owners=["telegram:1001"],
    )


def _policy(chance: random.Random, names: list[str]) -> Policy:
    deny = (
        *chance.sample(names, chance.randint(1, 12)),
        *chance.sample(("group:web", "group:nodes", "plugin1*", "plugin2*", "plugin33"), 2),
    )
    if chance.random() < 0.6:
        return Policy(deny=deny)
    allow = (*chance.sample(names, 25), "group:fs", "group:runtime", "plugin*", "sessions_*")
    return Policy(allow=allow, deny=deny)


def _agent(chance: random.Random, number: int, policies: list[Policy]) -> AgentSource:
    return AgentSource(
        f"agent-{number}",
        policy=replace(chance.choice(policies), profile=chance.choice((None, "full", "coding"))),
        by_provider=[("openai/gpt-5", chance.choice(policies))],
        sandbox=Policy(allow=("group:fs", "exec", "plugin*")) if number % 3 == 0 else None,
    )


def ask(source: SnapshotSource, snapshot: Snapshot) -> Iterator[tuple[CallContext, str]]:
    """Ask about tools all over the environment, each in a context of its own."""
    chance = random.Random(11)
    for _ in range(CONTEXTS):
        channel = chance.choice(source.channels)
        group = chance.choice(channel.maps["groups"])
        agent = f"agent-{chance.randrange(AGENTS)}"
        provider, model = chance.choice((("openai", "gpt-5"), ("fake", "fake-1"), ("other", "m")))
        context = CallContext(
            agent_id=agent,
            session_key=f"agent:{agent}:{channel.name}:group:{group.key}",
            provider=provider,
            model_id=model,
            channel=channel.name,
            sender_id=chance.choice(group.by_sender)[0].removeprefix("id:") if chance.random() < 0.7 else "5",
            sender_is_owner=chance.choice((True, False, None)),
            sandboxed=chance.random() < 0.3,
            subagent_depth=chance.choice((0, 0, 0, 1, 5)),
        )
        yield context, chance.choice(snapshot.tool_names)


def decisions(
    source: SnapshotSource, snapshot: Snapshot, questions: list[tuple[CallContext, str]], limit_us: int, ratio: int
) -> Iterator[Figure]:
    """Measure one decision with its reason, and the straight pipeline on the same questions.

    Of each question the quickest of fifteen counts: p99 is then about questions, not about what else the machine does.
    """
    sample = questions[: 60 if limit_us < 10 else 20]
    for context, tool in sample:
        assert decide(snapshot, context, tool).allowed == (tool in straight_pipeline.allowed(source, context))
    for context, tool in questions:  # the session keys are known from here on, as in a process that serves
        decide(snapshot, context, tool)
    gc.collect()
    gc.disable()
    times = [min(timed(partial(decide, snapshot, context, tool), rounds=15)) for context, tool in questions]
    straight = [min(timed(partial(straight_pipeline.allowed, source, context), rounds=2)) for context, _ in sample]
    gc.enable()
    size = len(snapshot.tool_names)
    middle, p99 = percentile(times, 0.5), percentile(times, 0.99)
    what = (
        f"decision with reason, {size} tools, {AGENTS} agents, {GROUPS} groups, {GROUPS * RULES_PER_GROUP} sender rules"
    )
    yield Figure(what, f"p50 {shown(middle)}, p99 {shown(p99)}", f"p99 ≤ {limit_us} µs", p99 <= limit_us * 1e-6)
    factor = percentile(straight, 0.5) / middle
    yield Figure(
        f"the same over the straight pipeline, {size} tools",
        f"{factor:.0f}x (straight p50 {shown(percentile(straight, 0.5))})",
        f"≥ {ratio}x",
        factor >= ratio,
    )


def lists(source: SnapshotSource, snapshot: Snapshot, questions: list[tuple[CallContext, str]]) -> Figure:
    """Measure the list of allowed names."""
    sample = [context for context, _ in questions[:60]]
    for context in sample:
        assert list(allowed_tools(snapshot, context)) == straight_pipeline.allowed(source, context)
    ours = [time for context in sample for time in timed(partial(allowed_tools, snapshot, context), rounds=20)]
    straight = [min(timed(partial(straight_pipeline.allowed, source, context), rounds=2)) for context in sample]
    factor = percentile(straight, 0.5) / percentile(ours, 0.5)
    value = f"{factor:.0f}x (p50 {shown(percentile(ours, 0.5))}, p99 {shown(percentile(ours, 0.99))})"
    return Figure("list of allowed names over the straight pipeline, 500 tools", value, "≥ 50x", factor >= 50)


def building(source: SnapshotSource, snapshot: Snapshot) -> Iterator[Figure]:
    """Measure building with digest, loading, and the memory of a loaded snapshot."""
    built = percentile(timed(lambda: build_snapshot(source), rounds=3), 0.5)
    data, digest = snapshot.to_bytes(), snapshot.digest
    loaded = percentile(timed(lambda: load_snapshot(data, expected_digest=digest), rounds=3), 0.5)
    policies = len(snapshot.document["policies"])
    yield Figure(
        f"snapshot from source, canonical JSON and digest, {policies} policies", shown(built), "≤ 1.2 s", built <= 1.2
    )
    yield Figure("snapshot from bytes, compiled", shown(loaded))
    gc.collect()
    tracemalloc.start()
    kept = load_snapshot(bytes(bytearray(data)), expected_digest=digest)
    gc.collect()
    size_mb = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    del kept
    yield Figure(
        f"memory of a loaded engine, {policies} policies, {len(data) / 1e6:.1f} MB of JSON",
        f"{size_mb:.0f} MB",
        "≤ 60 MB",
        size_mb <= 60,
    )


def comparing(source: SnapshotSource, snapshot: Snapshot) -> Figure:
    """Measure the blast radius after one agent lost one tool: the diff, and whom it meets, counted once."""
    agents = list(source.agents or ())
    before = agents[0].policy or Policy()
    agents[0] = replace(agents[0], policy=replace(before, deny=(*(before.deny or ()), "exec")))
    changed = build_snapshot(replace(source, agents=agents))
    took = percentile(timed(lambda: contexts_by_agent(diff_snapshots(snapshot, changed).changes), rounds=3), 0.5)
    what = f"blast radius over all classes of contexts, one agent loses one tool; {AGENTS} agents, {GROUPS} groups"
    return Figure(what, shown(took), "≤ 2 s", took <= 2)
