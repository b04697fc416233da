"""A rehearsal says what a call would meet, and leaves no trace of itself."""

import asyncio
from typing import Any

import pytest

from apps.firewall.engine.exec_policy import AllowEntry
from apps.firewall.runtime.ports import Standing
from apps.firewall.runtime.rehearse import Rehearsal, rehearse
from apps.firewall.runtime.testing import FakeApprovals, FakeExecutor, FakeWorld, call_of
from tests.firewall.runtime.test_invoke import snapshot


def world(**members: Any) -> FakeWorld:
    return FakeWorld(snapshot=snapshot(**members))


def rehearsed(world: FakeWorld, tool: str, **params: Any) -> Rehearsal:
    return asyncio.run(rehearse(call_of(tool, **params), world.ports))


def left_no_trace(world: FakeWorld) -> bool:
    return not (world.ledger.notes or world.executor.actions or world.approvals.asked or world.approvals.used)


def test_a_call_that_would_run_does_not() -> None:
    here = world()
    found = rehearsed(here, "read", path="a.md")
    assert (found.allowed, found.runs, found.asks, found.params) == (True, True, False, {"path": "a.md"})
    assert left_no_trace(here)


def test_mistakes_are_told_all_at_once() -> None:
    here = world()
    found = rehearsed(here, "read", path="", offset="soon")
    assert found.allowed
    assert {problem["path"] for problem in found.problems} == {"path", "offset"}
    assert not found.runs
    assert left_no_trace(here)


def test_params_are_looked_at_though_policy_denies() -> None:
    found = rehearsed(world(deny=("read",)), "read")
    assert not found.allowed
    assert found.judgement.layer == "agent"
    assert [problem["code"] for problem in found.problems] == ["required_field_missing"]


def test_a_tool_that_does_not_exist_is_denied() -> None:
    found = rehearsed(world(), "nothing")
    assert (found.allowed, found.judgement.layer, list(found.problems)) == (False, "unknown_tool", [])


def test_a_command_that_would_ask_asks_nobody() -> None:
    here = world(exec_settings={"ask": "always", "security": "allowlist"})
    found = rehearsed(here, "exec", command="ls")
    assert (found.allowed, found.asks, found.runs, found.judgement.verdict) == (True, True, True, "ask")
    assert left_no_trace(here)


def test_a_standing_answer_holds_and_is_not_counted() -> None:
    here = world(exec_settings={"ask": "on-miss", "security": "allowlist"}, approvals={})
    here.approvals = FakeApprovals(entries=[AllowEntry(pattern="/bin/ls")])
    found = rehearsed(here, "exec", command="ls")
    assert (found.runs, found.asks) == (True, False)
    assert left_no_trace(here)


def test_a_withdrawn_tool_would_be_refused() -> None:
    here = world()
    here.tool_states.standings["read"] = Standing(code="tool_disabled", message="the tool `read` is switched off")
    found = rehearsed(here, "read", path="a.md")
    assert (found.allowed, found.judgement.layer) == (False, "tool_state")


def test_what_nothing_runs_is_said() -> None:
    here = world()
    here.executor = FakeExecutor(tools=frozenset())
    found = rehearsed(here, "read", path="a.md")
    assert found.allowed
    assert found.refusal is not None
    assert (found.refusal.code, found.runs) == ("no_executor", False)


@pytest.mark.parametrize("params", [{}, {"path": "x"}])
def test_a_broken_schema_is_a_refusal_and_no_crash(params: dict[str, Any]) -> None:
    found = rehearsed(world(), "broken", **params)
    assert found.refusal is not None
    assert not found.runs
