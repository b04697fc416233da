"""The diff of two snapshots says who gains and loses what: the same as asking every class of contexts one by one."""

from collections import defaultdict
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from apps.firewall.engine.contexts import (
    ContextClass,
    Conversation,
    Model,
    SenderClass,
    context_classes,
    context_of,
)
from apps.firewall.engine.decide import allowed_tools
from apps.firewall.engine.diff import SnapshotDiff, diff_snapshots
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, ChannelSource, GroupSource, SnapshotSource, ToolEntry
from tests.firewall.engine.environments import sources

Answer = tuple[tuple[str, ...], tuple[str, ...]]


def _said(diff: SnapshotDiff) -> dict[ContextClass, Answer]:
    """Write the diff out; nobody may be told twice of a tool."""
    gained: dict[ContextClass, list[str]] = defaultdict(list)
    lost: dict[ContextClass, list[str]] = defaultdict(list)
    for change in diff.changes:
        for box in change.boxes:
            for agent, model, sandboxed in box.who:
                for (conversation, sender), (is_owner, depth) in product(box.where, box.states):
                    asked = ContextClass(agent, model, conversation, sender, is_owner, sandboxed, depth)
                    gained[asked].extend(change.gained)
                    lost[asked].extend(change.lost)
    return {asked: (tuple(sorted(gained[asked])), tuple(sorted(lost[asked]))) for asked in gained}


def _compare_with_brute_force(source: SnapshotSource, changed: SnapshotSource, chance: Random) -> None:
    """Ask a thousand of all classes one by one: asking every one of them takes minutes."""
    old, new = build_snapshot(source), build_snapshot(changed)
    diff = diff_snapshots(old, new)
    told = _said(diff)
    every = list(context_classes(diff.classes))
    for asked in chance.sample(every, min(1000, len(every))):
        is_known = diff.tells_apart(asked.conversation, asked.sender)
        known = asked if is_known else replace(asked, sender=SenderClass())
        context = context_of(asked)
        before, after = set(allowed_tools(old, context)), set(allowed_tools(new, context))
        assert told.get(known, ((), ())) == (tuple(sorted(after - before)), tuple(sorted(before - after)))


@pytest.mark.unhurried
@settings(max_examples=25, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(sources(), sources(), st.booleans(), st.randoms(use_true_random=False))
@pytest.mark.slow
def test_it_equals_brute_force(
    source: SnapshotSource, other: SnapshotSource, mostly_equal: bool, chance: Random
) -> None:
    mostly = replace(source, policy=other.policy, channels=other.channels, dialect=other.dialect)
    changed = mostly if mostly_equal else other
    _compare_with_brute_force(source, changed, chance)


def _environment(bot: Policy | None = None, group: Policy | None = None) -> Snapshot:
    return build_snapshot(
        SnapshotSource(
            tools=[ToolEntry(name) for name in ("read", "exec", "process", "message")],
            agents=[AgentSource("bot", policy=bot), AgentSource("ops")],
            channels=[ChannelSource("telegram", {"groups": [GroupSource("-100", tools=group), GroupSource("-200")]})],
        )
    )


def test_an_owner_for_whom_an_allow_list_counts_is_told_apart() -> None:
    """In the older release a list that names owner-only tools alone is dropped for everybody but the owner."""
    listed = GroupSource("-100", by_sender=[("*", Policy(allow=("gateway", "group:plugins")))])
    source = SnapshotSource(
        dialect="2026.2",
        tools=[ToolEntry("gateway", owner_only=True), ToolEntry("read"), ToolEntry("lobster", plugin="lobster")],
        policy=Policy(deny=("gateway",)),
        agents=[AgentSource("bot")],
        channels=[ChannelSource("telegram", {"groups": [listed]})],
        owners=["2"],
    )
    _compare_with_brute_force(source, replace(source, channels=[]), Random(1))


def test_two_equal_snapshots_differ_for_nobody() -> None:
    diff = diff_snapshots(_environment(), _environment())
    assert diff.is_empty


def test_a_denied_tool_is_lost_by_that_agent_everywhere() -> None:
    (change,) = diff_snapshots(_environment(), _environment(bot=Policy(deny=("group:runtime",)))).changes
    assert (change.gained, change.lost) == ((), ("exec", "process"))
    assert change.agents == ("bot",)
    assert Conversation("telegram", "", "", "-100") in change.conversations
    assert len(change.conversations) == 6


def test_a_rule_of_a_group_meets_every_agent_in_that_group_only() -> None:
    (change,) = diff_snapshots(_environment(group=Policy(deny=("exec",))), _environment()).changes
    assert (change.gained, change.lost) == (("exec",), ())
    assert change.agents == ("*", "bot", "ops")
    assert change.conversations == (Conversation("telegram", "", "", "-100"),)


def test_a_new_tool_is_gained_and_named_as_added() -> None:
    old = build_snapshot(SnapshotSource(tools=[ToolEntry("read")]))
    new = build_snapshot(SnapshotSource(tools=[ToolEntry("read"), ToolEntry("lobster", plugin="lobster")]))
    diff = diff_snapshots(old, new)
    assert diff.tools_added == ("lobster",)
    assert [change.gained for change in diff.changes] == [("lobster",)]


def test_a_provider_of_its_own_is_told_from_any_other() -> None:
    old = build_snapshot(SnapshotSource(tools=[ToolEntry("exec")]))
    new = build_snapshot(
        SnapshotSource(tools=[ToolEntry("exec")], by_provider=[("openai/gpt-5", Policy(deny=("exec",)))])
    )
    (change,) = diff_snapshots(old, new).changes
    assert change.models == (Model("openai", "gpt-5"),)
