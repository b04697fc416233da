"""A simulated block gives what a snapshot with that block would give, and changes nothing."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools, explain, explain_with
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.simulate import (
    Block,
    BlockError,
    engine_with_group,
    engine_with_senders,
    simulate,
)
from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import (
    AccountSource,
    AgentSource,
    ChannelSource,
    GroupSource,
    SnapshotSource,
    ToolEntry,
)

NO_EXEC = Policy(deny=("exec",))
IN_GROUP = CallContext(
    session_key="agent:bot:telegram:group:-100",
    provider="openai",
    model_id="gpt-5",
    sender_id="1",
    sandboxed=True,
    subagent_depth=1,
)


def _source() -> SnapshotSource:
    return SnapshotSource(
        tools=[ToolEntry(name) for name in ("read", "write", "exec")],
        policy=Policy(profile="coding"),
        by_provider=[("openai", Policy(deny=("write",)))],
        agents=[AgentSource("bot"), AgentSource("ops")],
        channels=[
            ChannelSource(
                "telegram",
                {"groups": [GroupSource("-100", by_sender=[("2", NO_EXEC)])]},
                [AccountSource("work", {"groups": [GroupSource("-100", tools=Policy())]})],
            )
        ],
    )


def _set_agent(source: SnapshotSource, **members: object) -> None:
    assert source.agents is not None
    source.agents[0] = replace(source.agents[0], **members)  # type: ignore[arg-type]


def _set_group(source: SnapshotSource, group: GroupSource) -> None:
    source.channels[0].maps["groups"] = [group]


CASES: list[tuple[Block, Callable[[SnapshotSource], None]]] = [
    (Block(layer="global"), lambda source: setattr(source, "policy", NO_EXEC)),
    (
        Block(layer="global_provider", provider="OpenAI"),
        lambda source: setattr(source, "by_provider", [("OpenAI", NO_EXEC)]),
    ),
    (Block(layer="sandbox"), lambda source: setattr(source, "sandbox", NO_EXEC)),
    (Block(layer="subagent"), lambda source: setattr(source, "subagents", NO_EXEC)),
    (Block(layer="agent", agent="Bot"), lambda source: _set_agent(source, policy=NO_EXEC)),
    (
        Block(layer="agent_provider", agent="bot", provider="openai/gpt-5"),
        lambda source: _set_agent(source, by_provider=[("openai/gpt-5", NO_EXEC)]),
    ),
    (Block(layer="sandbox", agent="bot"), lambda source: _set_agent(source, sandbox=NO_EXEC)),
    (Block(layer="sender", sender="1"), lambda source: setattr(source, "by_sender", [("1", NO_EXEC)])),
    (Block(layer="sender", agent="bot", sender="*"), lambda source: _set_agent(source, by_sender=[("*", NO_EXEC)])),
    (
        Block(layer="group", path=("telegram", "groups", "-100")),
        lambda source: _set_group(source, GroupSource("-100", NO_EXEC, [("2", NO_EXEC)])),
    ),
    (
        Block(layer="group", path=("telegram", "groups", "-100"), sender="1"),
        lambda source: _set_group(source, GroupSource("-100", None, [("2", NO_EXEC), ("1", NO_EXEC)])),
    ),
]


@pytest.mark.parametrize(("block", "change"), CASES)
def test_a_simulated_block_answers_like_a_snapshot_with_it(
    block: Block, change: Callable[[SnapshotSource], None]
) -> None:
    snapshot, changed = build_snapshot(_source()), _source()
    change(changed)
    before = allowed_tools(snapshot, IN_GROUP)
    simulated, real = simulate(snapshot, IN_GROUP, block, NO_EXEC), explain(build_snapshot(changed), IN_GROUP)
    assert simulated.allowed == real.allowed
    assert "exec" not in simulated.allowed
    assert [layer.removed for layer in simulated.layers] == [layer.removed for layer in real.layers]
    assert allowed_tools(snapshot, IN_GROUP) == before


def test_a_block_can_be_taken_away() -> None:
    snapshot = build_snapshot(_source())
    assert "write" not in allowed_tools(snapshot, IN_GROUP)
    taken = simulate(snapshot, IN_GROUP, Block(layer="global_provider", provider="OpenAI"), None)
    assert "write" in taken.allowed


@pytest.mark.parametrize(
    "block",
    [
        Block(layer="nosuchlayer"),
        Block(layer="agent"),
        Block(layer="global_provider"),
        Block(layer="sender", agent="nobody", sender="1"),
        Block(layer="group", path=("telegram",)),
        Block(layer="group", path=("telegram", "accounts", "none", "groups", "-1")),
    ],
)
def test_a_block_without_a_place_is_refused(block: Block) -> None:
    with pytest.raises(BlockError):
        simulate(build_snapshot(_source()), IN_GROUP, block, NO_EXEC)


def test_a_group_that_is_new_joins_its_map() -> None:
    block = Block(layer="group", path=("signal", "groups", "g"))
    inside = CallContext(session_key="agent:bot:signal:group:g")
    assert "exec" not in simulate(build_snapshot(_source()), inside, block, NO_EXEC).allowed


@pytest.mark.parametrize("tools", [NO_EXEC, Policy(), None])
def test_an_engine_with_another_group_decides_like_a_snapshot_with_it(tools: Policy | None) -> None:
    snapshot, changed = build_snapshot(_source()), _source()
    before = explain(snapshot, IN_GROUP).allowed
    _set_group(changed, GroupSource("-100", tools=tools, by_sender=[("2", NO_EXEC)]))
    engine = engine_with_group(snapshot.engine, ("telegram", "groups", "-100"), tools)
    assert explain_with(engine, IN_GROUP).allowed == explain(build_snapshot(changed), IN_GROUP).allowed
    assert explain(snapshot, IN_GROUP).allowed == before


RULES = [("name:ann", Policy(deny=("read",))), ("1", NO_EXEC), ("*", Policy())]
SENDER_SCOPES: list[tuple[Block, Callable[[SnapshotSource], None]]] = [
    (
        Block(layer="group", path=("telegram", "groups", "-100")),
        lambda source: _set_group(source, GroupSource("-100", by_sender=list(RULES))),
    ),
    (Block(layer="sender", agent="bot"), lambda source: _set_agent(source, by_sender=list(RULES))),
    (Block(layer="sender"), lambda source: setattr(source, "by_sender", list(RULES))),
]


@pytest.mark.parametrize(("block", "change"), SENDER_SCOPES)
def test_an_engine_with_other_rules_by_sender_decides_like_a_snapshot_with_them(
    block: Block, change: Callable[[SnapshotSource], None]
) -> None:
    snapshot, changed = build_snapshot(_source()), _source()
    change(changed)
    real = build_snapshot(changed)
    engine = engine_with_senders(snapshot.engine, block, RULES)
    for context in (IN_GROUP, replace(IN_GROUP, sender_id="9"), replace(IN_GROUP, sender_id=None, sender_name="Ann")):
        assert explain_with(engine, context).allowed == explain(real, context).allowed
    none_left = engine_with_senders(engine, block, [])
    assert "exec" in explain_with(none_left, IN_GROUP).allowed
