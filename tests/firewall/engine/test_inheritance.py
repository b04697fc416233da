"""What a session hands down to one that it spawns, and whom the record of it holds."""

from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools, decide
from apps.firewall.engine.edits import blocks_in
from apps.firewall.engine.inheritance import spawn_record, with_spawn_record
from apps.firewall.engine.openclaw_json import parse_document
from apps.firewall.engine.resolve import resolve
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import ToolEntry

GROUP = "agent:main:telegram:group:-100"
CHILDREN = ("agent:main:subagent:c", "agent:main:acp:c", "agent:main:dashboard:c")
TOOLS = ("read", "write", "exec", "message", "gateway", "sessions_spawn", "subagents")


def snapshot_of(release: str = "2026.9", **members: Any) -> Snapshot:
    roster: dict[str, Any] = {"entries": {"main": {}}} if release == "2026.9" else {"list": [{"id": "main"}]}
    document = {"agents": roster, "channels": {"telegram": {"groups": {"-100": {"tools": {"deny": ["exec"]}}}}}}
    return build_snapshot(
        parse_document(document | members, dialect=release, tools=[ToolEntry(each) for each in TOOLS])
    )


def record_of(snapshot: Snapshot, *, is_witnessed: bool = True, **said: Any) -> dict[str, Any]:
    context = CallContext(agent_id="main", session_key=GROUP, **said)
    return spawn_record(snapshot, context, GROUP, is_witnessed=is_witnessed)


def child_of(record: dict[str, Any], key: str = CHILDREN[0], **said: Any) -> CallContext:
    return with_spawn_record(CallContext(agent_id="main", session_key=key, **said), record)


def test_the_record_holds_every_denial_and_the_tools_that_an_allow_list_left() -> None:
    held = snapshot_of(tools={"allow": ["read", "exec", "message"], "deny": ["message"]})
    free = snapshot_of(tools={"alsoAllow": ["read"], "deny": ["gateway"]})

    assert record_of(held) == {
        "spawnedBy": GROUP,
        "spawnDepth": 1,
        "subagentControlScope": "children",
        "inheritedToolPolicyVersion": 1,
        "inheritedToolAllow": ["read"],
        "inheritedToolDeny": ["message", "exec"],
    }
    assert "inheritedToolAllow" not in record_of(free)
    assert record_of(free)["inheritedToolDeny"] == ["gateway", "exec"]


def test_a_stranger_hands_down_what_only_owners_may_use() -> None:
    assert "gateway" in record_of(snapshot_of(), sender_id="7", sender_is_owner=False)["inheritedToolDeny"]


@pytest.mark.parametrize("key", CHILDREN)
@pytest.mark.parametrize("is_witnessed", [True, False])
def test_a_child_has_no_more_than_its_parent_whatever_its_key_is(key: str, is_witnessed: bool) -> None:
    snapshot = snapshot_of(tools={"toolsBySender": {"id:7": {"deny": ["write"]}}})
    record = record_of(snapshot, is_witnessed=is_witnessed, channel="telegram", sender_id="7")
    alone = CallContext(agent_id="main", session_key=key)

    assert {"exec", "write"} <= set(allowed_tools(snapshot, alone))
    denied = decide(snapshot, child_of(record, key), "write")
    assert (denied.allowed, denied.layer) == (False, "inherited")
    assert not {"exec", "write"} & set(allowed_tools(snapshot, child_of(record, key)))


@pytest.mark.parametrize("key", CHILDREN)
def test_acp_and_dashboard_children_are_sub_agents(key: str) -> None:
    snapshot = snapshot_of()

    assert decide(snapshot, child_of(record_of(snapshot), key), "message").layer == "subagent"
    if "subagent" not in key:
        assert decide(snapshot, CallContext(agent_id="main", session_key=key), "message").allowed


def test_a_session_of_any_key_is_held_to_what_its_parent_had_and_stays_what_it_is() -> None:
    snapshot = snapshot_of()
    child = child_of(record_of(snapshot), "agent:main:job-7")

    assert not decide(snapshot, child, "exec").allowed
    assert decide(snapshot, child, "message").allowed


