"""What is written to background commands: data passes, what would run waits for a person. Real processes."""

from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from django.utils import timezone

from apps.approvals.models import Approval, Grant
from apps.approvals.services import approval_resolve
from apps.firewall.identifiers import read_id
from apps.gateway.lifecycle import gateway
from apps.gateway.models import BackgroundCommand
from tests.gateway.conftest import snapshot_with
from tests.gateway.server import Holder, Server
from tests.gateway.test_background import SESSION, begun, process, run
from tests.gateway.test_decisions import eventually

pytestmark = [pytest.mark.unhurried, pytest.mark.django_db(transaction=True)]

LISTED: Mapping[str, Any] = {"agents": {"*": {"allowlist": [{"pattern": "/**/cat"}]}}}


@pytest.fixture
def holder() -> Holder:
    return Holder(snapshot_with(settings={"security": "allowlist", "ask": "on-miss"}, approvals=LISTED))


def asked(agent: httpx.Client, tool: str, **params: Any) -> tuple[str, Approval]:
    """Make a call that waits for a person."""
    body = {"agent": "bot", "session": SESSION, "tool": tool, "params": params, "wait_ms": 0}
    shown_id = agent.post("/api/v1/calls", json=body).json()["id"]
    waiting = Approval.objects.filter(call_id=read_id("call", shown_id))
    assert eventually(waiting.exists)
    return shown_id, waiting.get()


def answered(agent: httpx.Client, call_id: str, approval: Approval, decision: str, operator: Any) -> dict[str, Any]:
    approval_resolve(approval, decision=decision, by=operator, at=timezone.now())
    answer: dict[str, Any] = agent.get(f"/api/v1/calls/{call_id}?wait=30000").json()
    return answer


def shell_of(agent: httpx.Client, operator: Any) -> str:
    call_id, approval = asked(agent, "exec", command="sh", background=True)
    return begun(answered(agent, call_id, approval, "allow-once", operator))


def output(agent: httpx.Client, name: str) -> str:
    return str(process(agent, "log", name)["result"]["output"])


def test_data_for_a_program_that_reads_data_asks_nobody(agent: httpx.Client) -> None:
    name = begun(run(agent, "cat"))
    assert process(agent, "write", name, data="rm -rf /\n")["result"]["written"] == 9
    assert eventually(lambda: output(agent, name) == "rm -rf /\n")
    assert not Approval.objects.exists()


def test_what_a_shell_would_run_waits_for_a_person_each_time(agent: httpx.Client, operator: Any) -> None:
    name = shell_of(agent, operator)

    refused_id, no = asked(agent, "process", action="write", sessionId=name, data="echo first\n")
    refused = answered(agent, refused_id, no, "deny", operator)
    allowed_id, yes = asked(agent, "process", action="submit", sessionId=name, data="echo second")
    allowed = answered(agent, allowed_id, yes, "allow-once", operator)

    assert (no.reason_layer, no.decisions) == ("exec_policy", ["allow-once", "deny"])
    assert "runs what it reads" in no.reason and "`sh`" in no.reason
    assert (refused["status"], refused["error"]["code"]) == ("denied", "approval_denied")
    assert allowed["status"] == "completed"
    assert eventually(lambda: output(agent, name) == "second\n")
    asked(agent, "process", action="paste", sessionId=name, text="echo second\n")
    asked(agent, "process", action="send-keys", sessionId=name, keys=["l", "s", "enter"])
    assert not Grant.objects.exists()


def test_interrupts_and_the_end_of_input_run_nothing_and_ask_nobody(agent: httpx.Client, operator: Any) -> None:
    name = shell_of(agent, operator)
    before = Approval.objects.count()

    assert process(agent, "send-keys", name, keys=["C-c", "C-d"])["status"] == "completed"
    assert process(agent, "write", name, eof=True)["status"] == "completed"

    assert eventually(lambda: BackgroundCommand.objects.get().state == "ended")
    assert Approval.objects.count() == before


def test_where_nobody_is_asked_it_is_refused(
    agent: httpx.Client, operator: Any, server: Server, holder: Holder
) -> None:
    name = shell_of(agent, operator)
    holder.snapshot = snapshot_with(settings={"security": "allowlist", "ask": "off"}, approvals=LISTED)
    server.run(gateway().snapshots.reload())

    refused = process(agent, "write", name, data="echo first\n")

    assert (refused["status"], refused["error"]["code"]) == ("denied", "input_denied")
    assert output(agent, name) == ""


def test_a_name_that_means_no_command_yet_is_refused_before_it_may_mean_one(agent: httpx.Client) -> None:
    missing = "proc_01jd8m3x9kq2v7n5r0t4w6y8zb"
    for name in (missing, "nonsense"):
        refused = process(agent, "write", name, data="echo\n")
        assert (refused["status"], refused["error"]["code"]) == ("denied", "session_not_found")
