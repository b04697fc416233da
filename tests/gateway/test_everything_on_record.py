"""What agents do and people answer, each kind of record with its columns, as the doors left it in the ledger."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import httpx
import pytest
from django.test import Client
from django.utils import timezone

from apps.approvals.models import Approval, Grant
from apps.approvals.services import approvals_expire
from apps.audit.models import Entry
from apps.firewall.identifiers import read_id
from tests.gateway.conftest import call, snapshot_with
from tests.gateway.server import Holder
from tests.gateway.test_decisions import eventually

TRACE: Final = "4bf92f3577b34da6a3ce929d0e0e4736"
SESSION: Final = "agent:bot:telegram:group:-100"
CONTEXT: Final = {"channel": "telegram", "sender_id": "1001", "session_key": SESSION}
CALL: Final = ("agent", "session_key", "channel", "sender", "tool", "call_id", "trace_id", "snapshot_digest")
COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "call_intent": (*CALL, "decision"),
    "call_outcome": (*CALL, "status", "duration_ms", "phases"),
    "denial": (*CALL, "decision", "decision_layer", "decision_rule", "decision_reason"),
    "approval_asked": (*CALL, "approval_id", "decision"),
    "approval_answered": ("approval_id", "call_id", "agent", "tool", "status", "session_key", "trace_id"),
    "approval_expired": ("approval_id", "call_id", "agent", "tool", "session_key", "trace_id"),
    "grant_created": ("approval_id", "agent", "tool", "changes"),
    "grant_used": ("agent", "tool", "call_id", "changes"),
    "grant_revoked": ("agent", "tool", "changes"),
}


@pytest.fixture
def holder() -> Holder:
    asks = {"security": "allowlist", "ask": "on-miss", "safeBins": []}
    return Holder(snapshot_with(deny=("write",), settings=asks))


@pytest.fixture
def bot(agent: httpx.Client) -> httpx.Client:
    """The agent's program, in a trace of its own."""
    agent.headers["traceparent"] = f"00-{TRACE}-00f067aa0ba902b7-01"
    return agent


def asked(bot: httpx.Client, command: str) -> Approval:
    """Have the agent run a command, and give the request that waits for a person."""
    answered = call(bot, "exec", {"command": command}, context=CONTEXT, wait_ms=0).json()
    call_id = read_id("call", answered["id"])
    assert eventually(Approval.objects.filter(call_id=call_id).exists)
    return Approval.objects.get(call_id=call_id)


def test_what_agents_do_and_people_answer_is_on_record(
    bot: httpx.Client, client_of: Callable[..., Client], operator: Any
) -> None:
    page = client_of(operator)
    call(bot, "read", {"path": "none.txt"}, context=CONTEXT)
    call(bot, "write", {"path": "a", "content": "b"}, context=CONTEXT)
    always = asked(bot, "uname -s")
    answer = {"decision": "allow-always", "confirmed": "yes"}
    assert page.post(f"/approvals/{always.shown_id}/resolve/", answer).status_code == 302
    assert eventually(Entry.objects.filter(kind="call_outcome", call_id=always.call_id).exists)
    assert call(bot, "exec", {"command": "uname -s"}, context=CONTEXT).json()["status"] == "completed"
    page.post(f"/grants/{Grant.objects.get().shown_id}/revoke/")
    asked(bot, "uname -r")
    approvals_expire(timezone.now() + timedelta(days=1))

    rows = list(Entry.objects.filter(kind__in=COLUMNS))

    assert {row.kind for row in rows} == COLUMNS.keys()
    for row in rows:
        filled = {name for name in COLUMNS[row.kind] if getattr(row, name) not in (None, "")}
        assert (row.kind, set(COLUMNS[row.kind]) - filled) == (row.kind, set())
        assert (row.environment, row.actor != "") == ("production", True)
        assert row.trace_id in {TRACE, ""}
    (answered,) = (row for row in rows if row.kind == "approval_answered")
    assert (answered.actor, answered.status) == ("user:operator", "allowed_always")
