"""Optional tools of plugins: there only for whom an allow list names them or their plugin."""

from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools, decide, explain, explain_tool
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot, load_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry

TOOLS = [
    ToolEntry("read"),
    ToolEntry("forecast", plugin="Weather", source="plugin"),
    ToolEntry("storm_alarm", plugin="Weather", source="plugin", optional=True),
]
OWNER = CallContext(sender_is_owner=True)


def snapshot(**members: Any) -> Snapshot:
    return build_snapshot(SnapshotSource(tools=TOOLS, **members))


@pytest.mark.parametrize(
    ("policy", "has_it"),
    [
        (None, False),
        (Policy(deny=("exec",)), False),
        (Policy(also_allow=("forecast",)), False),
        (Policy(allow=("read", "storm_*")), True),
        (Policy(allow=("read", "*_ALARM")), True),
        (Policy(allow=("read", "wea*")), False),  # a pattern names tools, not plugins
        (Policy(allow=("*",)), True),
        (Policy(allow=("read", "Storm_Alarm")), True),
        (Policy(allow=("read", "weather")), True),
        (Policy(also_allow=("group:plugins",)), True),
        (Policy(allow=(), also_allow=("forecast",)), True),  # everything, and `forecast`
        (Policy(profile="full"), True),
        (Policy(profile="coding", also_allow=("storm_alarm",)), True),
        (Policy(allow=("*",), deny=("storm_alarm",)), False),
    ],
)
def test_it_is_there_where_a_list_names_it(policy: Policy | None, has_it: bool) -> None:
    assert ("storm_alarm" in allowed_tools(snapshot(policy=policy), OWNER)) is has_it
    assert decide(snapshot(policy=policy), OWNER, "storm_alarm").allowed is has_it


@pytest.mark.parametrize(
    ("policy", "has_it"),
    [
        (Policy(allow=("*",)), False),
        (Policy(allow=("*", "storm_*")), False),
        (Policy(allow=("*", "storm_alarm")), True),
        (Policy(allow=("*", "weather")), True),
        (Policy(allow=("*", "group:plugins")), True),
    ],
)
def test_in_the_older_release_no_pattern_names_it(policy: Policy, has_it: bool) -> None:
    known = snapshot(policy=policy, dialect="2026.2")
    assert decide(known, OWNER, "storm_alarm").allowed is has_it
    assert decide(known, OWNER, "forecast").allowed


def test_naming_it_for_one_agent_gives_it_to_that_one_only() -> None:
    agents = [AgentSource("main", policy=Policy(also_allow=("weather",))), AgentSource("other")]
    known = snapshot(agents=agents)
    for agent, has_it in (("main", True), ("other", False)):
        assert decide(known, CallContext(agent_id=agent, sender_is_owner=True), "storm_alarm").allowed is has_it


def test_the_refusal_says_why_and_the_recorded_layers_keep_their_numbers() -> None:
    decision = decide(snapshot(), OWNER, "storm_alarm")
    assert (decision.layer, decision.reason) == (
        "optional",
        "it is optional, and no allow list names it or its plugin",
    )
    layers = explain(snapshot(), OWNER).layers
    assert [(each.number, each.key) for each in layers[:3]] == [(0, "optional"), (1, "apply_patch"), (2, "transport")]
    assert [removal.tool for removal in layers[0].removed] == ["storm_alarm"]
    assert [step.key for step in explain_tool(snapshot(), OWNER, "storm_alarm") if step.removed_here] == ["optional"]


def test_it_is_optional_again_after_a_round_trip() -> None:
    first = snapshot()
    again = load_snapshot(first.to_bytes(), expected_digest=first.digest)
    tool = again.tool("storm_alarm")
    assert tool is not None
    assert tool.optional
    assert "storm_alarm" not in allowed_tools(again, OWNER)
