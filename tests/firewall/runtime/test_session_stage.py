"""Calls of a session through all stages: warned, vetoed, counted, and what the record says of it."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.errors import FirewallError
from apps.firewall.identifiers import new_id
from apps.firewall.runtime.call import Action, CallResult
from apps.firewall.runtime.invoke import invoke, resume
from apps.firewall.runtime.rehearse import rehearse
from apps.firewall.runtime.sessions import Budgets, SessionName, SessionState
from apps.firewall.runtime.testing import FakeWorld, call_of
from apps.firewall.tools.running import ToolOutcome

ON = {"loopDetection": {"enabled": True}}
NAME = SessionName("production", "bot", "agent:bot:main")


class AwayError(FirewallError):
    code = "sessions_unavailable"


def snapshot(
    settings: Mapping[str, Any] = ON, *, own: Mapping[str, Any] | None = None, release: str = "2026.9"
) -> Snapshot:
    mapped = {"contextMappings": {"mark": "call.id"}}
    return build_snapshot(
        SnapshotSource(
            environment="production",
            dialect=release,
            tools=[
                ToolEntry("read", params={"type": "object"}, traits=mapped),
                ToolEntry("exec", params={"type": "object"}),
            ],
            agents=[AgentSource("bot", policy=Policy(allow=None, deny=("exec",)), settings=own or {})],
            settings=settings,
        )
    )


def in_session(tool: str = "read", *, key: str | None = "main", run: str = "", **params: Any) -> Any:
    call = call_of(tool, **params)
    return replace(call, run=run, context=CallContext(agent_id="bot", session_key=key))


async def made(world: FakeWorld, times: int, tool: str = "read", **more: Any) -> list[CallResult]:
    return [await invoke(in_session(tool, **more), world.ports) for _ in range(times)]


def codes(results: list[CallResult]) -> list[str]:
    return [str((each.error or {}).get("code", each.status)) for each in results]


async def test_a_loop_is_warned_of_and_then_refused_with_its_detector_and_count() -> None:
    world = FakeWorld(snapshot())
    results = await made(world, 22, path="a")

    [warning] = results[10].warnings
    assert (warning["code"], "generic_repeat, 10 calls" in warning["message"]) == ("loop_suspected", True)
    assert [at for at, each in enumerate(results) if each.warnings] == [10]
    assert codes(results)[19:] == ["completed", "loop_detected", "loop_detected"]
    assert results[20].judgement is not None and results[20].judgement.layer == "loop_detection"
    assert results[20].error is not None
    assert results[20].error["details"] == [{"path": "", "code": "generic_repeat", "message": "counted 20"}]
    assert len(world.executor.actions) == 20


async def test_the_record_holds_the_warning_and_what_refused() -> None:
    world = FakeWorld(snapshot())
    results = await made(world, 21, path="a")
    told = [note for note in world.ledger.notes if note.changes and "warnings" in note.changes]

    assert [(note.kind, note.call.id) for note in told] == [("call_outcome", results[10].call_id)]
    assert world.ledger.notes[-1].kind == "denial"
    assert (world.ledger.notes[-1].judgement.layer, world.ledger.notes[-1].judgement.rule) == (
        "loop_detection",
        "generic_repeat",
    )


async def test_an_agents_own_setting_goes_before_that_of_everybody() -> None:
    world = FakeWorld(snapshot(own={"loopDetection": {"enabled": False}}))

    assert set(codes(await made(world, 40, path="a"))) == {"completed"}


async def test_the_older_release_takes_thresholds_from_the_configuration() -> None:
    block = {"enabled": True, "warningThreshold": 2, "criticalThreshold": 3, "globalCircuitBreakerThreshold": 4}
    world = FakeWorld(snapshot({"loopDetection": block}, release="2026.2"))

    assert codes(await made(world, 6, path="a")) == ["completed"] * 4 + ["loop_detected"] * 2


async def test_what_the_firewall_fills_in_makes_no_call_another_one() -> None:
    world = FakeWorld(snapshot())
    results = await made(world, 21, path="a")

    assert {action.params["mark"] for action in world.executor.actions} == {str(each.call_id) for each in results[:20]}
    assert codes(results)[-1] == "loop_detected"


async def test_runs_are_looked_at_apart_in_the_newer_release() -> None:
    world = FakeWorld(snapshot())
    await made(world, 20, run="one", path="a")

    assert codes(await made(world, 1, run="two", path="a")) == ["completed"]
    assert codes(await made(world, 1, run="one", path="a")) == ["loop_detected"]


async def test_a_tool_that_does_not_exist_is_a_loop_after_ten_times() -> None:
    results = await made(FakeWorld(snapshot()), 11, tool="fly")

    assert codes(results) == ["tool_not_found"] * 10 + ["loop_detected"]


async def test_a_tool_outside_the_set_answers_like_one_that_does_not_exist_also_in_a_loop() -> None:
    outside = await made(FakeWorld(snapshot()), 12, tool="exec")
    unknown = await made(FakeWorld(snapshot()), 12, tool="fly")

    assert codes(outside) == codes(unknown)
    assert [str(each.error).replace("exec", "fly") for each in outside] == [str(each.error) for each in unknown]


async def test_a_call_without_a_session_is_looked_at_by_nobody() -> None:
    world = FakeWorld(snapshot())

    assert set(codes(await made(world, 40, key=None, path="a"))) == {"completed"}
    assert world.sessions.states == {}


async def test_every_call_is_counted_once_wherever_it_was_refused() -> None:
    world = FakeWorld(snapshot({}))
    await made(world, 2)
    await made(world, 3, tool="fly")

    state = world.sessions.states[NAME]
    assert (state.calls, state.denied) == (5, 3)


async def test_a_session_that_cannot_be_read_refuses_the_call() -> None:
    world = FakeWorld(snapshot())
    world.sessions.fails = AwayError("the database is away")
    [result] = await made(world, 1)

    assert codes([result]) == ["sessions_unavailable"]
    assert world.executor.actions == []
    assert [each["code"] for each in result.warnings] == ["session_not_recorded"]


async def test_an_end_that_cannot_be_remembered_changes_no_outcome() -> None:
    world = FakeWorld(snapshot())

    def answer(action: Action) -> ToolOutcome:
        world.sessions.fails = AwayError("the database is away")
        return ToolOutcome(result={"ok": True})

    world.executor.answer = answer
    [result] = await made(world, 1)

    assert (result.status, [each["code"] for each in result.warnings]) == ("completed", ["session_not_recorded"])


async def test_a_call_that_a_person_allowed_is_counted_once_and_finds_its_own_record() -> None:
    world = FakeWorld(snapshot())
    result = (await made(world, 1, path="a"))[0]
    [action] = world.executor.actions
    open_again = replace(world.sessions.states[NAME].history.records[0], equal="")
    world.sessions.states[NAME] = replace(
        world.sessions.states[NAME], history=replace(world.sessions.states[NAME].history, records=(open_again,))
    )

    resumed = await resume(action, approval_id=new_id(), ports=world.ports)
    state = world.sessions.states[NAME]

    assert (resumed.status, resumed.call_id, state.calls) == ("completed", result.call_id, 1)
    assert [record.is_open for record in state.history.records] == [False]


async def test_of_calls_at_once_no_more_run_than_the_budget_allows() -> None:
    world = FakeWorld(snapshot({}))
    await made(world, 1)
    world.sessions.states[NAME] = replace(world.sessions.states[NAME], budgets=Budgets(max_calls=4))
    results = await asyncio.gather(*(invoke(in_session(), world.ports) for _ in range(9)))

    assert sorted(codes(results)) == ["completed"] * 3 + ["session_budget_spent"] * 6


async def test_a_rehearsal_says_what_the_session_would_say_and_leaves_no_trace() -> None:
    world = FakeWorld(snapshot())
    await made(world, 20, path="a")
    before: SessionState = world.sessions.states[NAME]
    rehearsal = await rehearse(in_session(path="a"), world.ports)

    assert rehearsal.refusal is not None and rehearsal.refusal.code == "loop_detected"
    assert (rehearsal.runs, rehearsal.judgement.layer) == (False, "loop_detection")
    assert world.sessions.states[NAME] is before
