"""However a session's key is spelt, and whatever channel a caller names, the rules of its group hold."""

from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import decide, explain
from apps.firewall.engine.openclaw_json import parse_document
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import ToolEntry

DENIES_EXEC = {"tools": {"deny": ["exec"]}}
TOOLS = [ToolEntry("exec"), ToolEntry("read")]


def snapshot_of(document: dict[str, Any]) -> Snapshot:
    whole = {"agents": {"entries": {"main": {}}}, **document}
    return build_snapshot(parse_document(whole, dialect="2026.9", tools=TOOLS))


@pytest.mark.parametrize(
    "tail",
    ["", ":thread:a", ":thread:a:thread:b", ":thread:", ":thread: ", ":THREAD:a", ":topic:5", ":topic:5:sender:7"],
)  # fmt: skip
@pytest.mark.parametrize("channel", ["telegram", "slack"])
def test_no_thread_of_a_group_leads_past_its_rules(channel: str, tail: str) -> None:
    snapshot = snapshot_of({"channels": {channel: {"groups": {"-100": DENIES_EXEC}}}})

    decision = decide(snapshot, CallContext(session_key=f"agent:main:{channel}:group:-100{tail}"), "exec")

    assert (decision.allowed, decision.layer) == (False, "group")


@pytest.mark.parametrize("claimed", [None, "telegram", "Telegram", "slack", ""])
def test_a_sender_of_another_channel_is_not_looked_for_in_a_group(claimed: str | None) -> None:
    group = {**DENIES_EXEC, "toolsBySender": {"channel:telegram:7": {"allow": ["exec"]}}}
    snapshot = snapshot_of({"channels": {"feishu": {"groups": {"oc_1": group}}}})
    context = CallContext(session_key="agent:main:feishu:group:oc_1", channel=claimed, sender_id="7")

    assert not decide(snapshot, context, "exec").allowed


@pytest.mark.parametrize("key", ["openai", "openai/", " OpenAI /", "openai /", "openai /gpt-5", "OPENAI/GPT-5"])
def test_a_key_of_a_provider_holds_however_it_is_spelt(key: str) -> None:
    snapshot = snapshot_of({"tools": {"byProvider": {key: {"deny": ["exec"]}}}})

    decision = decide(snapshot, CallContext(provider="openai", model_id="gpt-5"), "exec")

    assert (decision.allowed, decision.layer) == (False, "global_provider")


@pytest.mark.parametrize(
    ("stored", "is_leaf"),
    [
        ({"spawnedBy": "agent:main:main"}, False),
        ({"spawnedBy": "agent:main:subagent:a"}, True),
        ({"spawnedBy": "agent:main:main", "spawnDepth": 2}, True),
        ({"spawnedBy": "agent:main:subagent:a", "spawnDepth": 1}, False),
        ({}, True),
    ],
)
def test_a_sub_agent_is_as_deep_as_its_record_says(stored: dict[str, Any], is_leaf: bool) -> None:
    tools = [ToolEntry("sessions_spawn")]
    document = {"agents": {"entries": {"main": {}}, "defaults": {"subagents": {"maxSpawnDepth": 2}}}}
    snapshot = build_snapshot(parse_document(document, dialect="2026.9", tools=tools))
    context = CallContext(session_key="agent:main:subagent:a:subagent:b", stored_session=stored)

    assert decide(snapshot, context, "sessions_spawn").allowed is not is_leaf


def test_an_empty_profile_of_an_agent_takes_the_place_of_the_global_one() -> None:
    document = {"tools": {"profile": "minimal"}, "agents": {"entries": {"main": {"tools": {"profile": ""}}}}}
    snapshot = build_snapshot(parse_document(document, dialect="2026.9", tools=TOOLS))

    explanation = explain(snapshot, CallContext(agent_id="main"))

    assert explanation.allowed == ("exec", "read")
    assert explanation.resolution is not None and explanation.resolution.profile == ""
