"""Rules for direct chats: which peer's entry holds, in the place of the group layer, and where none does."""

import json
from itertools import product
from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.contexts import classes_of, context_classes, context_of
from apps.firewall.engine.conversation_key import DirectChat, direct_of_key
from apps.firewall.engine.decide import allowed_tools, decide, explain, explain_tool
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.diff import diff_snapshots
from apps.firewall.engine.edits import blocks_in
from apps.firewall.engine.ladder import Outcome, group_ladder
from apps.firewall.engine.openclaw_json import parse_document
from apps.firewall.engine.resolve import resolve
from apps.firewall.engine.snapshot import Snapshot, build_snapshot, load_snapshot
from apps.firewall.engine.source import ToolEntry

TOOLS = ("read", "write", "exec", "browser")
P01: dict[str, Any] = {
    "4242": {"tools": {"deny": ["exec", "write"]}, "toolsBySender": {"id:77": {"allow": ["read"]}}},
    "*": {"tools": {"deny": ["browser"]}},
}
PEER = "agent:main:telegram:direct:4242"


def snapshot_of(channel: dict[str, Any], *, release: str = "2026.9", **more: Any) -> Snapshot:
    roster: dict[str, Any] = {"entries": {"main": {}}} if release == "2026.9" else {"list": [{"id": "main"}]}
    document = {"agents": roster, "channels": {"telegram": channel}, **more}
    return build_snapshot(parse_document(document, dialect=release, tools=[ToolEntry(name) for name in TOOLS]))


def denied(snapshot: Snapshot, **said: Any) -> set[str]:
    return set(TOOLS) - set(allowed_tools(snapshot, CallContext(**{"agent_id": "main", **said})))


@pytest.mark.parametrize(
    ("key", "sender", "expected"),
    [
        (PEER, "4242", {"exec", "write"}),
        (PEER, None, {"exec", "write"}),
        ("agent:main:telegram:direct:77", "77", {"browser"}),
        (PEER, "77", {"write", "exec", "browser"}),
        ("agent:main:telegram:dm:4242", "4242", {"exec", "write"}),
        ("agent:main:telegram:work:direct:4242", "4242", {"exec", "write"}),
        (f"{PEER}:thread:4242:9", "4242", {"exec", "write"}),
        ("Agent:Main:Telegram:Direct:4242", "4242", {"exec", "write"}),
        # one session for all direct chats: who speaks is the peer
        ("agent:main:main", "4242", {"exec", "write"}),
        ("agent:main:main", "5", {"browser"}),
        ("agent:main:main", None, {"browser"}),
        (None, "4242", {"exec", "write"}),
        # one session for each person, by id or by a name that several channels share
        ("agent:main:direct:4242", "5", {"exec", "write"}),
        ("agent:main:direct:ann", "4242", {"exec", "write"}),
        ("agent:main:telegram:direct:ann", "4242", {"exec", "write"}),
        # a group is no direct chat
        ("agent:main:telegram:group:-100", "4242", set()),
        ("agent:main:telegram:group:direct:4242", "4242", set()),
    ],
)
def test_the_entry_of_the_peer_holds_else_the_one_for_everybody(
    key: str | None, sender: str | None, expected: set[str]
) -> None:
    snapshot = snapshot_of({"direct": P01})

    assert denied(snapshot, session_key=key, sender_id=sender, channel="telegram") == expected


def test_the_session_key_alone_names_the_chat() -> None:
    assert denied(snapshot_of({"direct": P01}), session_key=PEER) == {"exec", "write"}


def test_the_key_holds_against_what_the_caller_says() -> None:
    assert denied(snapshot_of({"direct": P01}), session_key=PEER, channel="discord") == {"exec", "write"}


@pytest.mark.parametrize("channel", ["discord", "webchat", None])
def test_another_channel_has_no_such_rules(channel: str | None) -> None:
    snapshot = snapshot_of({"direct": P01})

    assert denied(snapshot, session_key="agent:main:main", channel=channel, sender_id="4242") == set()


