"""Whatever happens on the way of calls: none runs past a stage, and every one that started has one outcome.

The machine is written over the tables of stages: a stage that is added there is watched, and made to fail, as well.
"""

import asyncio
import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from apps.firewall.errors import FirewallError
from apps.firewall.identifiers import new_id
from apps.firewall.runtime import invoke as invoke_module
from apps.firewall.runtime.call import Action, Call, CallResult, Deferral
from apps.firewall.runtime.hooks import Hook
from apps.firewall.runtime.invoke import invoke, resume
from apps.firewall.runtime.ports import ApprovalRequest, Standing
from apps.firewall.runtime.stages import AFTER, STAGES, Stage
from apps.firewall.runtime.stages.run import Run
from apps.firewall.runtime.testing import FakeHooks, FakeWorld, call_of
from apps.firewall.tools.running import ToolOutcome, failed
from tests.firewall.runtime.test_invoke import LISTED, snapshot

BEFORE_RUN = [stage.name for stage in STAGES if stage.name != "execute"]
FAULTS = [None] * 6 + [
    (stage.name, when, what) for stage in (*STAGES, *AFTER) for when in ("before", "after") for what in ("ours", "bug")
]
HOOKS: dict[str, Any] = {
    "none": None,
    "block": {"block": True},
    "rewrite": {"params": {"path": "b"}},
    "spoil": {"params": {"path": 7}},
    "ask": {"requireApproval": {"title": "Sure?", "description": "A plugin wants to know."}},
    "raise": ValueError("no"),
}
ANSWERS: dict[str, Any] = {
    "fine": ToolOutcome(result={"ok": True}),
    "fails": failed("not_found", "`a` does not exist"),
    "odd": ToolOutcome(result={"not": object()}),
    "breaks": RuntimeError("a secret"),
    "cancelled": asyncio.CancelledError(),
}
CALLS = st.sampled_from(
    [
        ("read", {"path": "a"}),
        ("read", {"offset": 0}),
        ("write", {"path": "a", "content": "b"}),
        ("exec", {"command": "ls"}),
        ("exec", {"command": "ls | ls"}),
        ("nothing", {}),
    ]
)


class OursError(FirewallError):
    """A stage that says why it cannot go on."""

    code = "ours"


def hook_of(kind: str) -> tuple[Hook, ...]:
    async def handler(event: Any) -> Any:
        if isinstance(HOOKS[kind], Exception):
            raise HOOKS[kind]
        return HOOKS[kind]

    return () if kind == "none" else (Hook(plugin="p1", name="h1", handler=handler),)


