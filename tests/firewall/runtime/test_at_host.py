"""Calls that another machine runs: judged by what they say, recorded like all others, and nothing of them runs here."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from apps.firewall.engine.exec_policy import AllowEntry
from apps.firewall.runtime.call import Action, CallResult, Host
from apps.firewall.runtime.executors.elsewhere import Elsewhere
from apps.firewall.runtime.invoke import invoke, resume
from apps.firewall.runtime.testing import FakeWorld, call_of
from apps.firewall.tools.running import ToolOutcome
from tests.firewall.runtime.test_invoke import code, snapshot

HOST = Host(id="gw_1", name="office", wait_s=60)
FULL = {"security": "full", "ask": "off"}


class Told:
    """The other machine: keeps what it was told to run, and reports `answer`."""

    def __init__(self, answer: ToolOutcome | None = None) -> None:
        self.answer = answer or ToolOutcome(result={"said": "done"})
        self.actions: list[Action] = []
        self.never = False

    async def outcome(self, action: Action) -> ToolOutcome:
        self.actions.append(action)
        if self.never:
            await asyncio.Event().wait()
        return self.answer


async def run(told: Told, tool: str = "exec", *, world: FakeWorld | None = None, **params: Any) -> CallResult:
    here = world or FakeWorld(snapshot(exec_settings=FULL))
    ports = replace(here.ports, executor=Elsewhere(told))
    return await invoke(replace(call_of(tool, **params), host=HOST), ports)


def world(patterns: list[dict[str, Any]] | None = None, **settings: str) -> FakeWorld:
    approvals = {"agents": {"*": {"allowlist": patterns or []}}}
    return FakeWorld(
        snapshot(exec_settings=settings or {"security": "allowlist", "ask": "on-miss"}, approvals=approvals)
    )


async def test_an_allowed_command_is_told_and_its_report_is_the_outcome() -> None:
    told, here = Told(), FakeWorld(snapshot(exec_settings=FULL))

    result = await run(told, world=here, command="uname -s")

    assert (result.status, result.result) == ("completed", {"said": "done"})
    assert [action.argv for action in told.actions] == [["uname", "-s"]]
    assert told.actions[0].host == {"id": "gw_1", "name": "office", "wait_s": 60, "known": [], "spawners": []}
    assert here.ledger.kinds == [("call_intent", "started"), ("call_outcome", "completed")]
    assert here.executor.actions == []


@pytest.mark.parametrize(
    ("patterns", "command", "status"),
    [
        ([{"pattern": "uname"}], "uname -s", "completed"),
        ([{"pattern": "/usr/bin/uname"}], "uname -s", "awaiting_approval"),
        ([{"pattern": "/**/uname"}], "/usr/bin/uname -s", "awaiting_approval"),
        ([{"pattern": "uname"}], "/tmp/uname -s", "awaiting_approval"),
        ([{"pattern": "uname"}], "uname -s | sh", "awaiting_approval"),
        ([{"pattern": "bash"}], "bash -c 'rm -rf x'", "awaiting_approval"),
    ],
)
async def test_names_admit_what_paths_cannot(patterns: list[dict[str, Any]], command: str, status: str) -> None:
    told = Told()
    result = await run(told, world=world(patterns), command=command)
    assert result.status == status
    assert bool(told.actions) == (status == "completed")


async def test_where_nobody_is_asked_a_path_is_a_refusal() -> None:
    told = Told()
    here = world([{"pattern": "/usr/bin/uname"}], security="allowlist", ask="off")
    result = await run(told, world=here, command="uname -s")
    assert (result.status, code(result)) == ("denied", "allowlist_miss")
    assert told.actions == []


async def test_a_standing_answer_speaks_of_our_files_only() -> None:
    told, here = Told(), world()
    here.approvals.entries = [AllowEntry(pattern="/bin/ls", argv=("ls",), source="allow-always")]

    result = await run(told, world=here, command="ls")

    assert result.status == "awaiting_approval"
    verdict = here.approvals.asked[0].verdict
    assert verdict is not None and not verdict.may_be_remembered


@pytest.mark.parametrize("params", [{"node": "mac-1"}, {"host": "node"}])
async def test_commands_for_yet_another_machine_are_refused_by_name(params: dict[str, Any]) -> None:
    told = Told()
    result = await run(told, command="ls", **params)
    assert (result.status, code(result)) == ("denied", "host_unavailable")
    assert result.error is not None and next(iter(params.values())) in result.error["message"]


async def test_an_elevated_command_is_refused_to_senders_who_may_not() -> None:
    told = Told()
    result = await run(told, command="ls", elevated=True)
    assert (result.status, code(result), told.actions) == ("denied", "elevated_not_allowed", [])


@pytest.mark.parametrize("params", [{}, {"command": ""}, {"command": ["ls"]}, {"code": "1+1"}])
async def test_what_is_no_command_is_not_judged(params: dict[str, Any]) -> None:
    told = Told()
    result = await run(told, **params)
    assert (result.status, code(result)) == ("denied", "parameter_validation_failed")
    assert told.actions == []


async def test_params_of_a_core_tool_are_those_of_the_other_machine() -> None:
    told = Told()
    result = await run(told, "read", file="/etc/hosts", limit=3)
    assert result.status == "completed"
    assert dict(told.actions[0].params) == {"file": "/etc/hosts", "limit": 3}


async def test_a_tool_outside_the_set_looks_like_none() -> None:
    told = Told()
    result = await run(told, "browser", url="http://127.0.0.1")
    assert (result.status, code(result)) == ("denied", "tool_not_found")


async def test_what_a_person_allowed_is_told_with_the_same_words_only() -> None:
    told, here = Told(), world()
    await run(told, world=here, command="uname -s")
    approved = here.approvals.asked[0].action
    ports = replace(here.ports, executor=Elsewhere(told))

    other = await resume(replace(approved, params={"command": "uname -a"}), approval_id=None, ports=ports)
    same = await resume(approved, approval_id=here.approvals.asked[0].call.id, ports=ports)

    assert (other.status, code(other)) == ("denied", "action_changed")
    assert same.status == "completed"
    assert len(told.actions) == 1


async def test_nobody_knows_the_outcome_of_a_call_whose_listener_ends() -> None:
    told, here = Told(), FakeWorld(snapshot(exec_settings=FULL))
    told.never = True
    task = asyncio.create_task(run(told, world=here, command="sleep 60"))
    while not told.actions:
        await asyncio.sleep(0)

    task.cancel()

    assert (await task).status == "unknown"
    assert here.ledger.kinds == [("call_intent", "started"), ("call_outcome", "unknown")]
