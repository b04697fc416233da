"""Background commands of one process, looked after from another; and what is left of them when it is killed."""

import signal
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.utils import timezone

from apps.audit.models import Content, Entry
from apps.audit.services import sweep_orphans
from apps.firewall.identifiers import read_id
from apps.gateway.background.settling import commands_settle
from apps.gateway.models import BackgroundCommand, CommandInput
from tests.gateway.conftest import publish_first
from tests.gateway.processes import Installation, until
from tests.gateway.test_background import SESSION, alive, has_ended
from tests.gateway.test_decisions import Token
from tests.gateway.test_sudden_death import DOCUMENT, server_process

pytestmark = [pytest.mark.unhurried, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def secret(environment: Any, token: Token, tmp_path: Path, settings: Any) -> str:
    settings.VAR_DIR = tmp_path / "var"
    publish_first(environment, DOCUMENT)
    return token("calls_make")[1]


def ask(url: str, secret: str, tool: str, params: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    body = {"agent": "bot", "session": SESSION, "tool": tool, "params": params, **more}
    headers = {"Authorization": f"Bearer {secret}"}
    answer: dict[str, Any] = httpx.post(f"{url}/api/v1/calls", json=body, headers=headers, timeout=40).json()
    return answer


@pytest.mark.slow
def test_any_process_polls_reads_writes_and_kills(secret: str) -> None:
    with server_process() as (_, here), server_process() as (_, there):
        command = "sh -c 'echo up; read a; echo got $a; sleep 47.1'"
        name = ask(here, secret, "exec", {"command": command, "background": True})["result"]["sessionId"]

        def process(action: str, **params: Any) -> dict[str, Any]:
            answer = ask(there, secret, "process", {"action": action, "sessionId": name, **params})
            assert answer["status"] == "completed", answer
            return dict(answer["result"])

        assert process("poll", timeout=30_000)["output"] == "up\n"
        assert process("write", data="a secret word\n")["written"] == 14
        assert not CommandInput.objects.exists()
        assert process("poll", timeout=30_000)["output"] == "got a secret word\n"
        assert process("log")["output"] == "up\ngot a secret word\n"
        until(lambda: alive("47.1"), seconds=30)
        killed = process("kill")
        assert (killed["status"], killed["error"]["code"]) == ("cancelled", "killed")
        assert not alive("47.1")


@pytest.mark.slow
def test_a_killed_holder_leaves_no_process_and_one_record_that_nobody_knows(secret: str) -> None:
    with server_process() as (_, there):
        with server_process() as (holder, here):
            command = "sh -c 'echo before; sleep 46.1'"
            name = ask(here, secret, "exec", {"command": command, "background": True})["result"]["sessionId"]
            until(lambda: BackgroundCommand.objects.get().output == "before\n", seconds=30)
            until(lambda: alive("46.1"), seconds=30)
            holder.send_signal(signal.SIGKILL)
            holder.wait()
        until(lambda: not alive("46.1"), seconds=30)

        sweep_orphans(timezone.now() + timedelta(minutes=1))
        commands_settle(timezone.now())
        commands_settle(timezone.now())
        assert has_ended(name)
        log = ask(there, secret, "process", {"action": "log", "sessionId": name})["result"]

    assert (log["status"], log["error"]["code"], log["output"]) == ("unknown", "holder_gone", "before\n")
    entry = Entry.objects.get(call_id=read_id("proc", name), kind="command_ended")
    assert entry.status == "unknown"
    assert (Content.objects.get(entry_id=entry.pk).result or {})["output"] == "before\n"


@pytest.mark.slow
def test_a_record_that_stands_already_is_not_written_twice(secret: str) -> None:
    with server_process() as (holder, here):
        command = "sh -c 'echo x; sleep 45.1'"
        name = ask(here, secret, "exec", {"command": command, "background": True})["result"]["sessionId"]
        ask(here, secret, "process", {"action": "kill", "sessionId": name})
        holder.kill()
    # as if it had died between the two commits
    rows = BackgroundCommand.objects.filter(pk=read_id("proc", name))
    rows.update(state="running", ended_at=None, outcome="")
    sweep_orphans(timezone.now() + timedelta(minutes=1))
    commands_settle(timezone.now())
    assert has_ended(name)
    assert Entry.objects.filter(call_id=read_id("proc", name), kind="command_ended").count() == 1


@pytest.mark.slow
def test_a_worker_holds_what_an_asynchronous_call_left(secret: str, tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    with installation.redis(), installation.server(), installation.worker(concurrency=1):
        params = {"command": "sh -c 'echo up; read a; echo got $a; sleep 44.1'", "background": True}
        call_id = ask(installation.url, secret, "exec", params, mode="async")["id"]
        headers = {"Authorization": f"Bearer {secret}"}

        def outcome() -> dict[str, Any]:
            answer = httpx.get(f"{installation.url}/api/v1/calls/{call_id}?wait=2000", headers=headers, timeout=20)
            assert answer.status_code in {200, 202}, answer.text
            return dict(answer.json())

        until(lambda: outcome().get("status") == "completed", what="the start of the command")
        name = outcome()["result"]["sessionId"]

        def process(action: str, **more: Any) -> dict[str, Any]:
            answer = ask(installation.url, secret, "process", {"action": action, "sessionId": name, **more})
            assert answer["status"] == "completed", answer
            return dict(answer["result"])

        assert process("poll", timeout=30_000)["output"] == "up\n"
        process("write", data="it\n")
        assert process("poll", timeout=30_000)["output"] == "got it\n"
        assert process("kill")["status"] == "cancelled"
        assert not alive("44.1")
