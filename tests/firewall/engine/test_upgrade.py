"""Another release: what changes equals asking every context, and the causes together are the whole of it."""

from collections import defaultdict
from dataclasses import fields, replace
from itertools import product
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from apps.firewall.engine.compile import Engine
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.contexts import ContextClass, SenderClass, context_classes, context_of
from apps.firewall.engine.decide import explain_with
from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.diff import SnapshotDiff
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import AgentSource, ChannelSource, GroupSource, SnapshotSource, ToolEntry
from apps.firewall.engine.upgrade import CAUSES, Upgrade, readings, shares, upgrade_of
from tests.firewall.engine.environments import sources

Said = dict[ContextClass, tuple[set[str], set[str]]]


def _said(diff: SnapshotDiff) -> Said:
    found: Said = defaultdict(lambda: (set(), set()))
    for change in diff.changes:
        for box in change.boxes:
            for agent, model, sandboxed in box.who:
                for (conversation, sender), (is_owner, depth) in product(box.where, box.states):
                    asked = ContextClass(agent, model, conversation, sender, is_owner, sandboxed, depth)
                    found[asked][0].update(change.gained)
                    found[asked][1].update(change.lost)
    return found


def _known(diff: SnapshotDiff, asked: ContextClass) -> ContextClass:
    return asked if diff.tells_apart(asked.conversation, asked.sender) else replace(asked, sender=SenderClass())


def _allowed(engine: Engine, context: CallContext) -> set[str]:
    return set(explain_with(engine, context).allowed)


def test_every_field_of_a_dialect_belongs_to_one_cause() -> None:
    named = [name for names in CAUSES.values() for name in names]
    assert sorted(named) == sorted(field.name for field in fields(Dialect))


@pytest.mark.unhurried
@settings(max_examples=12, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(sources(), st.booleans(), st.randoms(use_true_random=False))
@pytest.mark.slow
def test_it_equals_brute_force_and_the_causes_are_the_whole_way(
    source: SnapshotSource, forwards: bool, chance: Random
) -> None:
    before, after = ("2026.2", "2026.9") if forwards else ("2026.9", "2026.2")
    tools = [*source.tools, ToolEntry("browser")]
    old, new = (
        build_snapshot(replace(source, dialect=before)),
        build_snapshot(replace(source, dialect=after, tools=tools)),
    )
    upgrade, steps, engines = upgrade_of(old, new), list(shares(old, new)), [each for _, each in readings(old, new)]
    total, parts = _said(upgrade.diff), [(share.diff, _said(share.diff)) for share in steps]
    classes = list(context_classes(upgrade.diff.classes))
    for asked in chance.sample(classes, min(150, len(classes))):
        context = context_of(asked)
        answers = [_allowed(reading.engine, context) for reading in engines]
        assert answers[0] == _allowed(old.engine, context)
        assert answers[-1] == _allowed(new.engine, context)
        gained, lost = total.get(_known(upgrade.diff, asked), (set(), set()))
        assert (gained, lost) == (answers[-1] - answers[0], answers[0] - answers[-1])
        for (diff, said), was, now in zip(parts, answers, answers[1:], strict=False):
            assert said.get(_known(diff, asked), (set(), set())) == (now - was, was - now)


def _upgrade(old: SnapshotSource, **members: object) -> Upgrade:
    return upgrade_of(build_snapshot(old), build_snapshot(replace(old, dialect="2026.9", **members)))  # type: ignore[arg-type]


def _causes(upgrade: Upgrade) -> dict[str, tuple[set[str], set[str]]]:
    return {
        share.cause: (
            {tool for change in share.diff.changes for tool in change.gained},
            {tool for change in share.diff.changes for tool in change.lost},
        )
        for share in upgrade.shares
    }


OLD = SnapshotSource(dialect="2026.2", tools=[ToolEntry("read"), ToolEntry("exec")], agents=[AgentSource("bot")])


def test_a_policy_that_both_releases_read_alike_changes_for_nobody() -> None:
    upgrade = _upgrade(replace(OLD, tools=[ToolEntry("read")]))
    assert (upgrade.diff.is_empty, upgrade.shares) == (True, ())


def test_a_rule_by_sender_counts_where_the_release_has_the_layer() -> None:
    upgrade = _upgrade(replace(OLD, by_sender=[("id:7", Policy(deny=("exec",)))]))
    assert _causes(upgrade) == {"sender_layer": (set(), {"exec"})}


def test_a_tool_of_the_new_release_comes_by_its_catalogue() -> None:
    upgrade = _upgrade(OLD, tools=[*OLD.tools, ToolEntry("ask_user")])
    assert _causes(upgrade)["catalogue"] == ({"ask_user"}, set())


def test_owner_only_tools_open_to_whom_nobody_knows() -> None:
    owners = replace(OLD, tools=[ToolEntry("gateway", owner_only=True)])
    assert _causes(_upgrade(owners)) == {"owner_only": ({"gateway"}, set())}


def test_an_allow_list_of_unknown_names_is_no_longer_dropped() -> None:
    listed = replace(
        OLD, policy=Policy(allow=("nosuchtool",)), channels=[ChannelSource("telegram", {"groups": [GroupSource("-1")]})]
    )
    assert _causes(_upgrade(listed))["stripping"] == (set(), {"read", "exec"})


def test_defaults_of_commands_are_compared_agent_by_agent() -> None:
    source = replace(
        OLD, agents=[AgentSource("bot"), AgentSource("ops", settings={"exec": {"security": "deny", "ask": "off"}})]
    )
    outside = [change for change in _upgrade(source).commands if not change.sandboxed]
    told = {
        agent: {word.name: (word.before, word.after) for word in each.words}
        for each in outside
        for agent in each.agents
    }
    assert told["bot"]["host"] == ("sandbox", "gateway")
    assert told["bot"] == told["*"]
    assert "security" not in told.get("ops", {})
