"""The round before a call: who is asked, what their answers come to, and what a bad one can do."""

import asyncio
import contextlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.firewall.engine.dialect import DIALECTS, Dialect
from apps.firewall.runtime.hooks import BeforeEvent, BeforeOutcome, Hook, before_tool_call, hook_rules
from apps.firewall.runtime.hooks.json_copy import NotJsonError

NEWER, OLDER = DIALECTS["2026.9"], DIALECTS["2026.2"]
BOTH = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
EVENT = BeforeEvent(tool="exec", params={"a": 1, "deep": {"b": [2]}}, call_id="c1", facts={"agent": "main"})
VECTORS = Path(__file__).parents[3] / "conformance" / "hooks.jsonl"


def _answers(answer: Any, plugin: str = "p1", **more: Any) -> Hook:
    async def handler(_event: BeforeEvent) -> Any:
        return answer

    return Hook(plugin=plugin, handler=handler, **more)


def _raises(error: BaseException, plugin: str = "p1") -> Hook:
    async def handler(_event: BeforeEvent) -> Any:
        raise error

    return Hook(plugin=plugin, handler=handler)


def _hangs(plugin: str = "p1", **more: Any) -> Hook:
    async def handler(_event: BeforeEvent) -> Any:
        await asyncio.Event().wait()

    return Hook(plugin=plugin, handler=handler, **more)


async def _round(dialect: Dialect, *hooks: Hook, strict: bool = True, event: BeforeEvent = EVENT) -> BeforeOutcome:
    return await before_tool_call(hooks, event, hook_rules(dialect, strict=strict))


def _circle() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


class _Odd(dict[str, Any]):
    def get(self, *_given: Any) -> Any:
        raise RuntimeError("read me not")


BAD_HOOKS = [
    _raises(ValueError("secret=abc")),
    _raises(SystemExit(3)),
    _raises(asyncio.CancelledError()),
    _hangs(limit_ms=20),
    _answers("yes"),
    _answers([{"block": True}]),
    _answers({"block": "yes"}),
    _answers({"params": [1]}),
    _answers({"blockReason": 5}),
    _answers({"requireApproval": True}),
    _answers({"params": {"a": object()}}),
    _answers({"params": {"a": float("nan")}}),
    _answers({"params": {1: 2}}),
    _answers({"params": {"a": _circle()}}),
    _answers({"params": {"a": "x" * 2_000_000}}),
    _answers({"params": {"a": [0] * 500_000}}),
    _answers({"params": {"a": 1 << 9_000_000}}),
    _answers(_Odd(params={"a": 2})),
    Hook(plugin="p1", handler=lambda _event: {"params": {}}),  # type: ignore[arg-type, return-value] # the mistake
]


@BOTH
@pytest.mark.parametrize("bad", BAD_HOOKS, ids=range(len(BAD_HOOKS)))
async def test_whatever_goes_wrong_with_a_hook_our_own_runtime_does_not_run_the_call(
    dialect: Dialect, bad: Hook
) -> None:
    outcome = await _round(dialect, bad, _answers({"block": False}, "p2"))
    assert (outcome.blocked, outcome.kind, outcome.params) == (True, "failure", None)
    assert outcome.reason.startswith("the hook of `p1` failed: ")
    assert outcome.reports[0].status == "failed"
    assert "secret" not in outcome.reason + outcome.reports[0].cause


async def test_the_older_release_passes_a_failing_hook_over() -> None:
    outcome = await _round(OLDER, _raises(ValueError("boom")), _answers({"params": {"a": 2}}, "p2"), strict=False)
    assert outcome.params == {"a": 2, "deep": {"b": [2]}}
    assert [(each.plugin, each.status, each.said) for each in outcome.reports] == [
        ("p1", "failed", "boom"),
        ("p2", "rewrote", ""),
    ]


async def test_a_hook_that_hangs_costs_its_limit_and_no_more() -> None:
    started = time.monotonic()
    outcome = await _round(NEWER, _hangs(limit_ms=50))
    assert 0.04 < time.monotonic() - started < 60
    assert outcome.reason == "the hook of `p1` failed: it was not done in 50 ms"


