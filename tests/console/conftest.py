"""What tests of the console share: a request that waits, a call in the ledger, a page asked as htmx asks."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.approvals.drafts import ApprovalDraft
from apps.approvals.models import Approval
from apps.approvals.services import approval_request
from apps.audit.drafts import EntryDecision, EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id

HTMX = {"HTTP_HX_REQUEST": "true"}
ARGV = ["curl", "-fsS", "https://status.example/health"]


@pytest.fixture
def ask(environment: Any) -> Callable[..., Approval]:
    """Have a request to run curl wait for ten minutes; any member may be given."""

    def make(*, left_s: float = 600, **fields: Any) -> Approval:
        params = {"command": " ".join(ARGV)}
        given: dict[str, Any] = {
            "environment": environment,
            "call_id": new_id(),
            "kind": "exec",
            "tool": "exec",
            "action": {"tool": "exec", "params": params, "argv": ARGV},
            "params": params,
            "agent": "ops-runner",
            "session_key": "agent:ops-runner:main",
            "channel": "telegram",
            "sender": "7",
            "command": " ".join(ARGV),
            "argv": ARGV,
            "resolved_path": "/usr/bin/curl",
            "evidence": [{"code": "network", "text": "status.example"}],
            "asked": EntryDecision(verdict="ask", layer="exec", rule="ask=on-miss", reason="not on the allowlist"),
        }
        at = timezone.now() - timedelta(seconds=max(0, -left_s) + 1)
        return approval_request(ApprovalDraft(**(given | fields)), at=at, timeout_s=max(1, left_s + 1))

    return make


@pytest.fixture
def called(environment: Any) -> Callable[..., Any]:
    """Put a plain, finished call into the ledger and give its id."""

    def make(**fields: Any) -> Any:
        call_id = new_id()
        given: dict[str, Any] = {
            "actor": "token:oca_1",
            "environment": environment.slug,
            "agent": f"agent-{call_id.hex[-8:]}",
            "session_key": "agent:bot:main",
            "channel": "telegram",
            "sender": "7",
            "tool": "read",
            "call_id": call_id,
            "decision": EntryDecision(verdict="allow"),
        } | {name: value for name, value in fields.items() if name not in {"params", "result"}}
        entry_record(EntryDraft(kind=EntryKind.CALL_INTENT, params=fields.get("params", {"path": "a.md"}), **given))
        result = fields.get("result", {"text": "hello"})
        entry_record(
            EntryDraft(
                kind=EntryKind.CALL_OUTCOME,
                status="completed",
                duration_ms=31,
                phases={"validate": 1, "run": 30},
                result=result,
                **given,
            )
        )
        return call_id

    return make


DOCUMENT = {
    "agents": {
        "ownership": "explicit",
        "entries": {
            "main": {"tools": {"profile": "coding", "alsoAllow": ["message"], "deny": ["gateway"]}},
            "ops-runner": {
                "name": "Operations",
                "tools": {
                    "profile": "coding",
                    "deny": ["browser", "group:media"],
                    "byProvider": {"openai": {"deny": ["web_fetch"]}},
                    "exec": {"mode": "ask"},
                },
            },
        },
    },
    "commands": {"ownerAllowFrom": ["telegram:1001"]},
    "channels": {"telegram": {"groups": {"-100": {"tools": {"deny": ["exec"]}}}}},
    "tools": {"deny": ["x_search"]},
}


@pytest.fixture
def draft(environment: Any, admin: Any) -> Any:
    """An environment whose draft holds two agents and one group; nothing is live."""
    from apps.policies.services import document_import

    document_import(environment, json.dumps(DOCUMENT), by=admin)
    return environment


@pytest.fixture
def published(draft: Any, admin: Any) -> Any:
    """The same environment with its draft live."""
    from apps.policies.services import publish

    publish(draft, by=admin, message="first", expected_live="")
    return draft
