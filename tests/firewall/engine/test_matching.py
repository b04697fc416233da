"""Which rules match a call: taking one away that matched none of the calls changes none of them for the worse."""

from dataclasses import replace
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from apps.firewall.engine.compile import Engine
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import decide, explain_tool
from apps.firewall.engine.edits import Edit, blocks_after, engine_after
from apps.firewall.engine.layers import LAYERS
from apps.firewall.engine.matching import Rule, blocks_of, can_match, rules_about, rules_matched, rules_of
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.resolve import ResolutionError, resolve
from apps.firewall.engine.simulate import Block, engine_without
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, ChannelSource, GroupSource, SnapshotSource, ToolEntry
from tests.firewall.engine.environments import CORE, contexts, sources
from tests.firewall.engine.test_fixes import TOOLS, small_sources, special, written_blocks

IN_GROUP = "agent:bot:telegram:group:-100"


class Asked(NamedTuple):
    context: CallContext
    tool: str


def _may(engine: Engine, call: Asked) -> bool:
    name = engine.canonical_name(call.tool)
    try:
        return name is not None and bool(resolve(engine, call.context).mask & engine.universe.bits[name])
    except ResolutionError:
        return False


def _written(source: SnapshotSource, block: Block) -> Policy:
    """Find what a source writes in a block."""
    return dict(written_blocks(source))[block] or Policy()


def _without(source: SnapshotSource, snapshot: Snapshot, rule: Rule) -> Engine:
    if not rule.member:
        return engine_without(snapshot, rule.block)
    edit = Edit(rule.block, rule.member, rule.entry, is_added=False)
    return engine_after(snapshot.engine, blocks_after({rule.block: _written(source, rule.block)}, [edit]))


@settings(max_examples=80)
@given(small_sources(), st.lists(st.tuples(contexts() | special, st.sampled_from(TOOLS)), max_size=6))
def test_a_rule_that_matches_no_call_can_go_and_each_call_is_decided_as_well(
    source: SnapshotSource, made: list[tuple[CallContext, str]]
) -> None:
    snapshot = build_snapshot(source)
    engine, calls = snapshot.engine, [Asked(*each) for each in made]
    matched: set[Rule] = set()
    for call in calls:
        matched |= rules_matched(engine, *call)
    for rule in set(rules_of(engine)) - matched:
        after = _without(source, snapshot, rule)
        for call in calls:
            if rule.member in ("", "deny"):
                assert _may(after, call) is _may(engine, call)
            else:  # an allow list that is left without entries opens
                assert _may(after, call) or not _may(engine, call)


@settings(max_examples=150)
@given(sources(), contexts(), st.sampled_from(CORE))
def test_blocks_match_where_the_coverage_of_policy_tests_says_so(
    source: SnapshotSource, context: CallContext, tool: str
) -> None:
    snapshot = build_snapshot(source)
    engine = snapshot.engine
    steps = explain_tool(snapshot, context, tool)
    removing = [step for step in steps if step.removed_here]
    deciding = removing or [step for step in steps if step.permits and not LAYERS[step.key].is_gate]
    wanted = {(step.key, step.source) for step in deciding if step.key in ("group", "sender")}
    matched = rules_matched(engine, context, tool)
    policies = {rule.block for rule in matched if not rule.member and _says_anything(engine, rule.block)}
    assert {(block.layer, _place(block)) for block in policies} == wanted
    assert matched <= set(rules_of(engine))
    assert matched <= rules_about(engine, matched, tool)


def _says_anything(engine: Engine, block: Block) -> bool:
    policy = dict(blocks_of(engine))[block]
    return policy is not None and policy.merged() is not None


def _place(block: Block) -> str:
    if block.layer == "sender":
        scope = f"agents.{block.agent}.tools" if block.agent else "tools"
        return f"{scope}.toolsBySender.{block.sender}"
    last = "tools" if block.sender is None else f"toolsBySender.{block.sender}"
    return f"channels.{'.'.join(block.path)}.{last}"


@settings(max_examples=150)
@given(small_sources(), contexts() | special, st.sampled_from(TOOLS))
def test_the_entry_that_a_decision_names_matches(source: SnapshotSource, context: CallContext, tool: str) -> None:
    snapshot = build_snapshot(source)
    decision = decide(snapshot, context, tool)
    place, is_entry, entry = (decision.rule or "").partition(".deny ")
    is_own = not place.startswith("built-in")
    if decision.allowed or not is_entry or not is_own or decision.layer in ("runtime", "inherited", "owner_only"):
        return
    named = {rule.entry for rule in rules_matched(snapshot.engine, context, tool) if rule.member == "deny"}
    if decision.layer != "sandbox":  # its lists are written out before they are read
        assert entry in named


def _snapshot() -> Snapshot:
    group = GroupSource("-100", tools=Policy(deny=("exec", "group:fs")), by_sender=[("id:7", Policy(allow=("read",)))])
    return build_snapshot(
        SnapshotSource(
            tools=[ToolEntry(name) for name in ("read", "exec", "message")],
            policy=Policy(deny=("message", "nosuchtool")),
            agents=[AgentSource("bot", policy=Policy(allow=("read", "exec")))],
            channels=[ChannelSource("telegram", {"groups": [group]})],
        )
    )


def test_the_block_and_the_entry_that_refuse_match_and_no_other() -> None:
    group = Block(layer="group", path=("telegram", "groups", "-100"))
    context = CallContext(agent_id="bot", session_key=IN_GROUP, channel="telegram")
    assert rules_matched(_snapshot().engine, context, "exec") == {Rule(group), Rule(group, "deny", "exec")}


def test_whatever_lets_a_call_pass_matches() -> None:
    sender = Block(layer="group", path=("telegram", "groups", "-100"), sender="id:7")
    context = CallContext(agent_id="bot", session_key=IN_GROUP, channel="telegram", sender_id="7")
    assert rules_matched(_snapshot().engine, context, "read") == {
        Rule(sender),
        Rule(sender, "allow", "read"),
        Rule(Block(layer="agent", agent="bot"), "allow", "read"),
    }


def test_an_entry_that_names_no_tool_cannot_match() -> None:
    engine = _snapshot().engine
    idle = [rule for rule in rules_of(engine) if not can_match(engine, rule)]
    assert idle == [Rule(Block(layer="global"), "deny", "nosuchtool")]


def test_a_context_in_which_nothing_can_be_decided_matches_nothing() -> None:
    context = replace(CallContext(agent_id="bot"), agent_id="nobody", session_key="agent:bot:main")
    assert rules_matched(_snapshot().engine, context, "read") == frozenset()
    assert rules_matched(_snapshot().engine, CallContext(agent_id="bot"), "no_such_tool") == frozenset()