async def test_a_hook_that_will_not_be_cancelled_is_left_to_itself() -> None:
    enough, ended = asyncio.Event(), asyncio.Event()

    async def stubborn(_event: BeforeEvent) -> Any:
        while not enough.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await enough.wait()
        ended.set()

    outcome = await _round(NEWER, Hook(plugin="p1", handler=stubborn, limit_ms=20))
    assert outcome.kind == "failure" and not ended.is_set()
    enough.set()
    await asyncio.wait_for(ended.wait(), 60)


async def test_a_caller_that_leaves_takes_the_hook_with_it() -> None:
    told: list[str] = []

    async def handler(_event: BeforeEvent) -> Any:
        told.append("started")
        try:
            await asyncio.Event().wait()
        finally:
            told.append("ended")

    waiting = asyncio.create_task(_round(NEWER, Hook(plugin="p1", handler=handler)))
    while not told:
        await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.sleep(0)
    assert told == ["started", "ended"]


@BOTH
@pytest.mark.parametrize("strict", [True, False])
async def test_nothing_that_a_hook_writes_reaches_the_callers_own_params(dialect: Dialect, strict: bool) -> None:
    async def scribbler(event: BeforeEvent) -> Any:
        event.params["deep"]["b"].append(3)
        event.params["new"] = True

    params = {"a": 1, "deep": {"b": [2]}}
    event = BeforeEvent(tool="exec", params=params)
    outcome = await _round(dialect, Hook(plugin="p1", handler=scribbler), strict=strict, event=event)
    assert params == {"a": 1, "deep": {"b": [2]}}
    shares = dialect is OLDER and not strict
    assert outcome.params == ({"a": 1, "deep": {"b": [2, 3]}, "new": True} if shares else params)
    assert [(each.member, each.kind) for each in outcome.rewrites] == (
        [("deep", "changed"), ("new", "added")] if shares else []
    )


async def test_a_hook_of_the_older_release_cannot_leave_rubbish_in_shared_params() -> None:
    async def scribbler(event: BeforeEvent) -> Any:
        event.params["new"] = object()

    outcome = await _round(OLDER, Hook(plugin="p1", handler=scribbler), strict=False)
    assert (outcome.blocked, outcome.kind) == (True, "failure")


async def test_what_a_hook_keeps_of_its_answer_is_not_what_the_tool_gets() -> None:
    kept: dict[str, Any] = {"c": [1]}
    outcome = await _round(NEWER, _answers({"params": kept}))
    kept["c"].append(2)
    assert outcome.params["c"] == [1]


async def test_rewrites_are_told_as_a_difference() -> None:
    outcome = await _round(NEWER, _answers({"params": {"a": True, "c": None, "deep": {"b": [2]}}}))
    assert [(each.member, each.kind) for each in outcome.rewrites] == [("a", "changed"), ("c", "added")]


@BOTH
async def test_params_that_are_none_are_shown_as_an_empty_object(dialect: Dialect) -> None:
    seen: list[Any] = []

    async def handler(event: BeforeEvent) -> Any:
        seen.append(event.params)

    outcome = await _round(
        dialect, Hook(plugin="p1", handler=handler), event=BeforeEvent(tool="x", params=[1]), strict=False
    )
    assert (seen, outcome.params) == ([{}], [1])


async def test_params_that_are_no_json_are_shown_to_nobody() -> None:
    seen: list[Any] = []

    async def handler(event: BeforeEvent) -> Any:
        seen.append(event)

    with pytest.raises(NotJsonError):
        await _round(NEWER, Hook(plugin="p1", handler=handler), event=BeforeEvent(tool="x", params={"a": object()}))
    assert seen == []


async def test_a_person_is_asked_about_the_params_of_that_moment() -> None:
    wish = {"title": "Delete", "description": "d", "severity": "critical", "timeoutMs": 10**9}
    outcome = await _round(
        NEWER,
        _answers({"params": {"a": 5}}, "p1"),
        _answers({"requireApproval": wish}, "p2"),
        _answers({"params": {"a": 9}, "requireApproval": {"title": "other"}}, "p3"),
    )
    assert outcome.params["a"] == 5
    assert outcome.wish is not None
    assert (outcome.wish.plugin, outcome.wish.title, outcome.wish.severity) == ("p2", "Delete", "critical")
    assert outcome.wish.timeout_ms == 600_000
    assert [each.status for each in outcome.reports] == ["rewrote", "asked", "passed"]