def test_a_session_that_a_direct_chat_spawned_stays_in_it() -> None:
    spawned = {"session_key": "agent:main:subagent:1", "spawned_by": PEER}

    assert {"exec", "write"} <= denied(snapshot_of({"direct": P01}), **spawned)


def test_an_entry_takes_nothing_over_from_the_one_for_everybody() -> None:
    chats: dict[str, Any] = {"7": {"systemPrompt": "x"}, "8": {"tools": {}}, "*": {"tools": {"deny": ["exec"]}}}
    chats["9"] = {"toolsBySender": {"id:1": {"deny": ["read"]}}}
    snapshot = snapshot_of({"direct": chats})

    peers = {peer: denied(snapshot, session_key=f"agent:main:telegram:direct:{peer}") for peer in ("7", "8", "9", "10")}
    assert peers == {"7": set(), "8": set(), "9": set(), "10": {"exec"}}


@pytest.mark.parametrize("key", ["id:77", "77", "channel:telegram:77", "username:ann", "name:Ann B", "*"])
def test_a_rule_by_sender_comes_before_the_lists_of_the_chat(key: str) -> None:
    snapshot = snapshot_of({"direct": {"4242": {"tools": {"deny": ["exec"]}, "toolsBySender": {key: {}}}}})
    who = {"sender_id": "77", "sender_username": "Ann", "sender_name": "Ann B"}

    assert denied(snapshot, session_key=PEER, channel="telegram", **who) == set()


def test_a_rule_by_channel_and_sender_is_found_by_the_session_key_alone() -> None:
    snapshot = snapshot_of({"direct": {"4242": {"toolsBySender": {"channel:telegram:77": {"deny": ["exec"]}}}}})

    for channel in (None, "telegram", "discord"):
        assert denied(snapshot, session_key=PEER, sender_id="77", channel=channel) == {"exec"}


def test_telegram_does_not_know_phone_numbers() -> None:
    rules = {"e164:+4670": {"allow": ["read"]}}
    snapshot = snapshot_of({"direct": {"4242": {"tools": {"deny": ["exec"]}, "toolsBySender": rules}}})

    assert denied(snapshot, session_key=PEER, sender_e164="+4670") == {"exec"}


@pytest.mark.parametrize(
    ("account", "expected"),
    [
        ("work", {"read"}),
        ("Work", {"read"}),
        ("empty", set()),
        ("plain", {"exec"}),
        (None, {"exec"}),
        ("gone", {"exec"}),
    ],
)
def test_an_account_s_own_chats_replace_those_of_the_channel(account: str | None, expected: set[str]) -> None:
    accounts = {"work": {"direct": {"*": {"tools": {"deny": ["read"]}}}}, "empty": {"direct": {}}, "plain": {}}
    snapshot = snapshot_of({"direct": {"*": {"tools": {"deny": ["exec"]}}}, "accounts": accounts})

    assert denied(snapshot, session_key=PEER, account_id=account) == expected
    if account:
        assert denied(snapshot, session_key=f"agent:main:telegram:{account}:direct:4242") == expected


def test_a_chat_without_lists_leaves_the_word_to_the_group_of_the_parent() -> None:
    groups = {"-100": {"tools": {"deny": ["browser"]}}}
    snapshot = snapshot_of({"direct": {"4242": {"tools": {}}}, "groups": groups})

    assert denied(snapshot, session_key=PEER, spawned_by="agent:main:telegram:group:-100") == {"browser"}


def test_the_older_release_has_no_rules_for_direct_chats() -> None:
    snapshot = snapshot_of({"direct": P01}, release="2026.2")

    assert denied(snapshot, session_key=PEER, channel="telegram", sender_id="4242", sender_is_owner=True) == set()


