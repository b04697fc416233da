"""The round after a call: hooks are told, and change nothing."""

import asyncio
from typing import Any

import pytest

from apps.firewall.engine.dialect import DIALECTS, Dialect
from apps.firewall.runtime.hooks import AfterEvent, Hook, after_tool_call, hook_rules

BOTH = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)


def _event(**more: Any) -> AfterEvent:
    return AfterEvent(tool="read", params={"path": "/a"}, duration_ms=12, **({"result": {"text": ["x"]}} | more))


@BOTH
async def test_every_hook_is_told_of_success_and_failure_alike(dialect: Dialect) -> None:
    told: list[Any] = []

    async def handler(event: AfterEvent) -> None:
        told.append((event.params, event.result, event.error, event.duration_ms))

    hook = Hook(plugin="p1", handler=handler)
    await after_tool_call([hook], _event(), hook_rules(dialect))
    await after_tool_call([hook], _event(result=None, error={"code": "timeout"}), hook_rules(dialect))
    assert told == [({"path": "/a"}, {"text": ["x"]}, None, 12), ({"path": "/a"}, None, {"code": "timeout"}, 12)]


@BOTH
@pytest.mark.parametrize("strict", [True, False])
async def test_a_failing_hook_is_reported_and_changes_nothing(dialect: Dialect, strict: bool) -> None:
    async def scribbler(event: AfterEvent) -> None:
        event.result["text"].append("y")
        event.params.clear()
        raise RuntimeError("boom")

    async def hangs(_event: AfterEvent) -> None:
        await asyncio.Event().wait()

    async def fine(event: AfterEvent) -> Any:
        return {"result": "mine"}

    event = _event()
    hooks = [
        Hook(plugin="p1", handler=scribbler),
        Hook(plugin="p2", handler=hangs, limit_ms=20, priority=1),
        Hook(plugin="p3", handler=fine, priority=-1),
    ]
    reports = await after_tool_call(hooks, event, hook_rules(dialect, strict=strict))
    assert event == _event()
    assert [(each.plugin, each.status, each.cause) for each in reports] == [
        ("p2", "failed", "it was not done in 20 ms"),
        ("p1", "failed", "it raised RuntimeError"),
        ("p3", "passed", ""),
    ]


async def test_hooks_do_not_wait_for_one_another() -> None:
    everybody = asyncio.Barrier(20)

    async def meets(_event: AfterEvent) -> None:
        await everybody.wait()

    hooks = [Hook(plugin=f"p{at}", handler=meets, limit_ms=60_000) for at in range(20)]
    reports = await after_tool_call(hooks, _event(), hook_rules(DIALECTS["2026.9"]))
    assert [each.status for each in reports] == ["passed"] * 20


@BOTH
async def test_a_result_that_cannot_be_told_is_a_failure_of_telling_only(dialect: Dialect) -> None:
    async def fine(_event: AfterEvent) -> None:
        return None

    reports = await after_tool_call([Hook(plugin="p1", handler=fine)], _event(result=object()), hook_rules(dialect))
    assert [(each.status, each.cause) for each in reports] == [
        ("failed", "it could not be told: a value of kind object is no JSON")
    ]
