"""The record of a call keeps the context in which it was decided, whatever was decided."""

from typing import Any

import httpx
import pytest

from apps.audit.filters import EntryFilters
from apps.audit.rows import CallRecord
from apps.audit.selectors import calls
from apps.firewall.engine.context import CallContext
from tests.gateway.conftest import call, snapshot_with
from tests.gateway.server import Holder

SAID = {
    "provider": "openai",
    "model_id": "gpt-5",
    "channel": "telegram",
    "sender_id": "42",
    "sender_username": "dana",
    "sender_is_owner": True,
}
SESSION = "agent:bot:telegram:group:-100"


@pytest.fixture
def holder() -> Holder:
    return Holder(snapshot_with(deny=("write",), settings={"security": "allowlist", "ask": "on-miss"}))


def recorded(agent: httpx.Client, tool: str, params: dict[str, Any], **said: Any) -> CallRecord:
    call(agent, tool, params, session=SESSION, context={**SAID, **said}, wait_ms=0)
    return calls(EntryFilters(environment="production")).rows[0]


@pytest.mark.parametrize(
    ("tool", "params", "decision"),
    [
        ("read", {"path": "a.md"}, "allow"),
        ("write", {"path": "a.md", "content": ""}, "deny"),
        ("exec", {"command": "uname -a"}, "ask"),
    ],
)
def test_it_keeps_what_the_caller_said(agent: httpx.Client, tool: str, params: dict[str, Any], decision: str) -> None:
    record = recorded(agent, tool, params)
    assert record.decision == decision
    assert record.context.context == CallContext.from_json({"agent_id": "bot", "session_key": SESSION, **SAID})
    assert record.context.lacks == frozenset()


def test_it_says_what_was_masked(agent: httpx.Client) -> None:
    record = recorded(agent, "read", {"path": "a.md"}, sender_name="Dana password=hunter2hunter2")
    assert record.context.lacks == {"sender_name"}
    assert "hunter2" not in str(record.entries)
