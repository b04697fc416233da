"""Ending a call before it has finished, and calls that are only queued."""

import asyncio
from dataclasses import replace

import pytest

from apps.firewall.engine.exec_policy import AllowEntry
from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.abort import Abort, CallAbortedError
from apps.firewall.runtime.call import Action, Deferral
from apps.firewall.runtime.invoke import invoke, resume
from apps.firewall.runtime.ports import NoQueue, Note
from apps.firewall.runtime.testing import FakeExecutor, FakeLedger, FakeWorld, call_of
from apps.firewall.tools.running import ToolOutcome
from tests.firewall.runtime.test_invoke import LISTED, code, snapshot, world


class Slow(FakeExecutor):
    async def run(self, action: Action, tool: ToolEntry) -> ToolOutcome:
        await asyncio.sleep(60)
        raise AssertionError


async def started(here: FakeWorld, abort: Abort) -> "asyncio.Task[object]":
    task: asyncio.Task[object] = asyncio.create_task(invoke(call_of("read", path="a"), here.ports, abort=abort))
    async with asyncio.timeout(60):
        while not here.ledger.notes:
            await asyncio.sleep(0)
    return task


async def test_an_aborted_call_says_by_whom_and_is_raised_as_abort() -> None:
    here, abort = world(), Abort()
    here.executor = Slow()
    task = await started(here, abort)

    abort.ask(by="user:olga")
    task.cancel()

    with pytest.raises(CallAbortedError) as raised:
        await task
    assert (raised.value.result.status, code(raised.value.result)) == ("cancelled", "cancelled")
    assert here.ledger.kinds == [("call_intent", "started"), ("call_outcome", "cancelled")]
    assert here.ledger.notes[-1].error == {"code": "cancelled", "message": "cancelled by olga", "details": []}


async def test_the_first_who_asks_is_the_one_on_record() -> None:
    abort = Abort()

    abort.ask(by="token:a", reason="disconnected")
    abort.ask(by="user:olga")

    assert abort.error == {
        "code": "disconnected",
        "message": "its caller a went away before it was answered",
    }


async def test_an_abort_while_the_outcome_is_stored_loses_nothing() -> None:
    storing, may_store = asyncio.Event(), asyncio.Event()

    class SlowLedger(FakeLedger):
        async def record(self, note: Note) -> None:
            if note.kind == "call_outcome":
                storing.set()
                await may_store.wait()
            await super().record(note)

    here, abort = world(), Abort()
    here.ledger = SlowLedger()
    task = await started(here, abort)
    async with asyncio.timeout(60):
        await storing.wait()

    abort.ask(by="user:olga")
    task.cancel()
    asyncio.get_running_loop().call_soon(may_store.set)
    await asyncio.wait({task})

    assert here.ledger.kinds == [("call_intent", "started"), ("call_outcome", "completed")]


async def test_a_deferred_call_passes_every_stage_and_is_queued_without_an_intent() -> None:
    here = world()

    result = await invoke(replace(call_of("exec", command="ls"), deferral=Deferral()), here.ports)

    assert (result.status, here.ledger.kinds, here.executor.actions) == ("queued", [], [])
    assert [action.argv for action in here.queue.waiting] == [["ls"]]


async def test_a_deferred_call_that_is_refused_is_not_queued() -> None:
    here = world(deny=("read",))

    result = await invoke(replace(call_of("read", path="a"), deferral=Deferral()), here.ports)

    assert (result.status, code(result), here.queue.waiting) == ("denied", "tool_not_found", [])


async def test_without_a_queue_a_deferred_call_is_refused() -> None:
    here = world()

    result = await invoke(replace(call_of("read", path="a"), deferral=Deferral()), replace(here.ports, queue=NoQueue()))

    assert (result.status, code(result)) == ("denied", "queue_missing")


async def test_what_was_queued_runs_once_it_is_taken() -> None:
    here = world()
    await invoke(replace(call_of("exec", command="ls"), deferral=Deferral()), here.ports)

    result = await resume(here.queue.waiting[0], approval_id=None, ports=here.ports)

    assert result.status == "completed"
    assert here.ledger.kinds == [("call_intent", "started"), ("call_outcome", "completed")]


async def test_what_nobody_was_asked_about_may_find_other_files_when_it_is_taken() -> None:
    here = world()
    await invoke(replace(call_of("exec", command="ls"), deferral=Deferral()), here.ports)
    here.executor.content = "sha256:1"

    result = await resume(here.queue.waiting[0], approval_id=None, ports=here.ports)

    assert result.status == "completed"


async def test_what_was_queued_and_by_now_needs_a_person_does_not_run() -> None:
    here = world(approvals=LISTED)
    await invoke(replace(call_of("exec", command="ls"), deferral=Deferral()), here.ports)
    here.snapshot = snapshot(approvals={})

    result = await resume(here.queue.waiting[0], approval_id=None, ports=here.ports)

    assert (result.status, code(result), here.executor.actions) == ("denied", "action_changed", [])


async def test_a_granted_command_is_counted_once_when_it_is_taken() -> None:

    here = world(approvals={})
    here.approvals.entries = [AllowEntry(pattern="/bin/ls", argv=("ls",), source="allow-always")]
    await invoke(replace(call_of("exec", command="ls"), deferral=Deferral()), here.ports)
    assert here.approvals.used == []

    await resume(here.queue.waiting[0], approval_id=None, ports=here.ports)

    assert len(here.approvals.used) == 1


async def test_a_deferred_call_that_a_person_is_asked_about_is_kept_first() -> None:
    here = world(approvals={})

    result = await invoke(replace(call_of("exec", command="ls"), deferral=Deferral()), here.ports)

    assert (result.status, here.queue.waiting) == ("awaiting_approval", [])
    assert [call.id for call in here.queue.asked] == [result.call_id]
