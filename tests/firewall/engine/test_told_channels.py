"""The channel that a caller names beside a session key that names one: which rules each of the two selects."""

from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.conversation_key import route_channel
from apps.firewall.engine.decide import allowed_tools, decide
from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.ladder import group_ladder
from apps.firewall.engine.openclaw_json import parse_document
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import ToolEntry

GROUP = "agent:main:telegram:group:-100"
TOOLS = [ToolEntry("read"), ToolEntry("exec"), ToolEntry("tts"), ToolEntry("pdf")]


def snapshot_of(release: str = "2026.9", **members: Any) -> Snapshot:
    roster: dict[str, Any] = {"entries": {"main": {}}} if release == "2026.9" else {"list": [{"id": "main"}]}
    return build_snapshot(parse_document({"agents": roster, **members}, dialect=release, tools=TOOLS))


def said(key: str | None, channel: str | None, **more: Any) -> CallContext:
    return CallContext(session_key=key, channel=channel, sender_id="7", **{"sender_is_owner": False, **more})


@pytest.mark.parametrize("channel", ["discord", "webchat", "cron", None])
def test_a_sender_is_looked_for_on_the_channel_of_the_sessions_own_key(channel: str | None) -> None:
    rules = {"channel:telegram:7": {"deny": ["exec"]}, "channel:discord:7": {"deny": ["read"]}}
    snapshot = snapshot_of(tools={"toolsBySender": rules})

    for key in (GROUP, f"{GROUP}:thread:5", "agent:main:telegram:direct:7", "agent:main:telegram:work:direct:7"):
        assert decide(snapshot, said(key, channel), "exec").layer == "sender"
        assert decide(snapshot, said(key, channel), "read").allowed
    assert decide(snapshot, said("agent:main:main", "discord"), "read").layer == "sender"


@pytest.mark.parametrize(
    "key", ["agent:main:subagent:telegram:group:-1", "agent:main:telegram::group:-1", "main", None]
)
def test_a_key_that_names_no_conversation_leaves_it_to_the_caller(key: str | None) -> None:
    assert route_channel(dialect_named("2026.9"), key) is None


def test_the_owner_on_web_chat_is_not_held_by_a_groups_rules_by_sender() -> None:
    groups = {"-100": {"tools": {"deny": ["exec"]}, "toolsBySender": {"id:7": {}, "*": {"deny": ["read"]}}}}
    snapshot = snapshot_of(channels={"telegram": {"groups": groups}})
    owner = said(GROUP, "webchat", sender_is_owner=True)

    assert decide(snapshot, owner, "exec").layer == "group"
    assert decide(snapshot, said(GROUP, "telegram", sender_is_owner=True), "exec").allowed
    assert [rung.kind for rung in group_ladder(snapshot.engine, owner) if rung.outcome == "decides"] == ["tools"]


def test_in_the_older_release_rules_by_sender_of_a_group_hold_the_owner_on_web_chat() -> None:
    groups = {"-100": {"tools": {"deny": ["exec"]}, "toolsBySender": {"id:7": {"deny": ["read"]}}}}
    snapshot = snapshot_of("2026.2", channels={"telegram": {"groups": groups}})

    assert decide(snapshot, said(GROUP, "webchat", sender_is_owner=True), "read").layer == "group"


@pytest.mark.parametrize(
    ("channel", "left"),
    [
        ("voice", {"read", "exec", "pdf"}),
        ("Discord-Voice ", {"read", "exec", "pdf"}),
        ("node", {"tts", "pdf"}),
        ("telegram", {"read", "exec", "tts", "pdf"}),
    ],
)
def test_what_a_transport_cannot_carry_is_gone_in_any_conversation(channel: str, left: set[str]) -> None:
    assert set(allowed_tools(snapshot_of(), said(GROUP, channel, sender_is_owner=True))) == left
