"""One rule of another policy laid over what is live: that rule, and nothing else, says what the other one says."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import decide
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.resolve import ResolutionError
from apps.firewall.engine.rule_changes import (
    RuleChangedError,
    RuleEdit,
    RuleGoneError,
    edits_between,
    snapshot_with,
    with_edits,
)
from apps.firewall.engine.rule_tree import Tree, document_of, tree_of
from apps.firewall.engine.snapshot import Snapshot, SnapshotError, build_snapshot, load_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from tests.firewall.engine.environments import contexts, sources

SCOPE = frozenset({("by_provider",), ("by_sender",), ("settings", "exec")})
GROUP = frozenset({("by_sender",), ("channels",)})


def rules_of(tree: Tree) -> Iterator[tuple[tuple[str, ...], frozenset[tuple[str, ...]]]]:
    """Name the place of every rule, those that others belong to first."""
    yield ("global",), SCOPE
    yield ("settings",), frozenset()
    for agent, block in (tree["agents"] or {}).items():
        yield ("agents", agent), SCOPE
        yield ("agents", agent, "settings", "exec"), frozenset()
        yield from (
            (("agents", agent, name, key), frozenset()) for name in ("by_provider", "by_sender") for key in block[name]
        )
    for name in ("by_provider", "by_sender"):
        yield from ((("global", name, key), frozenset()) for key in tree["global"][name])
    for channel, block in tree["channels"].items():
        for key, group in block["maps"].get("groups", {}).items():
            yield ("channels", channel, "maps", "groups", key), GROUP
            yield from (
                (("channels", channel, "maps", "groups", key, "by_sender", sender), frozenset())
                for sender in group["by_sender"]
            )


def verdict(snapshot: Snapshot, context: CallContext, tool: str) -> object:
    try:
        found = decide(snapshot, context, tool)
    except ResolutionError as error:
        return error.code
    return (found.allowed, found.layer, found.rule)


@given(sources(), contexts())
def test_rules_by_name_are_the_same_policy(source: SnapshotSource, context: CallContext) -> None:
    snapshot = build_snapshot(source)
    document = snapshot.document
    again = load_snapshot(json.dumps(document_of(tree_of(document), document)).encode())
    assert tree_of(again.document) == tree_of(document)
    for tool in snapshot.tool_names:
        assert verdict(again, context, tool) == verdict(snapshot, context, tool)


@given(sources(("2026.9",)), sources(("2026.9",)), st.data())
def test_one_rule_changes_and_no_other(live: SnapshotSource, draft: SnapshotSource, data: st.DataObject) -> None:
    old, new = tree_of(build_snapshot(live).document), tree_of(build_snapshot(draft).document)
    places = sorted({*rules_of(old), *rules_of(new)}, key=str)
    path, apart = data.draw(st.sampled_from(places))
    edits = edits_between(old, new, path, apart=apart)
    written = [RuleEdit.read(json.loads(json.dumps(edit.to_json()))) for edit in edits]

    changed = with_edits(old, written)

    assert edits_between(changed, new, path, apart=apart) == ()
    assert with_edits(changed, written) == changed
    for other, others in places:
        if other[: len(path)] != path and path[: len(other)] != other:
            assert edits_between(changed, old, other, apart=others) == ()


@given(sources(("2026.9",)), sources(("2026.9",)), contexts())
def test_all_rules_one_after_the_other_are_the_other_policy(
    live: SnapshotSource, draft: SnapshotSource, context: CallContext
) -> None:
    draft.tools = live.tools
    draft.channels, draft.owners, draft.agent_defaults = live.channels, live.owners, live.agent_defaults
    draft.agent_defaults_by_provider = live.agent_defaults_by_provider
    snapshot, wanted = build_snapshot(live), build_snapshot(draft)
    new = tree_of(wanted.document)
    for path, apart in sorted({*rules_of(tree_of(snapshot.document)), *rules_of(new)}, key=lambda each: len(each[0])):
        edits = edits_between(tree_of(snapshot.document), new, path, apart=apart)
        if edits:
            snapshot = snapshot_with(snapshot, edits)
    got = tree_of(snapshot.document)
    assert (got["global"], got["agents"]) == (new["global"], new["agents"])
    assert {verdict(snapshot, context, tool) == verdict(wanted, context, tool) for tool in wanted.tool_names} == {True}


def snapshot_of(*agents: AgentSource, **more: Any) -> Snapshot:
    return build_snapshot(SnapshotSource(tools=[ToolEntry("read"), ToolEntry("exec")], agents=list(agents), **more))


def bot(*denied: str) -> AgentSource:
    return AgentSource("bot", policy=Policy(deny=denied))


def change(old: Snapshot, new: Snapshot, *path: str) -> tuple[RuleEdit, ...]:
    return edits_between(tree_of(old.document), tree_of(new.document), path)


def test_a_list_keeps_what_was_added_to_it_since() -> None:
    edits = change(snapshot_of(bot("read")), snapshot_of(bot("exec")), "agents", "bot")
    later = snapshot_with(snapshot_of(bot("read", "cron")), edits)
    assert tree_of(later.document)["agents"]["bot"]["policy"] == {"deny": ["cron", "exec"]}


def test_what_says_it_already_is_the_same_snapshot() -> None:
    live = snapshot_of(bot("exec"))
    assert snapshot_with(live, change(snapshot_of(bot("read")), live, "agents", "bot")) is live
    assert snapshot_with(live, change(live, live, "agents", "bot")) is live


def test_a_change_whose_rule_is_gone_says_so() -> None:
    edits = change(snapshot_of(bot("read")), snapshot_of(bot("exec")), "agents", "bot")
    with pytest.raises(RuleGoneError, match="nothing stands at `bot`"):
        snapshot_with(snapshot_of(AgentSource("ops")), edits)


def test_what_was_changed_otherwise_is_a_conflict() -> None:
    profiled = [snapshot_of(AgentSource("bot", policy=Policy(profile=name))) for name in ("coding", "full", "minimal")]
    edits = change(profiled[0], profiled[1], "agents", "bot")
    with pytest.raises(RuleChangedError, match=r"agents\.bot\.policy\.profile"):
        snapshot_with(profiled[2], edits)


def test_the_first_agent_is_an_agent() -> None:
    none = build_snapshot(SnapshotSource(tools=[ToolEntry("read")], agents=None))
    found = snapshot_with(none, change(none, snapshot_of(bot("read")), "agents", "bot"))
    assert not decide(found, CallContext(agent_id="bot"), "read").allowed


def test_a_rule_stands_where_it_stood() -> None:
    old = snapshot_of(by_sender=[("1", Policy()), ("*", Policy())])
    new = snapshot_of(by_sender=[("1", Policy()), ("2", Policy(deny=("*",))), ("*", Policy())])
    found = snapshot_with(old, change(old, new, "global", "by_sender", "2"))
    assert found == new
    assert snapshot_with(new, change(new, old, "global", "by_sender", "2")) == old


def test_two_rules_of_one_name_are_refused() -> None:
    with pytest.raises(SnapshotError, match="same name"):
        tree_of(snapshot_of(by_sender=[("1", Policy()), ("1", Policy())]).document)
