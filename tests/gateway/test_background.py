"""Commands that run on when their calls have ended, over the agents' door: real processes, a real database."""

import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.utils import timezone

from apps.audit.models import Content, Entry
from apps.firewall.identifiers import read_id
from apps.gateway.background.inputs import input_answer, input_put
from apps.gateway.background.killing import commands_end
from apps.gateway.models import BackgroundCommand, CommandInput
from apps.halts.services import halt_place
from apps.sessions.models import Session
from apps.sessions.services import session_end
from tests.gateway.conftest import snapshot_with
from tests.gateway.processes import until
from tests.gateway.server import Holder, Server

pytestmark = [pytest.mark.unhurried, pytest.mark.django_db(transaction=True)]

FULL: Mapping[str, Any] = {"security": "full", "ask": "off"}
SESSION = "agent:bot:main"


@pytest.fixture
def holder() -> Holder:
    return Holder(snapshot_with(settings=FULL, approvals={}))


def ask(client: httpx.Client, tool: str, params: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    body = {"agent": "bot", "session": SESSION, "tool": tool, "params": params, **more}
    answer: dict[str, Any] = client.post("/api/v1/calls", json=body).json()
    return answer


def run(client: httpx.Client, command: str, **params: Any) -> dict[str, Any]:
    return ask(client, "exec", {"command": command, "background": True, **params})


def process(client: httpx.Client, action: str, name: str = "", **params: Any) -> dict[str, Any]:
    named = {"sessionId": name} if name else {}
    return ask(client, "process", {"action": action, **named, **params})


def begun(answer: Mapping[str, Any]) -> str:
    assert answer["status"] == "completed", answer
    assert answer["result"]["status"] == "running", answer
    return str(answer["result"]["sessionId"])


def heard(client: httpx.Client, name: str, text: str) -> str:
    """Poll until the output since the last poll holds a text; a command may say it in parts."""
    said, until_s = "", time.monotonic() + 30
    while text not in said:
        assert time.monotonic() < until_s, said
        said += process(client, "poll", name, timeout=1000)["result"]["output"]
    return said


def ended_entry(name: str) -> Entry:
    return Entry.objects.get(call_id=read_id("proc", name), kind="command_ended")


def content_of(entry: Entry) -> Content:
    return Content.objects.get(entry_id=entry.pk)


def has_ended(name: str) -> bool:
    return BackgroundCommand.objects.filter(pk=read_id("proc", name), state="ended").exists()


def alive(marker: str) -> bool:
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                words = (each / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if marker.encode() in words:
                return True
    return False


@pytest.mark.slow
def test_a_command_is_left_when_its_time_is_over_and_read_later(agent: httpx.Client) -> None:
    answer = ask(agent, "exec", {"command": "sh -c 'echo first; read line; echo second; exit 3'", "yieldMs": 3000})
    name = begun(answer)
    assert heard(agent, name, "\n") == "first\n"
    assert process(agent, "poll", name)["result"]["status"] == "running"

    process(agent, "write", name, data="go on\n")

    assert heard(agent, name, "\n") == "second\n"
    until(lambda: has_ended(name), seconds=30)
    last = process(agent, "poll", name)["result"]
    assert (last["status"], last["exitCode"], last["output"]) == ("completed", 3, "")
    assert process(agent, "log", name)["result"]["output"] == "first\nsecond\n"


def test_the_call_has_one_outcome_and_the_end_one_record_that_names_it(agent: httpx.Client) -> None:
    name = begun(run(agent, "sh -c 'sleep 0.5; echo token=ghp_aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kM5; exit 1'"))
    until(lambda: has_ended(name), seconds=30)
    call_id = read_id("proc", name)
    kinds = list(Entry.objects.filter(call_id=call_id).order_by("at", "id").values_list("kind", "status"))
    assert kinds == [("call_intent", "started"), ("call_outcome", "completed"), ("command_ended", "completed")]
    entry = ended_entry(name)
    result = content_of(entry).result or {}
    assert result["exit_code"] == 1
    assert re.fullmatch(r"token=\[masked 40 characters, [0-9a-f]{8}\]\n", result["output"])
    assert (entry.agent, entry.session_key, entry.tool) == ("bot", SESSION, "exec")
    assert (entry.changes or {})["command"] == name
    assert "ghp_" not in BackgroundCommand.objects.get(pk=call_id).output


def test_one_that_ends_in_time_answers_as_in_the_foreground(agent: httpx.Client) -> None:
    answer = ask(agent, "exec", {"command": "echo done", "yieldMs": 5000})
    assert (answer["result"]["exit_code"], answer["result"]["stdout"]) == (0, "done\n")
    assert not BackgroundCommand.objects.exists()


@pytest.mark.slow
def test_where_process_is_denied_it_runs_in_the_foreground_and_says_so(agent: httpx.Client, holder: Holder) -> None:
    holder.snapshot = snapshot_with(settings=FULL, approvals={}, deny=("process",))
    until(lambda: process(agent, "list").get("status") != "completed", seconds=30)
    answer = run(agent, "sh -c 'sleep 0.3; echo whole'")
    assert answer["result"]["stdout"] == "whole\n"
    assert [each["code"] for each in answer["warnings"]] == ["not_in_background"]
    assert "`process` is not allowed" in answer["warnings"][0]["message"]


def test_a_call_without_a_session_runs_in_the_foreground_and_says_so(agent: httpx.Client) -> None:
    body = {"agent": "bot", "tool": "exec", "params": {"command": "echo here", "background": True}}
    answer = agent.post("/api/v1/calls", json=body).json()
    assert answer["result"]["stdout"] == "here\n"
    assert "names no session" in answer["warnings"][0]["message"]


@pytest.mark.slow
def test_the_policy_may_leave_every_command_that_takes_long(agent: httpx.Client, holder: Holder) -> None:
    holder.snapshot = snapshot_with(settings={**FULL, "backgroundMs": 200, "timeoutSec": 5}, approvals={})
    until(lambda: "sessionId" in (ask(agent, "exec", {"command": "sleep 0.5"}).get("result") or {}), seconds=30)
    name = begun(ask(agent, "exec", {"command": "sleep 58"}))
    until(lambda: has_ended(name), seconds=30)
    entry = ended_entry(name)
    assert entry.status == "failed"
    assert (content_of(entry).error or {})["code"] == "command_timed_out"


def test_it_outlives_the_cancel_of_its_call_once_it_is_left(
    agent: httpx.Client, token: Callable[..., tuple[Any, str]]
) -> None:
    answer = run(agent, "sleep 71.5")
    name = begun(answer)
    assert agent.delete(f"/api/v1/calls/{answer['id']}").json()["status"] == "completed"
    assert process(agent, "poll", name, timeout=500)["result"]["status"] == "running"
    until(lambda: alive("71.5"), seconds=30)
    killed = process(agent, "kill", name)["result"]
    assert (killed["status"], killed["error"]["code"]) == ("cancelled", "killed")
    assert not alive("71.5")


def test_before_it_is_left_a_cancel_ends_it(agent: httpx.Client) -> None:
    body = {"agent": "bot", "session": SESSION, "tool": "exec", "wait_ms": 0}
    params = {"command": "sleep 72.5", "yieldMs": 60_000}
    call_id = agent.post("/api/v1/calls", json={**body, "params": params}).json()["id"]
    until(lambda: alive("72.5"), seconds=30)
    assert agent.delete(f"/api/v1/calls/{call_id}").json()["status"] == "cancelled"
    assert not alive("72.5")
    until(lambda: not BackgroundCommand.objects.exists(), seconds=30)


def test_what_is_written_reaches_it_and_the_end_of_input(agent: httpx.Client) -> None:
    name = begun(run(agent, "sh -c 'read a; echo got $a; cat; echo over'"))
    assert process(agent, "write", name, data="one\n")["result"]["written"] == 4
    assert heard(agent, name, "\n") == "got one\n"
    assert process(agent, "write", name, data="two", eof=True)["status"] == "completed"
    until(lambda: has_ended(name), seconds=30)
    assert process(agent, "log", name)["result"]["output"] == "got one\ntwoover\n"
    refused = process(agent, "write", name, data="x")
    assert (refused["status"], refused["error"]["code"]) == ("failed", "input_closed")


def test_a_terminal_takes_keys_lines_and_pastes(agent: httpx.Client) -> None:
    name = begun(run(agent, "sh -c 'stty size; printf \"\\033[31mred\\033[0m\\n\"; cat'", pty=True))
    assert "30 120\r\n\x1b[31mred\x1b[0m\r\n" in heard(agent, name, "\x1b[0m\r\n")
    process(agent, "submit", name, data="line")
    assert heard(agent, name, "line\r\n").startswith("line\r\n")
    assert process(agent, "send-keys", name, keys=["no-such-key"])["error"]["code"] == "key_unknown"
    process(agent, "send-keys", name, keys=["C-d"])
    until(lambda: has_ended(name), seconds=30)


def test_a_terminal_in_the_foreground_needs_no_session(agent: httpx.Client) -> None:
    answer = agent.post(
        "/api/v1/calls", json={"agent": "bot", "tool": "exec", "params": {"command": "tty -s", "pty": True}}
    ).json()
    assert answer["result"]["exit_code"] == 0


def test_a_log_is_read_whole_part_by_part_though_a_line_of_it_fills_no_answer(agent: httpx.Client) -> None:
    name = begun(run(agent, "sh -c 'head -c 70000 /dev/zero | tr \"\\\\000\" a; echo; echo bbbb; echo end'"))
    until(lambda: has_ended(name), seconds=30)

    text, log = "", process(agent, "log", name, offset=0)["result"]
    for _ in range(5):
        text += log["output"]
        if "nextOffset" not in log:
            break
        log = process(agent, "log", name, offset=log["nextOffset"])["result"]

    assert text == "a" * 70_000 + "\nbbbb\nend\n"
    last = process(agent, "log", name, limit=1)["result"]
    assert (last["output"], last["firstLine"], "nextOffset" in last) == ("end\n", 3, False)
    assert last["goBack"] == "`log` with `offset` 0 begins at the first of 3 lines before"


@pytest.mark.slow
def test_hostile_output_is_bounded_and_said_to_be(agent: httpx.Client) -> None:
    name = begun(run(agent, "sh -c 'yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | head -c 20000000; printf \"\\377\\000end\"'"))
    until(lambda: has_ended(name), seconds=30)
    log = process(agent, "log", name, offset=0, limit=5)["result"]
    row = BackgroundCommand.objects.get(pk=read_id("proc", name))
    assert row.output_total > 19_000_000
    assert len(row.output) <= 100_000
    assert (log["nextOffset"], log["goOn"]) == (5, "`log` with `offset` 5 gives the next lines")
    assert log["droppedCharacters"] == row.output_begin > 0
    polled = process(agent, "poll", name)["result"]
    assert len(polled["output"]) <= 30_000
    assert polled["droppedCharacters"] > 0
    assert row.output.endswith("\ufffd\ufffdend")


def test_limits_hold_as_in_the_foreground(agent: httpx.Client) -> None:
    bomb = begun(run(agent, "sh -c 'b() { b | b & b; }; b'"))
    until(lambda: has_ended(bomb), seconds=30)
    entry = ended_entry(bomb)
    assert entry.status == "failed"
    assert (content_of(entry).error or {})["code"] == "command_process_limit"


@pytest.mark.slow
def test_as_many_run_as_may_and_the_next_is_refused(agent: httpx.Client, settings: Any) -> None:
    settings.BACKGROUND_SESSION_LIMIT = 2
    first = begun(run(agent, "sleep 55.1"))
    begun(run(agent, "sleep 55.2"))
    refused = run(agent, "sleep 55.3")
    assert (refused["status"], refused["error"]["code"]) == ("failed", "too_many_commands")
    assert not alive("55.3")
    settings.BACKGROUND_LIMIT = 2
    other = ask(agent, "exec", {"command": "sleep 55.4", "background": True}, session="agent:bot:other")
    assert "of this installation" in other["error"]["message"]
    process(agent, "kill", first)
    begun(run(agent, "sleep 55.5"))


@pytest.mark.slow
def test_the_call_and_the_policy_bound_its_time_and_an_admin_both(agent: httpx.Client, settings: Any) -> None:
    settings.BACKGROUND_TIMEOUT_LIMIT_S = 40
    assert run(agent, "sleep 54.1", timeout=100)["result"]["timeout"] == 40
    settings.BACKGROUND_TIMEOUT_S = 20
    assert run(agent, "sleep 54.2")["result"]["timeout"] == 20
    name = begun(run(agent, "sh -c 'trap \"\" TERM; echo up; sleep 54.3'", timeout=1))
    until(lambda: has_ended(name), seconds=30)
    assert BackgroundCommand.objects.get(pk=read_id("proc", name)).error_code == "command_timed_out"
    assert not alive("54.3")


@pytest.mark.slow
def test_only_its_agent_and_its_family_of_sessions_see_it(agent: httpx.Client) -> None:
    name = begun(run(agent, "sleep 53.1"))
    sub = {"session": "agent:bot:subagent:one", "context": {"spawned_by": SESSION}}
    assert [each["sessionId"] for each in process(agent, "list")["result"]["sessions"]] == [name]
    seen = ask(agent, "process", {"action": "list"}, **sub)
    assert [each["sessionId"] for each in seen["result"]["sessions"]] == [name]
    strangers = ({"session": "agent:bot:other"}, {"agent": "clerk", "session": "agent:clerk:main"}, {"session": None})
    for stranger in strangers:
        assert ask(agent, "process", {"action": "list"}, **stranger)["result"]["sessions"] == []
        for action in ("poll", "log", "write", "kill", "remove"):
            refused = ask(agent, "process", {"action": action, "sessionId": name}, **stranger)
            assert refused["error"]["code"] == "session_not_found", (stranger, action)
    until(lambda: alive("53.1"), seconds=30)
    mine = ask(agent, "exec", {"command": "sleep 53.2", "background": True}, **sub)
    assert process(agent, "kill", begun(mine))["result"]["status"] == "cancelled"


def test_the_end_of_its_session_ends_it(agent: httpx.Client, admin: Any) -> None:
    name = begun(run(agent, "sleep 52.1"))
    session_end(Session.objects.get(key=SESSION), by=admin, at=timezone.now(), reason="enough")
    until(lambda: has_ended(name), seconds=30)
    row = BackgroundCommand.objects.get(pk=read_id("proc", name))
    assert (row.outcome, row.error_code) == ("cancelled", "session_ended")
    assert not alive("52.1")


@pytest.mark.slow
def test_all_of_an_agent_or_an_environment_end_at_once(agent: httpx.Client, environment: Any) -> None:
    names = [begun(run(agent, f"sleep 51.{number}")) for number in range(3)]
    clerks = ask(
        agent, "exec", {"command": "sleep 51.9", "background": True}, agent="clerk", session="agent:clerk:main"
    )
    assert commands_end(environment, agent="bot", by="user:olga") == 3
    until(lambda: all(map(has_ended, names)), seconds=30)
    for name in names:
        row = BackgroundCommand.objects.get(pk=read_id("proc", name))
        assert (row.outcome, row.error_code, ended_entry(name).actor) == ("cancelled", "switched_off", "user:olga")
    until(lambda: alive("51.9"), seconds=30)
    assert commands_end(environment, by="system") == 1
    until(lambda: has_ended(begun(clerks)), seconds=30)


def test_the_kill_switch_ends_it(agent: httpx.Client, environment: Any, admin: Any) -> None:
    name = begun(run(agent, "sleep 43.1"))
    halt_place(environment, scope="agent", name="bot", unknown=True, reason="enough", by=admin, at=timezone.now())
    until(lambda: has_ended(name), seconds=30)
    row = BackgroundCommand.objects.get(pk=read_id("proc", name))
    assert (row.outcome, row.error_code) == ("cancelled", "switched_off")
    assert row.error_message == "ended by Admin, who stopped all of its kind"
    assert ended_entry(name).actor.startswith("token:")
    assert not alive("43.1")


def test_what_ended_can_be_cleared_and_what_runs_only_removed(agent: httpx.Client) -> None:
    name = begun(run(agent, "sleep 50.1"))
    assert process(agent, "clear", name)["error"]["code"] == "command_runs"
    assert process(agent, "remove", name)["result"]["status"] == "removed"
    assert process(agent, "poll", name)["error"]["code"] == "session_not_found"
    assert process(agent, "list")["result"]["sessions"] == []
    assert ended_entry(name).status == "cancelled"


def test_a_server_that_stops_ends_it_and_says_so(agent: httpx.Client, server: Server) -> None:
    name = begun(run(agent, "sleep 49.1"))
    server.stop()
    row = BackgroundCommand.objects.get(pk=read_id("proc", name))
    assert (row.outcome, row.error_code) == ("cancelled", "server_stopped")
    assert not alive("49.1")
    server._uvicorn.should_exit = True


def test_an_input_is_sealed_on_its_way_and_gone_after_it(agent: httpx.Client) -> None:
    name = begun(run(agent, "sh -c 'read a; echo got $a; sleep 48.1'"))
    put = input_put(read_id("proc", name), b"hunter2\n", is_last=False, environment="production", at=timezone.now())
    until(lambda: CommandInput.objects.get(pk=put).done_at, seconds=30)
    assert bytes(CommandInput.objects.get(pk=put).sealed) == b""
    answer = input_answer(put)
    assert answer is not None and answer.code == ""
    assert not CommandInput.objects.exists()
    assert heard(agent, name, "\n") == "got hunter2\n"