def test_the_trace_names_the_chat_that_decides() -> None:
    snapshot = snapshot_of({"direct": P01})
    by_key = CallContext(agent_id="main", session_key=PEER)
    by_sender = CallContext(agent_id="main", channel="telegram", sender_id="4242")

    for context in (by_key, by_sender):
        decision = decide(snapshot, context, "exec")
        assert (decision.layer, decision.rule) == ("group", "channels.telegram.direct.4242.tools.deny exec")
        (step,) = (step for step in explain_tool(snapshot, context, "exec") if step.key == "group")
        assert step.source == "channels.telegram.direct.4242.tools"
        resolution = explain(snapshot, context).resolution
        assert resolution is not None
        assert resolution.group == "channels.telegram.direct.4242.tools"
        (rung,) = (rung for rung in group_ladder(snapshot.engine, context) if rung.outcome is Outcome.DECIDES)
        assert rung.place == ("telegram", "direct", "4242")
        assert ("telegram", "direct", "4242") in [
            block.path for block in blocks_in(snapshot.engine, resolve(snapshot.engine, context))
        ]


def test_a_snapshot_keeps_its_direct_chats_and_one_without_them_loads() -> None:
    snapshot = snapshot_of({"direct": P01})
    again = load_snapshot(snapshot.to_bytes(), expected_digest=snapshot.digest)
    document = json.loads(snapshot.to_bytes())
    del document["channels"][0]["maps"]["direct"]
    earlier = load_snapshot(json.dumps(document).encode())

    assert denied(again, session_key=PEER) == {"exec", "write"}
    assert denied(earlier, session_key=PEER) == set()


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (PEER, DirectChat("telegram", None, "4242")),
        ("telegram:direct:4242", DirectChat("telegram", None, "4242")),
        ("agent:main:telegram:work:dm:4242", DirectChat("telegram", "work", "4242")),
        ("agent:main:direct:ann", DirectChat("", None, "ann")),
        ("agent:main:lark:direct:ou_1", DirectChat("feishu", None, "ou_1")),
        ("agent:main:telegram:direct:", None),
        ("agent:main:main", None),
        ("agent:main:telegram:group:direct:5", None),
        ("", None),
        (None, None),
    ],
)
def test_a_session_key_names_its_direct_chat(key: str | None, expected: DirectChat | None) -> None:
    assert direct_of_key(DIALECTS["2026.9"], key) == expected


SIDES: tuple[dict[str, Any], ...] = (
    {"direct": P01},
    {"direct": {"4242": {"tools": {"deny": ["exec"]}}, "77": {"toolsBySender": {"username:ann": {"deny": ["read"]}}}}},
    {"direct": {"*": {"toolsBySender": {"channel:telegram:4242": {"deny": ["read"]}, "*": {"deny": ["write"]}}}}},
    {"accounts": {"work": {"direct": {"4242": {"tools": {"allow": ["read"]}}}}}, "direct": {"77": {"tools": {}}}},
    {"groups": {"*": {"tools": {"deny": ["exec"]}}}},
)


@pytest.mark.parametrize(("old", "new"), [pair for pair in product(range(len(SIDES)), repeat=2) if pair[0] != pair[1]])
@pytest.mark.parametrize("owners", [[], ["telegram:4242", "77"]])
def test_a_comparison_finds_in_direct_chats_what_asking_each_context_finds(
    old: int, new: int, owners: list[str]
) -> None:
    more: dict[str, Any] = {
        "commands": {"ownerAllowFrom": owners},
        "tools": {"toolsBySender": {"id:5": {"deny": ["browser"]}}},
    }
    before, after = (snapshot_of(SIDES[each], **more) for each in (old, new))
    found: dict[Any, tuple[set[str], set[str]]] = {}
    for change in diff_snapshots(before, after).changes:
        for box in change.boxes:
            for (agent, model, sandboxed), (conversation, sender), (is_owner, depth) in product(
                box.who, box.where, box.states
            ):
                gained, lost = found.setdefault(
                    (agent, model, conversation, sender, is_owner, sandboxed, depth), (set(), set())
                )
                gained.update(change.gained)
                lost.update(change.lost)

    diff = diff_snapshots(before, after)
    for asked in context_classes(classes_of(before, after)):
        context = context_of(asked)
        was, now = set(allowed_tools(before, context)), set(allowed_tools(after, context))
        told = diff.tells_apart(asked.conversation, asked.sender)
        sender = asked.sender if told else type(asked.sender)()
        known = (asked.agent, asked.model, asked.conversation, sender, asked.is_owner, asked.sandboxed, asked.depth)
        assert found.get(known, (set(), set())) == (now - was, was - now), asked