class Stages(RuleBasedStateMachine):
    """One world, whose policy, people, ledger, hooks and tools change between calls."""

    def __init__(self) -> None:
        super().__init__()
        self.here = FakeWorld(snapshot())
        self.here.executor.answer = self.run_tool
        self.answer: Any = ANSWERS["fine"]
        self.fault: Any = None
        self.passed: list[str] = []
        self.runs: Counter[UUID] = Counter()
        self.allowed: set[UUID] = set()
        self.told: dict[UUID, CallResult] = {}
        self.open: list[tuple[Action, UUID | None]] = []
        self.broken: list[tuple[str, Action]] = []
        self.lost: set[UUID] = set()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(invoke_module, "STAGES", tuple(self.watched(stage) for stage in STAGES))
        self.patch.setattr(invoke_module, "AFTER", tuple(self.watched(stage) for stage in AFTER))
        self.patch.setattr(invoke_module, "RETRY_OUTCOME_S", (0.0,))

    def teardown(self) -> None:
        self.patch.undo()

    def watched(self, stage: Stage) -> Stage:
        async def run(call: Run) -> None:
            self.fail(stage.name, "before")
            await stage.run(call)
            self.fail(stage.name, "after")
            self.passed.append(stage.name)

        return replace(stage, run=run)

    def fail(self, stage: str, when: str) -> None:
        if self.fault is not None and self.fault[:2] == (stage, when):
            raise OursError("on purpose") if self.fault[2] == "ours" else RuntimeError("on purpose")

    def run_tool(self, action: Action) -> ToolOutcome:
        """Be every tool, and note what had to happen before and did not: an error here would only be an outcome."""
        call_id = UUID(action.call_id)
        notes = [note.kind for note in self.here.ledger.notes if note.call.id == call_id]
        asked = {request.call.id for request in self.here.approvals.asked}
        holds = {
            "every stage before it passed": self.passed == BEFORE_RUN,
            "its intent and nothing else is on record": notes == ["call_intent"],
            "what a hook made of its params was looked at": action.params.get("path") != 7,
            "who was asked allowed it": call_id not in asked or call_id in self.allowed,
        }
        self.broken += [(claim, action) for claim, is_so in holds.items() if not is_so]
        self.runs[call_id] += 1
        if isinstance(self.answer, BaseException):
            raise self.answer
        assert isinstance(self.answer, ToolOutcome)
        return self.answer

    def go(self, work: Any, call_id: UUID) -> CallResult | None:
        self.passed.clear()
        if "call_outcome" in self.here.ledger.refuses:
            self.lost.add(call_id)
        result: CallResult | None = None
        with suppress(asyncio.CancelledError):
            result = asyncio.run(self.settled(work))
        if result is not None:
            self.told[call_id] = result
        return result

    async def settled(self, work: Any) -> CallResult:
        result: CallResult = await work
        await self.here.hooks.settle()
        return result

    @rule(
        asked=CALLS, fault=st.sampled_from(FAULTS), answer=st.sampled_from(sorted(ANSWERS)),
        hook=st.sampled_from(sorted(HOOKS)), is_later=st.booleans(),
    )  # fmt: skip
    def call(self, asked: tuple[str, dict[str, Any]], fault: Any, answer: str, hook: str, is_later: bool) -> None:
        self.fault, self.answer = fault, ANSWERS[answer]
        self.here.hooks = FakeHooks(asked=hook_of(hook))
        made: Call = replace(call_of(asked[0], **asked[1]), deferral=Deferral() if is_later else None)
        before = len(self.here.queue.waiting), len(self.here.approvals.asked)
        self.go(invoke(made, self.here.ports), made.id)
        waiting, requests = self.here.queue.waiting[before[0] :], self.here.approvals.asked[before[1] :]
        assert not ((waiting or requests) and self.runs[made.id]), "it ran though it was to wait"
        self.open += [(action, None) for action in waiting]
        self.open += [(request.action, new_id()) for request in requests if isinstance(request, ApprovalRequest)]

    @rule(fault=st.sampled_from(FAULTS), answer=st.sampled_from(sorted(ANSWERS)), says=st.booleans(), data=st.data())
    def go_on(self, fault: Any, answer: str, says: bool, data: Any) -> None:
        """Have a person answer, or a worker take what waits; each action is taken once."""
        if not self.open:
            return
        action, approval_id = self.open.pop(data.draw(st.integers(0, len(self.open) - 1)))
        if approval_id is not None and not says:
            return
        if approval_id is not None:
            self.allowed.add(UUID(action.call_id))
        self.fault, self.answer = fault, ANSWERS[answer]
        stored = Action.from_json(action.to_json())
        self.go(resume(stored, approval_id=approval_id, ports=self.here.ports), UUID(action.call_id))

    @rule(deny=st.sampled_from([(), ("exec",), ("read", "write")]), is_listed=st.booleans())
    def publish(self, deny: tuple[str, ...], is_listed: bool) -> None:
        self.here.snapshot = snapshot(deny=deny, approvals=LISTED if is_listed else {})

    @rule(tool=st.sampled_from(["read", "exec"]), is_gone=st.booleans())
    def withdraw(self, tool: str, is_gone: bool) -> None:
        standing = {tool: Standing(code="tool_disabled", message="it was switched off")} if is_gone else {}
        self.here.tool_states.standings = standing

    @rule(kinds=st.sets(st.sampled_from(["denial", "call_intent", "call_outcome"]), max_size=1))
    def break_ledger(self, kinds: set[str]) -> None:
        self.here.ledger.refuses = kinds

    @rule(is_changed=st.booleans())
    def change_programs(self, is_changed: bool) -> None:
        self.here.executor.content = "sha256:1" if is_changed else "sha256:0"

    @invariant()
    def nothing_ran_past_a_stage(self) -> None:
        assert not self.broken

    @invariant()
    def every_started_call_has_exactly_one_outcome(self) -> None:
        kinds = Counter((note.call.id, note.kind) for note in self.here.ledger.notes)
        started = {call_id for call_id, kind in kinds if kind == "call_intent"}
        for call_id in started:
            assert kinds[call_id, "call_intent"] == 1 and kinds[call_id, "denial"] == 0
            assert kinds[call_id, "call_outcome"] == (call_id not in self.lost)
            told = self.told.get(call_id)
            assert call_id not in self.lost or told is None or told.status == "unknown"
        assert all(kind != "call_outcome" or call_id in started for call_id, kind in kinds)

    @invariant()
    def nothing_runs_twice_or_without_its_intent(self) -> None:
        started = {note.call.id for note in self.here.ledger.notes if note.kind == "call_intent"}
        assert all(count == 1 and call_id in started for call_id, count in self.runs.items())

    @invariant()
    def nobody_is_told_of_a_result_that_no_stage_looked_at(self) -> None:
        for result in self.told.values():
            assert not re.search("a secret|on purpose.*result", str(result.error))
            assert result.result is None or result.facts, result


Stages.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestStages = pytest.mark.unhurried(Stages.TestCase)
