"""Permissions and content filters at the agents' door: what an agent hears, and what is on record."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from apps.audit.selectors import call_entries, call_record
from apps.firewall.engine.content import ContentFilter
from apps.firewall.engine.grants import Grant
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.identifiers import read_id
from apps.firewall.tools.catalog import BUILTINS
from tests.gateway.conftest import call
from tests.gateway.server import Holder, Server
from tests.gateway.test_decisions import reload

NUMBER = "4111111111111111"
TRAITS = {
    "read": {"permissions": ["fs:read"], "resources": {"path": "path"}},
    "write": {"permissions": ["fs:write"], "resources": {"path": "path"}},
}
NOTES = {"path": ("notes/**",)}
GRANTS = (
    Grant(key="notes", permissions=("fs:*",), agent="bot", resources=NOTES),
    Grant(key="admins read", permissions=("fs:read",), role="admin"),
)
CARDS = ContentFilter(key="cards", pattern=r"\b[0-9]{16}\b")


def guarded(*grants: Grant, filters: tuple[ContentFilter, ...] = ()) -> Snapshot:
    tools = [
        ToolEntry(name, params=tool.definition.parameters, traits=TRAITS.get(name)) for name, tool in BUILTINS.items()
    ]
    return build_snapshot(
        SnapshotSource(
            environment="production",
            tools=tools,
            agents=[AgentSource("bot"), AgentSource("clerk")],
            grants=grants,
            filters=filters,
        )
    )


@pytest.fixture
def holder() -> Holder:
    return Holder(guarded(*GRANTS))


def written(settings: Any, name: str) -> str:
    return (Path(settings.VAR_DIR) / "workspaces" / "production" / "bot" / name).read_text()


def test_a_granted_call_runs_and_others_hear_what_is_missing(agent: httpx.Client) -> None:
    assert call(agent, "write", {"path": "notes/a.md", "content": "hello"}).json()["status"] == "completed"

    body = call(agent, "write", {"path": "b.md", "content": "hello"}).json()

    assert (body["status"], body["error"]["code"]) == ("denied", "permission_missing")
    assert "not for the path `b.md`" in body["error"]["message"]
    record = call_record(read_id("call", body["id"]))
    assert record is not None
    assert (record.decision, record.layer, record.rule) == ("deny", "permissions", "fs:write")


def test_a_grant_to_a_token_is_for_that_token_alone(
    server: Server, holder: Holder, agent: httpx.Client, token: Callable[..., tuple[Any, str]]
) -> None:
    row, secret = token("calls_make", name="other")
    holder.snapshot = guarded(Grant(key="t", permissions=("fs:*",), token=row.shown_id))
    reload(server)

    with server.client(secret) as other:
        assert call(other, "write", {"path": "a.md", "content": "x"}).json()["status"] == "completed"
    assert call(agent, "write", {"path": "a.md", "content": "x"}).json()["error"]["code"] == "permission_missing"


def test_a_role_counts_for_the_tokens_of_its_people_as_it_is_now(
    server: Server, admin: Any, token: Callable[..., tuple[Any, str]]
) -> None:
    _, secret = token("calls_make", by=admin)
    with server.client(secret) as program:
        assert call(program, "read", {"path": "missing"}).json()["error"]["code"] == "not_found"

        admin.role = "operator"
        admin.save(update_fields=["role"])

        assert call(program, "read", {"path": "missing"}).json()["error"]["code"] == "permission_missing"


def test_a_mask_reaches_the_tool_and_the_ledger_and_nothing_else_does(
    server: Server, holder: Holder, agent: httpx.Client, settings: Any
) -> None:
    holder.snapshot = guarded(*GRANTS, filters=(CARDS,))
    reload(server)

    body = call(agent, "write", {"path": "notes/c.md", "content": f"card {NUMBER}"}).json()

    assert body["status"] == "completed"
    assert written(settings, "notes/c.md") == "card [masked by cards]"
    intent, outcome = call_entries(read_id("call", body["id"]))
    assert intent.params["content"] == "card [masked by cards]"
    assert outcome.changes["filters"] == [
        {"side": "params", "filter": "cards", "action": "mask", "count": 1, "places": ["content"]}
    ]


def test_a_result_is_filtered_before_it_leaves(server: Server, holder: Holder, agent: httpx.Client) -> None:
    call(agent, "write", {"path": "notes/c.md", "content": f"card {NUMBER}"})
    holder.snapshot = guarded(
        *GRANTS, filters=(ContentFilter(key="cards", pattern=CARDS.pattern, action="block", where="result"),)
    )
    reload(server)

    answer = call(agent, "read", {"path": "notes/c.md"})

    assert answer.json()["error"]["code"] == "content_blocked"
    assert NUMBER not in answer.text
    assert all(NUMBER not in str(entry.result) for entry in call_entries(read_id("call", answer.json()["id"])))


def test_a_decision_knows_what_a_call_would_surely_lack(agent: httpx.Client) -> None:
    def asked(name: str, **context: Any) -> tuple[bool, str]:
        body = agent.post("/api/v1/decisions", json={"agent": name, "tool": "write", **context}).json()
        return body["allowed"], body["reason"]

    assert asked("bot") == (True, "allowed")  # for some paths
    assert asked("clerk") == (False, "permission_missing")
