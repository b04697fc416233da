"""An agent's program, for journeys whose commands all wait for a person."""

import json
from typing import Any

import httpx

from tests.journeys.conftest import Installation

POLICY = {"agents": {"entries": {"main": {"tools": {"profile": "coding", "exec": {"security": "allowlist"}}}}}}
APPROVALS = {"version": 1, "defaults": {"security": "allowlist", "ask": "always", "askFallback": "deny"}}
OPEN = {"awaiting_approval", "running", "accepted"}


def every_command_waits(installation: Installation) -> None:
    """Publish a policy under which each command of the agent is put to a person."""
    policy, approvals = installation.var / "openclaw.json", installation.var / "approvals.json"
    policy.write_text(json.dumps(POLICY))
    approvals.write_text(json.dumps(APPROVALS))
    installation.manage("policy", "import", str(policy), "--approvals", str(approvals))
    installation.manage("policy", "publish", "-m", "every command waits")
    _never_paused(installation)


def _never_paused(installation: Installation) -> None:
    """Have the agent asked for however often a journey denies it."""
    headers = {"Authorization": f"Bearer {installation.token('approvals_read', 'policy_read', 'policy_write')}"}
    with httpx.Client(base_url=f"{installation.url}/api/v1/approvals", headers=headers, timeout=120) as client:
        version = client.get("/storm").raise_for_status().json()["version"]
        wanted = {"version": version, "storm_denials": None, "storm_minutes": 5}
        client.patch("/storm", json=wanted).raise_for_status()


class Program:
    """It calls, looks what became of its calls, and answers requests where its token may."""

    def __init__(self, installation: Installation, *scopes: str) -> None:
        secret = installation.token(*(scopes or ("calls_make",)))
        self.client = httpx.Client(
            base_url=f"{installation.url}/api/v1", headers={"Authorization": f"Bearer {secret}"}, timeout=120
        )

    def calls(self, command: str) -> httpx.Response:
        wanted = {"agent": "main", "tool": "exec", "params": {"command": command}, "wait_ms": 0}
        return self.client.post("/calls", json=wanted)

    def asks(self, command: str) -> dict[str, Any]:
        """Make a call that waits for a person; gives the answer, with the request's id in `approval`."""
        waiting: dict[str, Any] = self.calls(command).json()
        for _ in range(300):
            if waiting.get("status") != "running":
                break
            waiting = self.client.get(f"/calls/{waiting['id']}", params={"wait": 200}).json()
        assert waiting.get("status") == "awaiting_approval", (command[:80], waiting)
        return waiting

    def ends(self, call: str) -> dict[str, Any]:
        """Wait for the end of a call."""
        answer: dict[str, Any] = {}
        for _ in range(4):
            answer = self.client.get(f"/calls/{call}", params={"wait": 30_000}).json()
            if answer["status"] not in OPEN:
                return answer
        raise AssertionError(f"the call did not end: {answer}")

    def answers(self, approval: str, decision: str) -> None:
        answer = self.client.post(f"/approvals/{approval}/resolve", json={"decision": decision})
        assert answer.status_code == 200, answer.text
