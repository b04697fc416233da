"""Whom `commands.ownerAllowFrom` makes an owner, and what a chat's sender may use who is none."""

from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools, decide
from apps.firewall.engine.openclaw_json import parse_document
from apps.firewall.engine.resolve import resolve
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import ToolEntry

RELEASES = ("2026.9", "2026.2")
OWNERS = ["telegram:1001", "42", "whatsapp:+15550001"]


def snapshot_of(release: str, owners: list[str] | None) -> Snapshot:
    roster: dict[str, Any] = {"entries": {"main": {}}} if release == "2026.9" else {"list": [{"id": "main"}]}
    commands = {} if owners is None else {"commands": {"ownerAllowFrom": owners}}
    tools = [ToolEntry("read"), ToolEntry("cron")]
    return build_snapshot(parse_document({"agents": roster, **commands}, dialect=release, tools=tools))


def owner_of(snapshot: Snapshot, **said: Any) -> bool | None:
    return resolve(snapshot.engine, CallContext(agent_id="main", **said)).is_owner


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"channel": "telegram", "sender_id": "1001"}, True),
        ({"channel": "Telegram", "sender_id": " 1001 "}, True),
        ({"channel": "discord", "sender_id": "1001"}, False),
        ({"channel": "discord", "sender_id": "42"}, True),
        ({"channel": "whatsapp", "sender_id": "7@lid", "sender_e164": "+15550001"}, True),
        ({"channel": "whatsapp", "sender_e164": "+15550001"}, True),
        ({"channel": "telegram", "sender_e164": "+15550001"}, False),
        ({"channel": "telegram", "sender_id": "7"}, False),
        # a name is anybody's
        ({"channel": "telegram", "sender_username": "1001"}, False),
        ({"channel": "telegram", "sender_name": "42"}, False),
        # nobody speaks, or nobody knows where
        ({"channel": "telegram"}, None),
        ({"sender_id": "1001"}, None),
        ({}, None),
        # who signed in to web chat may be an owner by their rights
        ({"channel": "webchat", "sender_id": "7"}, None),
        ({"channel": "webchat", "sender_id": "42"}, True),
        # a caller that knows better
        ({"channel": "telegram", "sender_id": "7", "sender_is_owner": True}, True),
        ({"channel": "telegram", "sender_id": "1001", "sender_is_owner": False}, False),
    ],
)
def test_who_is_an_owner(release: str, said: dict[str, Any], expected: bool | None) -> None:
    assert owner_of(snapshot_of(release, OWNERS), **said) is expected


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("owners", [None, [], ["*"], [" * "], [""]])
def test_without_a_named_owner_nobody_in_a_chat_is_one(release: str, owners: list[str] | None) -> None:
    snapshot = snapshot_of(release, owners)

    assert owner_of(snapshot, channel="telegram", sender_id="1001") is False
    assert owner_of(snapshot, channel="telegram", sender_username="ann") is False

    denied = decide(snapshot, CallContext(agent_id="main", channel="telegram", sender_id="1001"), "cron")
    assert (denied.allowed, denied.layer) == (False, "owner_only")


@pytest.mark.parametrize(("release", "expected"), [("2026.9", {"read", "cron"}), ("2026.2", {"read"})])
def test_where_nobody_speaks_the_release_says_what_is_open(release: str, expected: set[str]) -> None:
    assert set(allowed_tools(snapshot_of(release, None), CallContext(agent_id="main"))) == expected
