"""What is written to a background command, as a stage of its call: who is asked, what is refused, what passes."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from apps.firewall.runtime.call import Deferral, Host
from apps.firewall.runtime.hooks import Hook
from apps.firewall.runtime.invoke import invoke, resume
from apps.firewall.runtime.testing import FakeExecutor, FakeHooks, FakeWorld, call_of
from apps.firewall.tools.background.ports import KeptCommand
from tests.firewall.runtime.test_hook_stages import answering
from tests.firewall.runtime.test_invoke import code, snapshot

NAME = "proc_01jd8m3x9kq2v7n5r0t4w6y8zb"
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def world(*asked: Hook, reads_code: str = "sh", status: Any = "running", **settings: Any) -> FakeWorld:
    kept = KeptCommand(
        session_id=NAME,
        status=status,
        command="sh",
        workdir="",
        has_terminal=False,
        started_at=NOON,
        runtime_ms=0,
        reads_code=reads_code,
    )
    executor = FakeExecutor(tools=frozenset({"process"}), commands={NAME: kept})
    return FakeWorld(snapshot(exec_settings=settings), executor=executor, hooks=FakeHooks(asked=asked))


def writing(action: str = "write", **params: Any) -> Any:
    return call_of("process", action=action, sessionId=NAME, **params)


@pytest.mark.parametrize(
    ("action", "params"),
    [
        ("write", {"data": "ls\n"}),
        ("submit", {}),
        ("paste", {"text": "ls"}),
        ("send-keys", {"keys": ["C-c", "up", "enter"]}),
    ],
)
async def test_every_way_to_write_to_a_shell_asks(action: str, params: Any) -> None:
    here = world()
    result = await invoke(writing(action, **params), here.ports)
    assert result.status == "awaiting_approval"
    assert result.judgement is not None and result.judgement.layer == "exec_policy"
    assert here.executor.actions == []


@pytest.mark.parametrize(
    ("action", "params"),
    [("write", {"eof": True}), ("send-keys", {"keys": ["C-c", "Ctrl-D"]}), ("poll", {}), ("kill", {}), ("paste", {})],
)
async def test_what_writes_nothing_that_runs_asks_nobody(action: str, params: Any) -> None:
    assert (await invoke(writing(action, **params), world().ports)).status == "completed"


async def test_data_passes_and_so_does_what_is_too_late() -> None:
    assert (await invoke(writing(data="ls\n"), world(reads_code="").ports)).status == "completed"
    assert (await invoke(writing(data="ls\n"), world(status="completed").ports)).status == "completed"


async def test_a_command_that_is_not_there_is_refused() -> None:
    here = world()
    here.executor.commands.clear()
    assert code(await invoke(writing(data="ls\n"), here.ports)) == "session_not_found"


async def test_the_rules_of_commands_say_who_is_asked() -> None:
    assert (await invoke(writing(data="x"), world(security="full", ask="off").ports)).status == "completed"
    assert code(await invoke(writing(data="x"), world(security="allowlist", ask="off").ports)) == "input_denied"
    strict = world(security="full", ask="off", strictInlineEval=True)
    assert (await invoke(writing(data="x"), strict.ports)).status == "awaiting_approval"


async def test_a_plugin_that_asks_too_offers_no_always() -> None:
    wish = {"requireApproval": {"title": "Sure?", "description": "mine", "allowedDecisions": ["allow-always", "deny"]}}
    here = world(answering(wish))
    await invoke(writing(data="ls\n"), here.ports)
    asked = here.approvals.asked[0].wish
    assert asked is not None and asked.decisions == ("deny",)
    assert "mine" in asked.description and "`sh` runs what it reads" in asked.description


async def test_a_queued_input_that_by_now_asks_does_not_run() -> None:
    here = world(security="full", ask="off")
    await invoke(replace(writing(data="ls\n"), deferral=Deferral()), here.ports)
    here.snapshot = snapshot(exec_settings={"security": "allowlist", "ask": "on-miss"})
    result = await resume(here.queue.waiting[0], approval_id=None, ports=here.ports)
    assert code(result) == "action_changed"
    assert here.executor.actions == []


async def test_what_another_machine_would_write_asks_because_nobody_here_knows_the_command() -> None:
    here = world(reads_code="")
    result = await invoke(replace(writing(data="ls\n"), host=Host(id="gw", name="gw", wait_s=60)), here.ports)
    assert result.status == "awaiting_approval"
