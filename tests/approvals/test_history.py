"""Hints that only the past can give."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from apps.approvals.history import history_hints
from apps.approvals.models import Approval
from apps.approvals.services import approval_request
from apps.audit.drafts import EntryDecision, EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id
from tests.approvals.conftest import NOON

URL = "curl -fsS https://status.example/health"
NETWORK = {"code": "network", "text": "status.example"}


@pytest.fixture
def agent() -> str:
    """An agent of this test alone: the ledger forgets nothing between tests."""
    return f"agent-{new_id().hex}"


@pytest.fixture
def ask(agent: str, draft_for: Callable[..., Any]) -> Callable[..., Approval]:
    """Have a request of that agent wait."""

    def make(*, at: datetime = NOON, **fields: Any) -> Approval:
        return approval_request(draft_for(**{"agent": agent} | fields), at=at, timeout_s=120)

    return make


@pytest.fixture
def ran(agent: str, environment: Any) -> Callable[..., None]:
    """Put an earlier command of the agent on record."""

    def make(
        command: str,
        *,
        at: datetime = NOON - timedelta(days=1),
        is_denied: bool = False,
        answer: str = "",
        **fields: Any,
    ) -> None:
        given: dict[str, Any] = {
            "actor": "token:t",
            "environment": environment.slug,
            "agent": agent,
            "channel": "telegram",
            "sender": "9",
            "tool": "exec",
            "call_id": new_id(),
            "at": at,
            "decision": EntryDecision(verdict="deny" if is_denied else "allow"),
        } | fields
        kind = EntryKind.DENIAL if is_denied else EntryKind.CALL_INTENT
        if answer:
            kind, given["decision"] = EntryKind.APPROVAL_ASKED, EntryDecision(verdict="ask")
        entry_record(EntryDraft(kind=kind, params={"command": command}, **given))
        if answer:
            given |= {
                "actor": "person:ann",
                "decision": EntryDecision(verdict="deny" if answer == "denied" else "allow"),
            }
            entry_record(EntryDraft(kind=EntryKind.APPROVAL_ANSWERED, status=answer, **given))

    return make


def hints(approval: Approval) -> dict[str, dict[str, Any]]:
    return {item["code"]: item for item in approval.evidence}


def test_a_host_that_the_agent_never_named_is_new(ask: Callable[..., Approval], ran: Callable[..., None]) -> None:
    ran("curl https://other.status.example.org/")
    ran(URL, agent="another")
    assert hints(ask(evidence=[NETWORK]))["host_new"] == {"code": "host_new", "text": "status.example"}


def test_a_host_that_was_seen_tells_how_often_and_when(ask: Callable[..., Approval], ran: Callable[..., None]) -> None:
    ran("wget https://status.example", at=NOON - timedelta(days=3))
    ran("curl HTTPS://STATUS.EXAMPLE:443/x", at=NOON - timedelta(days=2), is_denied=True)
    seen = hints(ask(evidence=[NETWORK]))["host_seen"]
    assert (seen["text"], seen["count"]) == ("status.example", 2)
    assert datetime.fromisoformat(seen["last"]) == NOON - timedelta(days=2)


def test_a_command_of_this_shape_was_seen_or_denied_before(
    ask: Callable[..., Approval], ran: Callable[..., None]
) -> None:
    assert hints(ask(command="git push origin x"))["shape_new"]["text"] == "git push"
    ran("git push origin main")
    ran("git pull")
    assert hints(ask(command="git push --force"))["shape_seen"]["count"] == 1
    ran("git push origin y", answer="denied", at=NOON - timedelta(hours=1))
    denied = hints(ask(command="git push origin z"))["shape_denied"]
    assert (denied["text"], denied["count"], denied["of"]) == ("git push", 1, 2)


def test_only_what_a_person_denied_counts_as_denied_before(
    ask: Callable[..., Approval], ran: Callable[..., None]
) -> None:
    ran("ls /a", answer="allowed_once")
    ran("ls /b", is_denied=True)  # by a rule
    repeat = {"code": "call_joined", "message": "it repeats a call that waits"}
    by_approval = EntryDecision(verdict="deny", layer="approval")
    for status in ("denied", "joined"):  # before and since it has a status of its own
        ran("ls /c", is_denied=True, status=status, error=repeat, decision=by_approval)
    found = hints(ask(command="ls /d"))

    assert "shape_denied" not in found
    assert found["shape_seen"]["count"] == 2


def test_what_happened_after_or_long_ago_or_to_others_says_nothing(
    ask: Callable[..., Approval], ran: Callable[..., None]
) -> None:
    ran(URL, at=NOON - timedelta(days=200))
    ran(URL, at=NOON + timedelta(seconds=1))
    ran(URL, tool="read")
    found = hints(ask(evidence=[NETWORK]))
    assert {"host_new", "shape_new"} <= found.keys()


def test_the_first_message_of_a_sender_is_told_once(ask: Callable[..., Approval]) -> None:
    sender = new_id().hex
    assert hints(ask(sender=sender, sender_name="Dana"))["sender_new"]["text"] == "Dana"
    later = NOON + timedelta(minutes=1)
    assert "sender_new" not in hints(ask(sender=sender, command="ls", at=later))
    assert "sender_new" in hints(ask(sender=sender, channel="slack", command="ls", at=later))
    assert "sender_new" not in hints(ask(sender=""))


def test_a_request_without_a_line_is_not_compared_with_lines(ask: Callable[..., Approval]) -> None:
    assert hints(ask(kind="tool", tool="message", command="", argv=(), sender="")) == {}


def test_it_takes_two_reads_whatever_there_is(
    agent: str, draft_for: Callable[..., Any], ran: Callable[..., None], django_assert_max_num_queries: Any
) -> None:
    for _ in range(5):
        ran(URL)
    evidence = [{"code": "network", "text": f"h{number}.example"} for number in range(9)]
    with django_assert_max_num_queries(2):
        found = history_hints(draft_for(agent=agent), command=URL, evidence=evidence, at=NOON)
    assert [item["code"] for item in found].count("host_new") == 5
