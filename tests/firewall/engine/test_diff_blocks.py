"""Which blocks two snapshots do not have in common: none is missed, none is made up."""

from dataclasses import replace

from hypothesis import given

from apps.firewall.engine.diff_blocks import BlockDifference, block_differences
from apps.firewall.engine.diff_guards import tool_differences
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, ChannelSource, GroupSource, SnapshotSource, ToolEntry
from tests.firewall.engine.environments import sources

SOURCE = SnapshotSource(
    tools=[ToolEntry("read"), ToolEntry("exec")],
    policy=Policy(deny=("exec",)),
    by_provider=[("openai", Policy(allow=("read",)))],
    agents=[AgentSource("bot", policy=Policy(also_allow=("read",)), settings={"exec": {"ask": "off"}})],
    channels=[ChannelSource("telegram", {"groups": [GroupSource("-100", by_sender=[("id:1", Policy())])]})],
    owners=["telegram:1"],
    profiles={"ours": Policy(allow=("read",))},
    exec_approvals={"defaults": {"ask": "off"}, "agents": {"bot": {"security": "full"}}},
)


def _between(old: SnapshotSource, new: SnapshotSource) -> dict[tuple[str, str], BlockDifference]:
    return {(each.kind, each.place): each for each in block_differences(build_snapshot(old), build_snapshot(new))}


def test_equal_snapshots_have_every_block_in_common() -> None:
    assert _between(SOURCE, replace(SOURCE)) == {}


def test_a_changed_list_names_its_place_and_member() -> None:
    found = _between(SOURCE, replace(SOURCE, policy=Policy(deny=("exec", "read"))))
    difference = found.pop(("global", "tools"))
    assert (difference.action, difference.members) == ("changed", ("deny",))
    assert (difference.before, difference.after) == ({"deny": ["exec"]}, {"deny": ["exec", "read"]})
    assert found == {}


def test_every_kind_of_block_is_told_when_it_goes() -> None:
    gone = _between(SOURCE, SnapshotSource(tools=SOURCE.tools))
    assert {key: each.action for key, each in gone.items()} == dict.fromkeys(
        [
            ("global", "tools"),
            ("provider", "tools.byProvider.openai"),
            ("agent", "agents.bot.tools"),
            ("exec", "agents.bot.tools.exec"),
            ("channel", "channels.telegram"),
            ("group", "channels.telegram.groups.-100"),
            ("sender", "channels.telegram.groups.-100.toolsBySender.id:1"),
            ("owners", "commands.ownerAllowFrom"),
            ("profile", "profiles.ours"),
            ("approvals", "approvals:defaults"),
            ("approvals_agent", "approvals:agents.bot"),
        ],
        "removed",
    )
    assert gone["agent", "agents.bot.tools"].before == {"alsoAllow": ["read"]}


def test_the_release_is_a_block_of_its_own() -> None:
    (difference,) = _between(SOURCE, replace(SOURCE, dialect="2026.2")).values()
    assert (difference.kind, difference.before, difference.after) == (
        "release",
        {"release": "2026.9"},
        {"release": "2026.2"},
    )


@given(sources(), sources())
def test_the_way_back_is_the_same_way(one: SnapshotSource, other: SnapshotSource) -> None:
    old, new = build_snapshot(one), build_snapshot(other)
    there = {(each.kind, each.place): (each.before, each.after) for each in block_differences(old, new)}
    back = {(each.kind, each.place): (each.after, each.before) for each in block_differences(new, old)}
    assert there == back


@given(sources(), sources())
def test_snapshots_without_a_difference_hold_the_same_but_for_the_order(
    one: SnapshotSource, other: SnapshotSource
) -> None:
    """What a document says that no block tells would let two different policies look alike."""
    old, new = build_snapshot(one), build_snapshot(other)
    if block_differences(old, new) or tool_differences(old.document["tools"], new.document["tools"]):
        return
    assert _letters(old) == _letters(new)


def _letters(snapshot: Snapshot) -> list[int]:
    document = snapshot.document
    return sorted(str({name: value for name, value in document.items() if name != "policies"}).encode())
