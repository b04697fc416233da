"""What a ledger keeps of a context, and what can be read of it again."""

from dataclasses import fields, replace

from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.recorded import MEMBERS, bare_context, read_context, record_context

TEXTS = st.none() | st.text("abc:-01", min_size=1, max_size=12)
CONTEXTS = st.builds(
    CallContext,
    **dict.fromkeys(("agent_id", "session_key", "provider", "model_id", "channel", "account_id", "sender_id"), TEXTS),
    sender_is_owner=st.none() | st.booleans(),
    sandboxed=st.booleans(),
    subagent_depth=st.integers(0, 3),
    runtime_tools=st.none() | st.lists(st.text("abc", max_size=3), max_size=3).map(tuple),
)


@given(CONTEXTS)
def test_a_context_that_is_kept_is_read_as_it_was(context: CallContext) -> None:
    kept = record_context(context)
    assert "session_key" not in kept["context"]
    found = read_context(kept["context"], session_key=context.session_key or "", lacks=kept.get("context_lacks", ()))
    assert (found.context, found.lacks) == (context, frozenset())


def test_a_long_member_is_not_kept_and_is_said_to_be_missing() -> None:
    context = CallContext(agent_id="bot", runtime_tools=tuple(f"tool_{number}" for number in range(1000)))
    kept = record_context(context)
    found = read_context(kept["context"], session_key="", lacks=kept["context_lacks"])
    assert found.context == replace(context, runtime_tools=None)
    assert found.lacks == {"runtime_tools"}


def test_a_masked_member_and_a_key_that_was_cut_are_missing() -> None:
    kept = {"agent_id": "bot", "sender_name": "Dana [masked 7 characters, f6c2ff60]"}
    found = read_context(kept, session_key="agent:bot:…")
    assert found.context == CallContext(agent_id="bot")
    assert found.lacks == {"sender_name", "session_key"}


def test_a_context_of_another_version_is_missing_as_a_whole() -> None:
    found = read_context({"planet": "mars"}, session_key="agent:bot:main")
    assert found.context == CallContext(session_key="agent:bot:main")
    assert found.lacks == {field.name for field in fields(CallContext)} - {"session_key"} == MEMBERS - {"session_key"}


def test_a_record_without_context_tells_what_its_columns_tell() -> None:
    nobody = bare_context(agent="bot", session_key="agent:bot:main", channel="", sender="")
    assert nobody.context == CallContext(agent_id="bot", session_key="agent:bot:main")
    assert "provider" in nobody.lacks and "sender_id" not in nobody.lacks
    somebody = bare_context(agent="bot", session_key="", channel="telegram", sender="42")
    assert somebody.context.sender_id == "42"
    assert {"sender_id", "sender_name", "sender_is_owner"} <= somebody.lacks
