"""What tests of approvals share: an environment, a request that waits, and its operators."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from apps.approvals.drafts import ApprovalDraft
from apps.approvals.models import Approval
from apps.approvals.services import approval_request
from apps.audit.drafts import EntryDecision
from apps.firewall.identifiers import new_id
from apps.registry.models import Environment

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
ARGV = ("curl", "-fsS", "https://status.example/health")


@pytest.fixture
def environment(db: None) -> Environment:
    return Environment.objects.get_or_create(slug="production", defaults={"name": "Production"})[0]


@pytest.fixture
def draft_for(environment: Environment) -> Callable[..., ApprovalDraft]:
    """Draft a request to run curl; any member may be given."""

    def make(**fields: Any) -> ApprovalDraft:
        params = {"command": " ".join(ARGV)}
        action = {"tool": "exec", "params": params, "argv": list(ARGV), "real_path": "/usr/bin/curl"}
        given: dict[str, Any] = {
            "environment": environment,
            "call_id": new_id(),
            "kind": "exec",
            "tool": "exec",
            "action": action,
            "params": params,
            "agent": "ops-runner",
            "session_key": "agent:ops-runner:main",
            "channel": "telegram",
            "sender": "7",
            "requester": "token:tok_1",
            "command": " ".join(ARGV),
            "argv": ARGV,
            "resolved_path": "/usr/bin/curl",
            "asked": EntryDecision(verdict="ask", layer="exec_policy", rule="ask=on-miss", reason="not on the list"),
        }
        return ApprovalDraft(**(given | fields))

    return make


@pytest.fixture
def ask(draft_for: Callable[..., ApprovalDraft]) -> Callable[..., Approval]:
    """Have a request wait since NOON for two minutes."""

    def make(**fields: Any) -> Approval:
        return approval_request(draft_for(**fields), at=NOON, timeout_s=120)

    return make


@pytest.fixture
def colleague(make_user: Callable[..., Any]) -> Any:
    return make_user("tomas", role="operator")
