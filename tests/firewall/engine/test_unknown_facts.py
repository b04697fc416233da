"""Layers that lack a fact: which might have refused a tool, and which facts the rules of a snapshot ask for."""

from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.layers import LAYERS, layers_of
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import (
    AccountSource,
    AgentSource,
    ChannelSource,
    GroupSource,
    SnapshotSource,
    ToolEntry,
)
from apps.firewall.engine.unknown_facts import FACTS, NEEDS, facts_asked, unknown_fact

GROUP = "agent:bot:telegram:group:-100"
CHILD = "agent:bot:subagent:1"
SENDER = {"sender_id", "sender_username", "sender_name", "sender_e164", "channel"}
NO_EXEC = Policy(deny=("exec",))


def snapshot(dialect: str = "2026.9", agent: dict[str, Any] | None = None, **parts: Any) -> Snapshot:
    tools = [ToolEntry(name) for name in ("exec", "read", "write", "apply_patch", "cron", "gateway", "session_status")]
    agents = [AgentSource("bot", **(agent or {}))]
    return build_snapshot(SnapshotSource(dialect=dialect, tools=tools, agents=agents, **parts))


def lacks(made: Snapshot, known: set[str], tool: str = "exec", **context: Any) -> tuple[str, str] | None:
    found = unknown_fact(made, CallContext(agent_id="bot", **context), tool, known)
    return None if found is None else (found.layer, found.fact)


def telegram(**members: Any) -> list[ChannelSource]:
    return [ChannelSource("telegram", {"groups": [GroupSource("-100", **members)]})]


def test_every_layer_that_needs_facts_is_one() -> None:
    assert NEEDS.keys() <= LAYERS.keys()


def test_who_knows_everything_lacks_nothing() -> None:
    made = snapshot(by_provider=[("x", NO_EXEC)], by_sender=[("name:Mal", NO_EXEC)], channels=telegram(tools=NO_EXEC))
    assert lacks(made, set(FACTS)) is None


@pytest.mark.parametrize("dialect", ["2026.2", "2026.9"])
@pytest.mark.parametrize(
    ("parts", "layer"),
    [
        ({"by_provider": [("x", NO_EXEC)]}, "global_provider"),
        ({"by_provider": [("x", Policy(profile="minimal"))]}, "provider_profile"),
        ({"agent": {"by_provider": [("x", NO_EXEC)]}}, "agent_provider"),
    ],
)
def test_a_provider_that_is_not_known_refuses_what_some_provider_is_denied(
    dialect: str, parts: dict[str, Any], layer: str
) -> None:
    made = snapshot(dialect, **parts)
    assert lacks(made, set()) == (layer, "provider")
    assert lacks(made, {"provider", "model_id"}) is None
    assert lacks(made, {"provider"}, provider="y") is None


def test_a_model_is_asked_for_where_the_provider_has_rules_by_model() -> None:
    made = snapshot(by_provider=[("x/large", NO_EXEC)])
    assert lacks(made, {"provider"}, provider="x") == ("global_provider", "model_id")
    assert lacks(made, {"provider"}, provider="y") is None
    assert lacks(made, {"provider", "model_id"}, provider="x", model_id="small") is None
    assert lacks(made, {"provider"}, provider="x", tool="read") is None


def test_names_of_senders_are_asked_for_in_the_order_in_which_rules_are_looked_up() -> None:
    made = snapshot(by_sender=[("id:1", NO_EXEC), ("e164:+1555", NO_EXEC), ("username:mal", NO_EXEC)])
    assert lacks(made, set()) == ("sender", "sender_id")
    assert lacks(made, {"sender_id"}, sender_id="2") == ("sender", "sender_e164")
    assert lacks(made, {"sender_id", "sender_e164"}, sender_id="2") == ("sender", "sender_username")
    assert lacks(made, SENDER, sender_id="2") is None


def test_a_rule_that_counts_for_sure_makes_later_names_idle() -> None:
    made = snapshot(by_sender=[("id:2", Policy(deny=("read",))), ("name:Mal", NO_EXEC)])
    assert lacks(made, {"sender_id"}, sender_id="2") is None
    assert lacks(made, {"sender_id"}, sender_id="3") == ("sender", "sender_name")


def test_an_agents_own_rules_stand_before_those_of_everybody() -> None:
    own = {"by_sender": [("*", Policy(deny=("read",)))]}
    made = snapshot(agent=own, by_sender=[("name:Mal", NO_EXEC)])
    assert lacks(made, set()) is None, "the agent's own `*` counts whoever speaks"


