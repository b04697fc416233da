"""Sessions over a real socket: loops, budgets, ends, and the connections that end with them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from django.utils import timezone

from apps.audit.selectors import call_record
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.identifiers import read_id
from apps.firewall.runtime.sessions import Budgets
from apps.firewall.tools.catalog import BUILTINS
from apps.gateway.lifecycle import gateway
from apps.sessions.models import Session
from apps.sessions.services import session_budgets_set, session_end, session_reopen
from tests.gateway.conftest import call
from tests.gateway.server import Holder, Server
from tests.gateway.test_decisions import eventually
from tests.gateway.test_mcp_tools import bot, echo, live, offer, source  # noqa: F401 (fixtures)
from tests.gateway.test_publications import publishing  # noqa: F401 (a fixture)

MAIN = "agent:bot:main"


def watching(**block: Any) -> Snapshot:
    """Make a snapshot in which loops of `bot` are looked for, and those of `clerk` are not."""
    return build_snapshot(
        SnapshotSource(
            environment="production",
            tools=[ToolEntry(name, params=tool.definition.parameters) for name, tool in BUILTINS.items()],
            agents=[
                AgentSource("bot", policy=Policy(allow=None, deny=("write",))),
                AgentSource("clerk", settings={"loopDetection": {"enabled": False}}),
            ],
            settings={"loopDetection": {"enabled": True, **block}, "exec": {"security": "full", "ask": "off"}},
        )
    )


@pytest.fixture
def holder() -> Holder:
    return Holder(watching())


def read(agent: httpx.Client, path: str = "gone.txt", **more: Any) -> dict[str, Any]:
    answered: dict[str, Any] = call(agent, "read", {"path": path}, **{"session": "main", **more}).json()
    return answered


def code_of(body: dict[str, Any]) -> str:
    return str((body.get("error") or body).get("code", ""))


@pytest.mark.unhurried
def test_a_loop_is_warned_of_then_refused_and_both_are_on_record(agent: httpx.Client) -> None:
    answers = [read(agent) for _ in range(21)]

    [warning] = answers[10]["warnings"]
    assert [at for at, each in enumerate(answers) if "warnings" in each] == [10]
    assert (warning["code"], "generic_repeat, 10 calls" in warning["message"]) == ("loop_suspected", True)
    assert [code_of(each) for each in answers[18:]] == ["not_found", "not_found", "loop_detected"]
    assert answers[20]["error"]["details"] == [{"path": "", "code": "generic_repeat", "message": "counted 20"}]

    again = agent.get(f"/api/v1/calls/{answers[10]['id']}").json()
    assert again["warnings"] == answers[10]["warnings"]
    warned, refused = (call_record(read_id("call", answers[at]["id"])) for at in (10, 20))
    assert warned is not None and [each["code"] for each in warned.warnings] == ["loop_suspected"]
    assert refused is not None
    assert (refused.layer, refused.rule, refused.status) == ("loop_detection", "generic_repeat", "denied")
    session = Session.objects.get()
    assert (session.key, session.calls, session.denied) == (MAIN, 21, 1)


@pytest.mark.unhurried
@pytest.mark.slow
def test_a_command_that_fails_the_same_way_is_a_loop_whatever_its_arguments(agent: httpx.Client) -> None:
    answers = [call(agent, "exec", {"command": f"ls gone-{at}"}, session="main").json() for at in range(12)]
    same = [call(agent, "exec", {"command": "ls gone"}, session="other").json() for _ in range(12)]

    assert not any("warnings" in each for each in answers)
    assert "warnings" in same[10]


def test_a_call_without_a_session_has_none(agent: httpx.Client) -> None:
    body = call(agent, "read", {"path": "gone.txt"}).json()

    assert (code_of(body), Session.objects.count()) == ("not_found", 0)


def test_refusals_of_every_kind_are_counted(agent: httpx.Client) -> None:
    for tool, params in (("write", {}), ("fly", {}), ("read", {"wrong": 1}), ("read", {"path": "gone.txt"})):
        call(agent, tool, params, session="main", context={"channel": "telegram", "sender_id": "7"})

    session = Session.objects.get()
    assert (session.calls, session.denied) == (4, 3)
    assert (session.channel, session.sender, session.last_tool) == ("telegram", "7", "read")


def test_a_run_is_named_by_its_caller(agent: httpx.Client) -> None:
    body = read(agent, run="turn-7", context={"runtime_tools": ["ask_user"]})

    run = Session.objects.get().runs.get()
    record = call_record(read_id("call", body["id"]))
    assert (run.run_id, run.calls, run.client_tools) == ("turn-7", 1, ["ask_user"])
    assert record is not None and record.changes["run"] == "turn-7"


@pytest.mark.parametrize("run", [7, "x" * 201, "a\nb"])
def test_a_run_that_is_no_name_is_refused(agent: httpx.Client, run: Any) -> None:
    answer = call(agent, "read", {"path": "a"}, session="main", run=run)

    assert (answer.status_code, [each["path"] for each in answer.json()["details"]]) == (422, ["run"])


def test_a_session_key_of_any_length_in_the_context_is_refused(agent: httpx.Client) -> None:
    answer = call(agent, "read", {"path": "a"}, context={"session_key": "x" * 600})

    assert (answer.status_code, [each["path"] for each in answer.json()["details"]]) == (422, ["context.session_key"])


def test_a_budget_refuses_what_is_beyond_it_also_at_once(agent: httpx.Client, server: Server, admin: Any) -> None:
    read(agent)
    session_budgets_set(Session.objects.get(), Budgets(max_calls=4), by=admin, at=timezone.now())
    with ThreadPoolExecutor(6) as threads:
        codes = sorted(threads.map(lambda at: code_of(read(agent, f"gone-{at}")), range(6)))

    assert codes == ["not_found"] * 3 + ["session_budget_spent"] * 3
    record = call_record(read_id("call", read(agent)["id"]))
    assert record is not None and (record.layer, record.rule) == ("session", "max_calls")


def test_an_ended_session_refuses_until_it_is_reopened(agent: httpx.Client, admin: Any) -> None:
    read(agent)
    ended = session_end(Session.objects.get(), by=admin, at=timezone.now(), reason="enough for today")
    refused, elsewhere = read(agent), read(agent, session="other")
    child = read(agent, session="agent:bot:subagent:1", context={"spawned_by": MAIN})
    session_reopen(ended, by=admin, at=timezone.now())

    assert refused["error"]["message"] == "this session was ended: enough for today"
    assert [code_of(each) for each in (elsewhere, child)] == ["not_found", "session_ended"]
    assert code_of(read(agent)) == "not_found"


@pytest.mark.unhurried
def test_ending_a_session_closes_its_connections_and_no_others(
    source: Any,  # noqa: F811
    environment: Any,
    bot: httpx.Client,  # noqa: F811
    admin: Any,
) -> None:
    live(source, environment, bot)
    for key in ("main", "other"):
        answer = call(bot, "tester__echo", {"text": "hello"}, session=key).json()
        assert answer["status"] == "completed"
    kept = gateway().sessions._kept
    assert len(kept) == 2

    session_end(Session.objects.get(key=MAIN), by=admin, at=timezone.now())

    assert eventually(lambda: [each.owner.session for each in kept.values()] == ["other"])


def test_a_clerk_whose_own_setting_is_off_may_repeat_itself(server: Server, token: Callable[..., Any]) -> None:
    with server.client(token("calls_make")[1]) as client:
        body = {"agent": "clerk", "tool": "read", "params": {"path": "gone.txt"}, "session": "main"}
        answers = [client.post("/api/v1/calls", json=body).json() for _ in range(12)]

    assert not any("warnings" in each for each in answers)
    assert Session.objects.get().loops is None
