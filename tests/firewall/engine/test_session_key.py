"""Session keys: agent, depth, kind; and the conversation they name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.engine.conversation_key import KeyGroup, group_of_key, thread_of_key, trusted_group
from apps.firewall.engine.dialect import DIALECTS, Dialect
from apps.firewall.engine.session_key import (
    AgentMissingError,
    MalformedKeyError,
    agent_of_key,
    chat_type,
    cron_run,
    fold_key,
    key_shape,
    normalize_agent_id,
    parse_agent_key,
    store_key,
    stored_depth,
    subagent_depth,
)

NEW, OLD = DIALECTS["2026.9"], DIALECTS["2026.2"]
words = ["agent", "Agent", "main", "bot", "subagent", "SUBAGENT", "telegram", "group", "cron", "run", "", " ", "topic"]
segments = st.sampled_from([*words, "thread", "signal", "matrix", "channel", "!Room", "-100", "__proto__"])
keys = st.lists(segments, max_size=7).map(":".join)
dialects = st.sampled_from([NEW, OLD])


@given(keys)
def test_folding_a_key_twice_changes_nothing_more(key: str) -> None:
    assert fold_key(fold_key(key)) == fold_key(key)


@given(dialects, keys)
def test_a_key_of_any_shape_is_answered(dialect: Dialect, key: str) -> None:
    shape = key_shape(dialect, key)
    assert (shape == "agent") == (parse_agent_key(dialect, key) is not None)
    assert subagent_depth(dialect, key) >= 0
    assert chat_type(dialect, key) in ("group", "channel", "direct", "unknown")
    assert group_of_key(dialect, key).group_ids == () or group_of_key(dialect, key).channel is not None
    thread_of_key(dialect, key, active_channels=("telegram",))
    cron_run(dialect, key)


@given(dialects, keys)
def test_the_agent_of_a_key_is_in_normal_form_or_refused(dialect: Dialect, key: str) -> None:
    try:
        agent = agent_of_key(dialect, key)
    except MalformedKeyError:
        assert dialect is NEW
        assert key_shape(dialect, key) == "malformed_agent"
    else:
        assert normalize_agent_id(agent) == agent


@given(st.text(max_size=80))
def test_the_normal_form_of_an_agent_id_is_safe_and_stable(text: str) -> None:
    normal = normalize_agent_id(text)
    assert 0 < len(normal) <= 64
    assert set(normal) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-")
    assert normalize_agent_id(normal) in (normal, normal.strip("-"))


@given(dialects, keys, st.text("ab c", max_size=4))
def test_a_stored_key_always_belongs_to_an_agent(dialect: Dialect, key: str, agent: str) -> None:
    assert store_key(dialect, key, agent_id=agent).startswith("agent:")


def test_the_main_session_has_the_name_that_was_chosen_for_it() -> None:
    assert store_key(NEW, " MAIN ", agent_id="My Bot", main_key="Home") == "agent:my-bot:home"
    assert store_key(OLD, "MAIN", agent_id="bot", main_key="Home") == "agent:bot:main"
    assert store_key(NEW, "agent: Bot :Signal:Group:AbC=", agent_id="x") == "agent:bot:signal:group:AbC="


def test_a_key_without_agent_needs_a_default() -> None:
    with pytest.raises(AgentMissingError):
        agent_of_key(NEW, "telegram:group:1", default=None)
    assert agent_of_key(OLD, "telegram:group:1", default=None) == "main"
    assert agent_of_key(NEW, "telegram:group:1", default="Bot") == "bot"


def test_ids_whose_case_matters_keep_it() -> None:
    assert fold_key("Agent:Main:Signal:Group:AbC=:Thread:X") == "agent:main:signal:group:AbC=:thread:x"
    assert fold_key("AGENT:M:Matrix:Channel:!R:S:THREAD:$E") == "agent:m:matrix:channel:!R:S:thread:$E"
    assert fold_key("agent:m:x:matrix:channel:!R") == "agent:m:x:matrix:channel:!r"


def test_a_long_chain_of_parents_is_climbed_without_recursion() -> None:
    store = {f"k{at}": {"spawnedBy": f"k{at + 1}"} for at in range(5_000)}
    assert stored_depth(NEW, "k0", store) == 5_000


@pytest.mark.parametrize(
    ("depth", "read"),
    [(2, 2), (2.0, 2), ("2", 2), (" 1e1 ", 10), (2.5, 1), (-1, 1), (True, 1), ("x", 1), ("", 1), (None, 1), ([2], 1)],
)
def test_only_whole_depths_from_nought_on_are_believed(depth: object, read: int) -> None:
    key = "agent:main:subagent:a"
    assert stored_depth(NEW, key, {key: {"spawnDepth": depth}}) == read


def test_a_topic_lies_in_its_chat_whatever_the_spelling() -> None:
    assert group_of_key(NEW, "agent:m:x:group:-1:Topic:5").group_ids == ("-1:topic:5", "-1", "-1:Topic:5")
    assert group_of_key(NEW, "subagent:x:group:-1:Topic:5").group_ids == ("-1:topic:5", "-1")
    assert group_of_key(OLD, "agent:m:x:group:-1:Topic:5").group_ids == ("-1",)


@pytest.mark.parametrize("dialect", [NEW, OLD])
def test_a_blank_channel_is_read_as_no_name_and_its_group_stays(dialect: Dialect) -> None:
    assert group_of_key(dialect, "agent:m: :group:-1") == KeyGroup("", ("-1",))


@given(st.sampled_from(["-100", " -100 ", "-100:topic:5"]))
def test_a_group_is_trusted_when_a_key_leads_to_it(group_id: str) -> None:
    trusted = trusted_group(NEW, group_id, session_key="agent:main:telegram:group:-100:topic:5", spawned_by=None)
    assert trusted.group_id == group_id
    assert not trusted.dropped
