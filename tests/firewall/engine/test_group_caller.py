"""A caller cannot choose a group or a channel that its session keys contradict."""

from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.group_caller import Caller, Conversation, conversation_of, find_for_caller
from apps.firewall.engine.groups import read_channel
from apps.firewall.engine.policy import Policy, read_policy

NEW, OLD = DIALECTS["2026.9"], DIALECTS["2026.2"]
KEY = "agent:main:telegram:group:-100:topic:5"
words = st.none() | st.sampled_from(["", "-100", "-200", " -100 ", "telegram", "slack", "x"])


@given(words, words)
def test_the_key_wins_over_whatever_a_caller_says(group_id: str | None, channel: str | None) -> None:
    caller = Caller(session_key=KEY, group_id=group_id, channel=channel)
    conversation = conversation_of(NEW, caller)
    assert conversation.channel == "telegram"
    assert conversation.group_ids == ("-100:topic:5", "-100")


@given(words)
def test_a_group_that_no_key_bears_out_is_dropped(group_id: str | None) -> None:
    conversation = conversation_of(NEW, Caller(session_key="agent:main:main", group_id=group_id, channel="telegram"))
    assert conversation.group_ids == ()
    assert conversation.dropped_group == (group_id if group_id else None)


def test_the_older_release_believes_its_caller() -> None:
    caller = Caller(session_key=KEY, group_id="-200", channel="Slack")
    assert conversation_of(OLD, caller) == Conversation("slack", ("-200",))


def test_a_sub_agent_stays_in_the_group_it_was_spawned_from() -> None:
    caller = Caller(session_key="agent:main:subagent:x", spawned_by="agent:main:gchat:group:spaces/A")
    assert conversation_of(NEW, caller) == Conversation("googlechat", ("spaces/A",))


def test_a_loaded_resolver_is_asked_before_the_plain_groups() -> None:
    block = {
        "groups": {"900": {"tools": {"deny": ["exec"]}}},
        "guilds": {"1": {"channels": {"900": {"tools": {"deny": ["read"]}}}}},
    }
    caller = Caller(session_key="agent:main:discord:channel:900", group_space="1")

    def ask(*active: str) -> Policy | None:
        answer = find_for_caller(
            NEW,
            lambda name: read_channel(NEW, block, read_policy) if name == "discord" else None,
            caller,
            says_something=lambda policy: policy.merged() is not None,
            active_channels=active,
        )
        return None if answer is None else answer.tools

    assert ask() == Policy(deny=("exec",))
    assert ask("discord") == Policy(deny=("read",))


def test_a_block_without_lists_is_no_policy() -> None:
    answer = find_for_caller(
        NEW,
        lambda _: read_channel(NEW, {"groups": {"-100": {"tools": {}}}}, read_policy),
        Caller(session_key="agent:main:telegram:group:-100"),
        says_something=lambda policy: policy.merged() is not None,
    )
    assert answer is None
