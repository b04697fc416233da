"""A group that a caller names and no session key leads to: told, or refused where the environment says so."""

from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools, decide, explain, explain_tool
from apps.firewall.engine.openclaw_json import parse_document
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import UNPROVEN_GROUPS_REFUSED, ToolEntry

KEY = "agent:main:telegram:group:-100"
GROUPS = {"telegram": {"groups": {"-100": {"tools": {"deny": ["exec"]}}}}}
UNPROVEN: list[dict[str, Any]] = [
    {"channel": "telegram", "group_id": "-100"},
    {"channel": "telegram", "group_id": "-100", "session_key": "agent:main:main"},
    {"channel": "discord", "group_channel": "ops"},
    {"channel": "discord", "group_space": "guild"},
    {"channel": "telegram", "group_id": "-200", "session_key": KEY},
]
PROVEN: list[dict[str, Any]] = [
    {},
    {"channel": "telegram"},
    {"session_key": KEY},
    {"session_key": KEY, "channel": "telegram", "group_id": "-100"},
    {"session_key": "agent:main:subagent:x", "spawned_by": KEY, "group_id": "-100"},
    {
        "session_key": "agent:main:discord:channel:7",
        "channel": "discord",
        "group_channel": "ops",
        "group_space": "guild",
    },
]


def snapshot_of(*, refuses: bool, release: str = "2026.9") -> Snapshot:
    roster: dict[str, Any] = {"entries": {"main": {}}} if release == "2026.9" else {"list": [{"id": "main"}]}
    tools = [ToolEntry("read"), ToolEntry("exec")]
    source = parse_document({"agents": roster, "channels": GROUPS}, dialect=release, tools=tools)
    if refuses:
        source.settings = {**source.settings, "groups": UNPROVEN_GROUPS_REFUSED}
    return build_snapshot(source)


@pytest.mark.parametrize("said", UNPROVEN)
def test_it_is_refused_where_the_environment_says_so(said: dict[str, Any]) -> None:
    snapshot, context = snapshot_of(refuses=True), CallContext(agent_id="main", **said)

    denied = decide(snapshot, context, "read")

    assert (denied.allowed, denied.layer) == (False, "group_unproven")
    assert "its session key does not lead to it" in denied.reason
    assert allowed_tools(snapshot, context) == () and explain_tool(snapshot, context, "read") == ()
    assert explain(snapshot, context).error == denied.reason


@pytest.mark.parametrize("said", UNPROVEN)
def test_elsewhere_each_decision_says_that_its_rules_did_not_count(said: dict[str, Any]) -> None:
    snapshot, context = snapshot_of(refuses=False), CallContext(agent_id="main", **said)

    for tool in ("read", "exec"):
        decision = decide(snapshot, context, tool)
        assert decision.reason.endswith("did not count: no session key leads to it")
    shown = explain(snapshot, context).resolution
    assert shown is not None and shown.group_dropped
    assert decide(snapshot, context, "exec").allowed is (said.get("session_key") != KEY)


@pytest.mark.parametrize("refuses", [True, False])
@pytest.mark.parametrize("said", PROVEN)
def test_what_a_key_leads_to_is_as_before(said: dict[str, Any], refuses: bool) -> None:
    snapshot, context = snapshot_of(refuses=refuses), CallContext(agent_id="main", **said)

    decision = decide(snapshot, context, "exec")

    assert "did not count" not in decision.reason
    assert decision.allowed is (KEY not in said.values())


def test_the_older_release_takes_a_callers_word_where_no_key_contradicts_it() -> None:
    snapshot = snapshot_of(refuses=True, release="2026.2")

    assert not decide(snapshot, CallContext(agent_id="main", channel="telegram", group_id="-100"), "exec").allowed
    assert decide(snapshot, CallContext(agent_id="main", channel="telegram", group_id="-100"), "read").allowed
    contradicted = CallContext(agent_id="main", channel="telegram", group_id="-200", session_key=KEY)
    assert decide(snapshot, contradicted, "read").layer == "group_unproven"