def test_what_is_left_of_a_parent_with_no_tool_is_a_denial_of_everything() -> None:
    snapshot = snapshot_of(tools={"allow": ["nothing-such"]})

    assert record_of(snapshot)["inheritedToolDeny"] == ["exec", "*"]
    assert allowed_tools(snapshot_of(), child_of(record_of(snapshot))) == ()


def test_a_parent_for_which_nothing_can_be_decided_hands_down_nothing() -> None:
    snapshot = snapshot_of()
    record = spawn_record(snapshot, CallContext(agent_id="other", session_key=GROUP), GROUP, is_witnessed=True)

    assert record["inheritedToolDeny"] == ["*"]
    assert allowed_tools(snapshot, child_of(record)) == ()


def test_grandchildren_inherit_what_their_parent_inherited_and_are_one_deeper() -> None:
    snapshot = snapshot_of(agents={"entries": {"main": {}}, "defaults": {"subagents": {"maxSpawnDepth": 2}}})
    parent = child_of(record_of(snapshot))
    record = spawn_record(snapshot, parent, CHILDREN[0], is_witnessed=True)
    child = with_spawn_record(CallContext(agent_id="main", session_key="agent:main:subagent:d"), record)

    assert record["spawnDepth"] == 2 and "exec" in record["inheritedToolDeny"]
    assert decide(snapshot, parent, "subagents").allowed
    assert decide(snapshot, child, "subagents").layer == "subagent"  # a leaf: its key alone is one deep
    assert not decide(snapshot, child, "exec").allowed


def test_a_witnessed_spawn_stands_for_the_rules_of_group_and_sender_and_a_told_one_does_not() -> None:
    by_sender = {"*": {"deny": ["read"]}, "id:7": {"alsoAllow": ["read"]}}
    snapshot = snapshot_of(tools={"toolsBySender": by_sender})
    seen, told = (record_of(snapshot, is_witnessed=each, sender_id="7", channel="telegram") for each in (True, False))

    assert decide(snapshot, child_of(seen), "read").allowed
    assert decide(snapshot, child_of(told), "read").layer == "sender"
    assert decide(snapshot, child_of(seen, sender_id="8"), "read").layer == "sender"  # another person asks


@pytest.mark.parametrize("release", ["2026.9", "2026.2"])
@pytest.mark.parametrize("key", (*CHILDREN, "agent:main:job-7"))
def test_a_caller_that_names_another_parent_than_the_recorded_one_is_refused(release: str, key: str) -> None:
    snapshot = snapshot_of(release)
    record = record_of(snapshot)

    refused = decide(snapshot, child_of(record, key, spawned_by="agent:main:main"), "read")
    assert (refused.allowed, refused.layer) == (False, "context_contradiction")
    assert f"the record says `{GROUP}`" in refused.reason
    assert decide(snapshot, child_of(record, key, spawned_by="telegram:group:-100"), "read").allowed  # spelled shorter


def test_the_older_release_has_the_parents_group_and_depth_from_the_record() -> None:
    snapshot = snapshot_of("2026.2", agents={"list": [{"id": "main"}], "defaults": {"subagents": {"maxSpawnDepth": 2}}})
    child = child_of(record_of(snapshot))

    assert decide(snapshot, child, "exec").layer == "group"
    assert child.subagent_depth == 1


@pytest.mark.parametrize("key", [*CHILDREN, "agent:main:telegram:group:-7"])
def test_a_fix_may_stand_in_the_lists_for_sub_agents_wherever_those_hold(key: str) -> None:
    snapshot = snapshot_of(tools={"subagents": {"tools": {"deny": ["read"]}}})
    context = child_of(record_of(snapshot), key)

    layers = {block.layer for block in blocks_in(snapshot.engine, resolve(snapshot.engine, context))}

    is_child = key in CHILDREN
    assert ("subagent" in layers, decide(snapshot, context, "read").layer == "subagent") == (is_child, is_child)