def test_a_rule_for_one_channel_asks_where_the_sender_speaks() -> None:
    made = snapshot(by_sender=[("channel:telegram:2", NO_EXEC)])
    assert lacks(made, {"sender_id"}, sender_id="2") == ("sender", "channel")
    assert lacks(made, {"sender_id"}, sender_id="2", channel="irc") is None


def test_rules_of_a_group_ask_for_its_senders_and_others_for_nothing() -> None:
    made = snapshot(channels=telegram(by_sender=[("username:mal", NO_EXEC)], tools=Policy(deny=("read",))))
    assert lacks(made, {"sender_id"}, session_key=GROUP, sender_id="2") == ("group", "sender_username")
    assert lacks(made, set(), session_key="agent:bot:main") is None
    assert lacks(made, SENDER, session_key=GROUP, sender_id="2") is None


def test_a_direct_chat_whose_peer_is_the_sender_asks_who_that_is() -> None:
    made = snapshot(channels=[ChannelSource("telegram", {"direct": [GroupSource("7", tools=NO_EXEC)]})])
    assert lacks(made, set(), channel="telegram") == ("group", "sender_id")
    assert lacks(made, {"sender_id"}, channel="telegram", sender_id="8") is None


def test_a_group_of_an_account_asks_which_account() -> None:
    accounts = [AccountSource("work", {"groups": [GroupSource("-100", tools=NO_EXEC)]})]
    made = snapshot(channels=[ChannelSource("telegram", {}, accounts)])
    assert lacks(made, SENDER, session_key=GROUP) == ("group", "account_id")
    assert lacks(made, {*SENDER, "account_id"}, session_key=GROUP) is None


@pytest.mark.parametrize("fact", ["group_space", "group_channel"])
def test_a_channel_with_guilds_asks_where_the_group_lies(fact: str) -> None:
    room = GroupSource("55", tools=NO_EXEC)
    made = snapshot(channels=[ChannelSource("discord", {"guilds": [GroupSource("g", channels=[room])]})])
    known = {"account_id", "group_space", "group_channel", *SENDER} - {fact}
    assert lacks(made, known, session_key="agent:bot:discord:channel:9") == ("group", fact)


def test_a_sub_agent_of_nobody_knows_whom_might_come_from_any_group() -> None:
    made = snapshot(channels=telegram(tools=NO_EXEC))
    assert lacks(made, set(), session_key=CHILD) == ("group", "spawned_by")
    assert lacks(made, {"spawned_by"}, session_key=CHILD) is None
    assert lacks(made, set(), session_key=CHILD, tool="read") is None


def test_the_newer_release_asks_whether_a_sender_is_an_owner() -> None:
    made = snapshot()
    assert lacks(made, set(), tool="gateway") == ("owner_only", "sender_is_owner")
    assert lacks(made, {"sender_is_owner"}, tool="gateway") is None
    assert lacks(made, set(), tool="gateway", sender_is_owner=True) is None
    assert lacks(made, set(), tool="exec") is None


def test_a_snapshot_says_what_its_rules_ask_for() -> None:
    assert facts_asked(snapshot()) == {}
    made = snapshot(
        by_provider=[("x", NO_EXEC)],
        agent={"by_provider": [("x/large", NO_EXEC)], "by_sender": [("username:mal", NO_EXEC)]},
        channels=telegram(by_sender=[("id:1", NO_EXEC)]),
        settings={"exec": {"applyPatch": {"allowModels": ["large"]}}},
    )
    assert facts_asked(made) == {
        "apply_patch": ("provider", "model_id"),
        "global_provider": ("provider",),
        "agent_provider": ("provider", "model_id"),
        "group": ("spawned_by", "sender_id"),
        "sender": ("sender_username",),
    }


def test_what_is_asked_for_is_what_a_layer_needs() -> None:
    for dialect in ("2026.2", "2026.9"):
        made = snapshot(dialect, by_sender=[("channel:irc:1", NO_EXEC)], by_provider=[("x/y", NO_EXEC)])
        keys = {layer.key for layer in layers_of(made.engine.dialect, with_optional=True)}
        for layer, facts in facts_asked(made).items():
            assert set(facts) <= set(NEEDS[layer])
            assert layer in keys
