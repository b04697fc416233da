"""What changes about tools, grants and filters while everybody keeps their tools."""

from typing import Any

from apps.firewall.engine.content import ContentFilter
from apps.firewall.engine.diff_guards import GuardDifference, KeyChange, guard_differences, tool_differences
from apps.firewall.engine.grants import Grant
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import SnapshotSource, ToolEntry

READS, WRITES = {"permissions": ["db:read"]}, {"permissions": ["db:write"]}
TOOLS = (ToolEntry("db_query", traits=READS), ToolEntry("db_list", traits=READS), ToolEntry("db_write", traits=WRITES))


def snapshot(*tools: ToolEntry, **members: Any) -> Snapshot:
    return build_snapshot(SnapshotSource(tools=list(tools or (*TOOLS, ToolEntry("read"))), **members))


def grant(key: str = "g", agent: str = "bot", permission: str = "db:read") -> Grant:
    return Grant(key=key, permissions=(permission,), agent=agent)


def test_equal_snapshots_differ_in_nothing() -> None:
    members: dict[str, Any] = {"grants": [grant()], "filters": [ContentFilter(key="f", pattern="x")]}
    assert guard_differences(snapshot(**members), snapshot(**members)) == ()


def test_a_grant_meets_the_tools_that_ask_for_what_it_names() -> None:
    found = guard_differences(snapshot(), snapshot(grants=[grant(permission="db:r*")]))
    assert found == (GuardDifference(("db_list", "db_query"), KeyChange(gained=("g",)), KeyChange()),)


def test_a_grant_that_goes_and_one_that_says_something_else_are_told_apart() -> None:
    found = guard_differences(
        snapshot(grants=[grant("a"), grant("b")]), snapshot(grants=[grant("b", agent="other"), grant("w", "x", "no")])
    )
    assert [each.grants for each in found] == [KeyChange(lost=("a",), changed=("b",))]


def test_a_tool_that_asks_for_something_else_meets_other_grants() -> None:
    grants = [grant("reads"), grant("writes", permission="db:write")]
    old = snapshot(ToolEntry("db_query", traits=READS), grants=grants)
    new = snapshot(ToolEntry("db_query", traits=WRITES), grants=grants)
    assert guard_differences(old, new) == (
        GuardDifference(("db_query",), KeyChange(gained=("writes",), lost=("reads",)), KeyChange()),
    )


def test_a_filter_meets_the_tools_that_it_names_or_all_of_them() -> None:
    old = snapshot(filters=[ContentFilter(key="all", pattern="x")])
    new = snapshot(
        filters=[ContentFilter(key="all", pattern="y"), ContentFilter(key="db", pattern="z", tools=("db_*",))]
    )
    assert [(each.tools, each.filters) for each in guard_differences(old, new)] == [
        (("db_list", "db_query", "db_write"), KeyChange(gained=("db",), changed=("all",))),
        (("read",), KeyChange(changed=("all",))),
    ]


def test_tools_of_one_snapshot_alone_are_differences_of_the_catalogue() -> None:
    old, new = snapshot(ToolEntry("read"), ToolEntry("gone")), snapshot(ToolEntry("read", label="Read"), *TOOLS[:1])
    found = tool_differences(old.document["tools"], new.document["tools"])
    assert [(each.name, each.action, each.members) for each in found] == [
        ("db_query", "added", ()),
        ("gone", "removed", ()),
        ("read", "changed", ("label",)),
    ]
    assert guard_differences(old, new) == ()
