"""May this agent use this tool? What is answered, to whom, and what is refused before anything is decided."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from apps.accounts.services import token_revoke
from apps.gateway.counters import counters
from tests.gateway.conftest import snapshot_with
from tests.gateway.server import Holder, Server

URL = "/api/v1/decisions"
Token = Callable[..., tuple[Any, str]]


def ask(client: httpx.Client, tool: str = "read", **more: Any) -> httpx.Response:
    return client.post(URL, json={"agent": "bot", "tool": tool, **more})


def test_a_decision_names_the_snapshot_that_made_it(agent: httpx.Client, holder: Holder) -> None:
    assert holder.snapshot is not None

    answer = ask(agent)

    assert answer.status_code == 200
    assert answer.json() == {
        "tool": "read",
        "allowed": True,
        "reason": "allowed",
        "snapshot": holder.snapshot.digest,
    }


def test_a_denied_and_an_unknown_tool_look_the_same_without_the_right_to_explain(
    server: Server, holder: Holder, agent: httpx.Client
) -> None:
    holder.snapshot = snapshot_with(deny=("write",))
    reload(server)

    denied, unknown = ask(agent, "write"), ask(agent, "wrjte")

    assert denied.content.replace(b"write", b"x") == unknown.content.replace(b"wrjte", b"x")
    assert denied.json()["reason"] == "not_offered"


def test_a_token_with_the_right_to_explain_learns_layer_and_rule(server: Server, holder: Holder, token: Token) -> None:
    holder.snapshot = snapshot_with(deny=("write",))
    reload(server)
    with server.client(token("decisions_ask", "explain")[1]) as client:
        answer = ask(client, "write").json()

    assert (answer["allowed"], answer["layer"]) == (False, "agent")
    assert "agents.bot.tools.deny" in answer["rule"]


def test_a_batch_is_answered_in_its_order(agent: httpx.Client) -> None:
    tools = ["read", "nothing", "exec"]

    answer = agent.post(URL, json={"decisions": [{"agent": "bot", "tool": tool} for tool in tools]}).json()

    assert [(item["tool"], item["allowed"]) for item in answer["decisions"]] == [
        ("read", True),
        ("nothing", False),
        ("exec", True),
    ]


@pytest.mark.parametrize("batch", [[], "read", {}, [{"agent": "bot", "tool": "read"}] * 1001])
def test_a_batch_that_is_none_or_too_large_is_refused(agent: httpx.Client, batch: Any) -> None:
    assert agent.post(URL, json={"decisions": batch}).status_code == 422


def test_every_mistake_of_a_request_is_listed(agent: httpx.Client) -> None:
    batch = [{"agent": "bot", "tool": ""}, 7, {"tool": "read", "context": {"sender_id": 3}}]

    answer = agent.post(URL, json={"decisions": batch})

    assert answer.status_code == 422
    assert [detail["path"] for detail in answer.json()["details"]] == [
        "decisions[0].tool",
        "decisions[1]",
        "decisions[2].agent",
        "decisions[2].context.sender_id",
    ]


@pytest.mark.parametrize(
    "more",
    [{"session": "agent:other:main"}, {"context": {"agent_id": "other"}}, {"context": {"session_key": "agent:x:main"}}],
)
def test_a_session_of_another_agent_is_refused(agent: httpx.Client, more: dict[str, Any]) -> None:
    assert ask(agent, **more).status_code == 422


def test_a_caller_cannot_state_what_a_session_inherited(agent: httpx.Client) -> None:
    claim = {"spawnDepth": 0, "spawnedBy": "agent:bot:main", "inheritedToolPolicyVersion": 1}

    answer = ask(agent, session="agent:bot:subagent:a", context={"stored_session": claim})

    assert answer.status_code == 422
    assert [detail["path"] for detail in answer.json()["details"]] == ["context.stored_session"]


def test_without_a_publication_everything_is_denied_by_that_name(
    server: Server, holder: Holder, agent: httpx.Client
) -> None:
    holder.snapshot = None
    reload(server)

    assert ask(agent).json() == {"tool": "read", "allowed": False, "reason": "no_publication", "snapshot": None}


def test_a_token_bound_to_agents_speaks_for_no_other(server: Server, token: Token) -> None:
    with server.client(token("decisions_ask", agents=["clerk"])[1]) as client:
        refused = ask(client)
        allowed = client.post(URL, json={"agent": "Clerk", "tool": "read"})

    assert (refused.status_code, refused.json()["code"]) == (403, "agent_not_allowed")
    assert allowed.status_code == 200


@pytest.mark.parametrize(("bound", "named", "status"), [("production", "other", 403), ("", "other", 422)])
def test_a_token_decides_in_its_own_environment_only(
    server: Server, token: Token, bound: str, named: str, status: int
) -> None:
    with server.client(token("decisions_ask", environment=bound)[1]) as client:
        assert ask(client, environment=named).status_code == status


def test_a_token_without_the_right_is_refused(server: Server, token: Token) -> None:
    with server.client(token("calls_make")[1]) as client:
        answer = ask(client)

    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer x", "Basic YTpi", "Bearer oca_x_y"])
def test_who_has_no_token_learns_nothing(server: Server, header: str) -> None:
    with server.client() as client:
        answer = client.post(URL, json={}, headers={"Authorization": header})

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"


def test_a_revoked_token_is_refused_at_once(server: Server, token: Token, admin: Any) -> None:
    row, secret = token("decisions_ask")
    with server.client(secret) as client:
        assert ask(client).status_code == 200
        token_revoke(row, by=admin, at=timezone.now())
        assert eventually(lambda: ask(client).status_code == 401)


def test_an_expired_token_is_refused(server: Server, token: Token) -> None:
    _, secret = token("decisions_ask", expires_at=timezone.now() - timedelta(seconds=1))
    with server.client(secret) as client:
        assert ask(client).status_code == 401


def test_a_token_that_comes_too_often_is_told_when_to_come_again(server: Server, token: Token) -> None:
    with server.client(token("decisions_ask", rate_per_minute=60)[1]) as client:
        answers = [ask(client) for _ in range(15)]

    refused = [answer for answer in answers if answer.status_code == 429]
    assert 3 <= len(refused) <= 5
    assert int(refused[0].headers["retry-after"]) >= 1


def test_decisions_are_counted(agent: httpx.Client) -> None:
    before = counters.snapshot()

    ask(agent)
    ask(agent, "nothing")

    after = counters.snapshot()
    assert after["decisions.allowed"] == before.get("decisions.allowed", 0) + 1
    assert after["decisions.denied"] == before.get("decisions.denied", 0) + 1


def reload(server: Server) -> None:
    from apps.gateway.lifecycle import gateway

    server.run(gateway().snapshots.reload())


def eventually(claim: Callable[[], bool]) -> bool:
    import time

    until = time.monotonic() + 30
    while time.monotonic() < until:
        if claim():
            return True
        time.sleep(0.02)
    return False