@pytest.mark.parametrize("timeout", [None, 0, -5, "1", True, float(0)])
async def test_a_question_without_a_usable_time_stands_two_minutes(timeout: Any) -> None:
    outcome = await _round(NEWER, _answers({"requireApproval": {"timeoutMs": timeout, "severity": "odd"}}))
    assert outcome.wish is not None
    assert (outcome.wish.timeout_ms, outcome.wish.severity) == (120_000, "warning")


async def test_a_block_after_a_question_still_blocks() -> None:
    outcome = await _round(NEWER, _answers({"requireApproval": {}}), _answers({"block": True}, "p2"))
    assert (outcome.blocked, outcome.kind, outcome.wish) == (True, "veto", None)
    assert outcome.reason == "the hook of `p2` does not allow this call"


async def test_the_older_release_by_itself_asks_nobody() -> None:
    outcome = await _round(OLDER, _answers({"requireApproval": {}}), strict=False)
    assert outcome.wish is None
    assert (await _round(OLDER, _answers({"requireApproval": {}}))).wish is not None


async def test_a_lifted_block_of_the_older_release_keeps_the_params_that_came_with_it() -> None:
    hooks = _answers({"block": True, "params": {"a": 3}}), _answers({"block": False}, "p2")
    outcome = await _round(OLDER, *hooks, strict=False)
    assert (outcome.blocked, outcome.params["a"]) == (False, 3)


@pytest.mark.parametrize(("block", "blocks"), [(0, False), ("", False), ("no", True), ([], True), ({}, True)])
async def test_the_older_release_blocks_on_whatever_is_true_in_javascript(block: Any, blocks: bool) -> None:
    assert (await _round(OLDER, _answers({"block": block}), strict=False)).blocked is blocks
    assert (await _round(NEWER, _answers({"block": block}), strict=False)).blocked is False


def test_limits_and_manners_are_the_recorded_ones() -> None:
    rows = map(json.loads, VECTORS.read_text(encoding="utf-8").splitlines())
    row = next(row for row in rows if row["input"].get("what") == "before_tool_call")
    for dialect, recorded in ((NEWER, row["expect"]), (OLDER, row["expect_2026_2"])):
        rules = hook_rules(dialect, strict=False)
        assert rules.before_limit_ms == recorded["timeoutMs"]
        assert rules.failure_blocks is (recorded["onFailure"] == "block")
        assert rules.first_block_ends is recorded["stopsAtFirstBlock"]
        assert rules.own_copy is recorded["eachHandlerSeesOwnCopy"]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
_ANSWERS = st.one_of(
    _JSON,
    st.fixed_dictionaries(
        {},
        optional={
            "block": st.booleans() | _JSON,
            "blockReason": st.text(max_size=5) | _JSON,
            "params": st.dictionaries(st.sampled_from("abc"), _JSON, max_size=3) | _JSON,
            "requireApproval": _JSON,
        },
    ),
)
_HOOKS = st.lists(st.tuples(_ANSWERS, st.integers(-2, 2), st.booleans()), max_size=5)


@BOTH
@pytest.mark.parametrize("strict", [True, False])
@settings(max_examples=40)
@given(recorded=_HOOKS, params=_JSON)
def test_any_answers_lead_to_one_clear_outcome(
    dialect: Dialect, strict: bool, recorded: list[tuple[Any, int, bool]], params: Any
) -> None:
    hooks = [
        _raises(ValueError(), f"p{at}") if throws else _answers(answer, f"p{at}", priority=priority)
        for at, (answer, priority, throws) in enumerate(recorded)
    ]
    rules = hook_rules(dialect, strict=strict)
    event = BeforeEvent(tool="x", params=params)
    outcome = asyncio.run(before_tool_call(hooks, event, rules))
    assert outcome.blocked is bool(outcome.kind) is bool(outcome.reason)
    if not outcome.blocked and isinstance(params, dict):
        assert outcome.params.keys() >= params.keys()
    failed = any(report.status == "failed" for report in outcome.reports)
    assert not (rules.failure_blocks and failed and outcome.kind != "failure")
    if rules.first_block_ends:
        assert all(report.status not in ("blocked", "failed") for report in outcome.reports[:-1])
    else:
        assert len(outcome.reports) == len(hooks) or failed
