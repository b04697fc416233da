"""A decision with params is what the call would be answered, by the same stages; nothing runs and nothing is kept."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from apps.approvals.models import Approval
from apps.audit.models import Entry
from tests.gateway.conftest import call, snapshot_with
from tests.gateway.server import Holder, Server
from tests.gateway.test_decisions import ask, reload

Token = Callable[..., tuple[Any, str]]


def judged(client: httpx.Client, tool: str, params: Any, **more: Any) -> Any:
    answer = ask(client, tool, params=params, **more)
    assert answer.status_code == 200, answer.text
    return answer.json()


def publish(server: Server, holder: Holder, **options: Any) -> None:
    holder.snapshot = snapshot_with(**options)
    reload(server)


def test_a_command_that_the_exec_policy_denies_is_denied(server: Server, holder: Holder, agent: httpx.Client) -> None:
    publish(server, holder, settings={"mode": "deny"})

    answer = judged(agent, "exec", {"command": "ls -la"})

    assert (answer["allowed"], answer["verdict"], answer["stage"]) == (False, "deny", "approval")
    assert answer["reason"] == call(agent, "exec", {"command": "ls -la"}).json()["error"]["code"]
    assert answer["message"]


def test_a_command_that_asks_is_neither_a_yes_nor_a_no(server: Server, holder: Holder, agent: httpx.Client) -> None:
    publish(server, holder, settings={"security": "allowlist", "ask": "on-miss"})

    answer = judged(agent, "exec", {"command": "uname -s"})

    assert (answer["allowed"], answer["verdict"], answer["stage"]) == (False, "ask", "approval")
    assert (answer["reason"], bool(answer["message"])) == ("approval_required", True)
    assert judged(agent, "exec", {"command": "echo hello"})["verdict"] == "allow"


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("read", {"path": "no-such-file.txt"}),
    ("read", {}),
    ("read", {"path": 7}),
    ("read", {"path": "../../etc/passwd"}),
    ("exec", {"command": "echo hello"}),
    ("exec", {"command": "uname -s"}),
    ("exec", {"command": "echo a > b; rm -rf /"}),
    ("exec", {"command": "echo a", "env": {"LD_PRELOAD": "x"}}),
    ("exec", {"command": "echo $("}),
    ("exec", {}),
    ("nothing", {"x": 1}),
    ("write", {"path": "a.txt", "content": "x"}),
]


@pytest.mark.parametrize("rules", [{}, {"mode": "deny"}, {"security": "allowlist", "ask": "always"}])
def test_it_says_what_the_call_is_answered_then(
    server: Server, holder: Holder, agent: httpx.Client, rules: dict[str, Any]
) -> None:
    publish(server, holder, deny=("write",), settings=rules)
    differing = []
    for tool, params in CALLS:
        said = judged(agent, tool, params)
        answered = call(agent, tool, params, wait_ms=2_000).json()
        came = {"awaiting_approval": "ask", "denied": "deny"}.get(answered.get("status", "denied"), "allow")
        error = answered.get("error") or answered  # what is refused before anything of it shows is the error alone
        code = error["code"] if came == "deny" else said["reason"]
        reason = "not_offered" if code == "tool_not_found" else code
        if (said["verdict"], said["reason"]) != (came, reason):
            differing.append((tool, params, said, answered))

    assert differing == []


def test_nothing_runs_nothing_is_recorded_and_nobody_is_asked(agent: httpx.Client, settings: Any) -> None:
    before = Entry.objects.count()

    judged(agent, "write", {"path": "made.txt", "content": "x"})
    judged(agent, "exec", {"command": "uname -s"})

    assert Entry.objects.count() == before and not Approval.objects.exists()
    assert not list(settings.VAR_DIR.rglob("made.txt"))


def test_mistakes_in_the_params_are_listed(agent: httpx.Client) -> None:
    answer = judged(agent, "read", {"pth": "a"})

    assert (answer["verdict"], answer["stage"], answer["reason"]) == ("deny", "validate", "parameter_validation_failed")
    assert "path" in {each["path"] for each in answer["details"]}


def test_what_the_agent_does_not_have_looks_like_what_does_not_exist(
    server: Server, holder: Holder, agent: httpx.Client
) -> None:
    publish(server, holder, deny=("write",))

    denied, unknown = ask(agent, "write", params={"a": 1}), ask(agent, "wrjte", params={"a": 1})

    assert denied.content.replace(b"write", b"x") == unknown.content.replace(b"wrjte", b"x")
    assert (denied.json()["reason"], "message" in denied.json()) == ("not_offered", False)


def test_who_may_explain_learns_layer_and_rule(server: Server, holder: Holder, token: Token) -> None:
    publish(server, holder, deny=("write",))
    with server.client(token("decisions_ask", "explain")[1]) as client:
        answer = judged(client, "write", {"path": "a", "content": "b"})

    assert answer["layer"] == "agent" and "agents.bot.tools.deny" in answer["rule"]


def test_questions_with_and_without_params_go_together(agent: httpx.Client) -> None:
    batch = [{"agent": "bot", "tool": "exec"}, {"agent": "bot", "tool": "exec", "params": {"command": "uname -s"}}]

    first, second = agent.post("/api/v1/decisions", json={"decisions": batch}).json()["decisions"]

    assert first == {"tool": "exec", "allowed": True, "reason": "allowed"}
    assert second["verdict"] in {"ask", "deny"} and second["allowed"] is False


@pytest.mark.parametrize("params", [[], "ls", 7])
def test_params_are_an_object(agent: httpx.Client, params: Any) -> None:
    answer = ask(agent, "exec", params=params)

    assert answer.status_code == 422
    assert [each["path"] for each in answer.json()["details"]] == ["params"]


def test_the_kill_switch_comes_before_everything_but_the_tool(server: Server, agent: httpx.Client, admin: Any) -> None:
    from django.utils import timezone

    from apps.gateway.lifecycle import gateway
    from apps.halts.services import halt_place
    from apps.registry.services import environment_default

    at = timezone.now()
    halt_place(environment_default(), scope="agent", name="bot", unknown=True, reason="drill", by=admin, at=at)
    server.run(gateway().halts.reload())

    answer = judged(agent, "read", {"path": 7})

    assert (answer["verdict"], answer["stage"], answer["reason"]) == ("deny", "halt", "stopped")
