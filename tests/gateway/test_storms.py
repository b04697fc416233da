"""An agent that people deny too often, over real sockets: it asks nobody, and what needs nobody runs on."""

from typing import Any

import httpx
import pytest
from django.utils import timezone

from apps.approvals.models import Approval
from apps.approvals.selectors import approvals_pending
from apps.approvals.services import approval_resolve
from apps.approvals.storming import storm_save
from apps.halts.models import Halt
from apps.halts.services import halt_lift
from tests.gateway.conftest import call
from tests.gateway.server import Server
from tests.gateway.test_calls import kinds
from tests.gateway.test_waiting import asked


def denied(agent: httpx.Client, operator: Any, times: int) -> None:
    """Have the agent ask so often, and each time be denied."""
    for number in range(times):
        asked(agent, {"command": f"touch made-{number}"})
        for approval in approvals_pending():
            approval_resolve(approval, decision="deny", by=operator, at=timezone.now())


@pytest.mark.slow
def test_after_too_many_denials_it_is_refused_at_once_and_asks_again_once_it_was_let_go_on(
    server: Server, agent: httpx.Client, environment: Any, operator: Any
) -> None:
    storm_save(environment, denials=2, minutes=5)
    denied(agent, operator, 2)

    refused = call(agent, "exec", {"command": "touch made-3"}).json()
    assert (refused["status"], refused["error"]["code"]) == ("denied", "agent_paused")
    assert "denied 2 times within 5 minutes" in refused["error"]["message"]
    assert kinds(refused["id"]) == [("denial", "denied")]
    assert Approval.objects.count() == 2
    assert call(agent, "write", {"path": "a", "content": "b"}).json()["status"] == "completed"
    wanted = {"agentId": "bot", "command": "make deploy", "twoPhase": True}
    answer = agent.post("/api/v1/rpc/exec.approval.request", json=wanted)
    assert (answer.status_code, answer.json()["code"]) == (403, "agent_paused")

    halt_lift(Halt.objects.get(), by=operator, at=timezone.now())
    assert asked(agent, {"command": "touch made-4"})["status"] == "awaiting_approval"


def test_a_queued_call_of_a_paused_agent_ends_as_denied(
    server: Server, agent: httpx.Client, environment: Any, operator: Any
) -> None:
    storm_save(environment, denials=2, minutes=5)
    denied(agent, operator, 2)

    body = call(agent, "exec", {"command": "touch later"}, mode="async").json()
    ended = agent.get(f"/api/v1/calls/{body['id']}").json()
    assert (ended["status"], ended["error"]["code"]) == ("denied", "agent_paused")
