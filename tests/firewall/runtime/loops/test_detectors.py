"""Which calls lead nowhere, and which only look like it. The recorded sessions are in the conformance vectors."""

import json
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.runtime.loops import (
    LoopCall,
    LoopHistory,
    LoopSettings,
    NotComparableError,
    admit,
    check,
    loop_settings,
    record_error,
    record_result,
)
from apps.firewall.runtime.loops.outcomes import POLLING_ACTIONS, POLLING_TOOLS, SEND_ACTIONS, VOLATILE_MEMBERS
from apps.firewall.runtime.loops.rules import LoopRules, loop_rules

NEWER, OLDER = DIALECTS["2026.9"], DIALECTS["2026.2"]
ON = loop_settings(NEWER, {"enabled": True})
VECTORS = Path(__file__).parents[3] / "conformance" / "loop_detection.jsonl"
Step = tuple[str, Any, Any]


def _session(*steps: Step, settings: LoopSettings = ON, history: LoopHistory | None = None) -> list[str]:
    """Run steps of (tool, params, result, or error when a text); return `at level detector count` of each finding."""
    history = LoopHistory() if history is None else history
    found = []
    for at, (tool, params, ended) in enumerate(steps):
        call = LoopCall(tool=tool, params=params, call_id=str(at))
        admission = admit(settings, history, call)
        history = admission.history
        if admission.finding is not None:
            found.append(f"{at} {admission.finding.level} {admission.finding.detector} {admission.finding.count}")
        if not admission.is_refused:
            record = record_error if isinstance(ended, str) else record_result
            history = record(settings, history, call, ended)
    return found


def _recorded(what: str) -> tuple[Any, Any]:
    rows = map(json.loads, VECTORS.read_text(encoding="utf-8").splitlines())
    row = next(row for row in rows if row["input"].get("what") == what)
    return row["expect"], row.get("expect_2026_2", row["expect"])


def _order(rules: LoopRules) -> list[list[str]]:
    return [[name, level] for name, level in rules.detectors]


def test_tables_are_the_recorded_ones() -> None:
    newer, older = _recorded("detectors_in_order")
    assert (_order(loop_rules(NEWER)), _order(loop_rules(OLDER))) == (newer, older)
    assert set(_recorded("send_actions")[0]) == SEND_ACTIONS
    assert set(_recorded("volatile_result_members")[0]) == VOLATILE_MEMBERS
    polls = _recorded("known_polling_calls")[0]
    assert {tool for tool, actions in polls.items() if actions is None} == POLLING_TOOLS
    assert {tool: set(each["action"]) for tool, each in polls.items() if each} == POLLING_ACTIONS


@pytest.mark.parametrize("release", DIALECTS)
def test_defaults_are_the_recorded_ones(release: str) -> None:
    recorded = dict(zip(("2026.9", "2026.2"), _recorded("defaults"), strict=True))[release]
    settings = loop_settings(DIALECTS[release], None)
    assert (settings.enabled, settings.history_size) == (recorded["enabled"], recorded["historySize"])
    assert (settings.warning, settings.critical, settings.breaker) == (
        recorded["warningThreshold"],
        recorded["criticalThreshold"],
        recorded["globalCircuitBreakerThreshold"],
    )


def test_nobody_looks_unless_it_is_switched_on() -> None:
    steps: list[Step] = [("read", {"path": "/a"}, {})] * 40
    for config in (None, {}, {"enabled": False}, {"enabled": 1}, {"enabled": "true"}):
        assert _session(*steps, settings=loop_settings(NEWER, config)) == []


def test_a_call_that_gets_nowhere_is_warned_of_then_refused_for_good() -> None:
    found = _session(*[("read", {"path": "/a"}, {"content": []})] * 60)
    assert found[:11] == [f"{at} warning generic_repeat {at}" for at in range(10, 20)] + [
        "20 critical generic_repeat 20"
    ]
    assert all(" critical " in each for each in found[10:])
    assert found[-1] == "59 critical global_circuit_breaker 30"


def test_a_call_whose_results_change_is_warned_of_and_never_refused() -> None:
    steps = [("read", {"path": "/a"}, {"content": [{"type": "text", "text": str(at)}]}) for at in range(60)]
    assert {each.split()[1] for each in _session(*steps)} == {"warning"}


def test_another_runs_calls_are_not_looked_at_by_the_newer_release() -> None:
    history = LoopHistory()
    for number in range(40):
        call = LoopCall(tool="read", params={}, run_id=f"r{number % 5}")
        admission = admit(ON, history, call)
        assert admission.finding is None
        history = record_result(ON, admission.history, call, {})


@pytest.mark.parametrize(
    ("said", "is_unknown"),
    [
        ("Unknown tool: ghost", True),
        ('unknown tool "Ghost"', True),
        ("the tool 'ghost' is not available here", True),
        ("tool ghost not found", True),
        ("tool not found", False),
        ("unknown tools everywhere", False),
        ("file not found", False),
    ],
)
def test_a_tool_that_does_not_exist_is_refused_after_ten_tries(said: str, is_unknown: bool) -> None:
    found = _session(*[("call", {"n": at}, said) for at in range(11)])
    assert found == (["10 critical unknown_tool_repeat 10"] if is_unknown else [])


def test_commands_that_fail_for_the_same_reason_count_together() -> None:
    def failed(at: int) -> dict[str, Any]:
        text = f"2026-09-0{at % 9 + 1} 10:00:{at:02} attempt {at}: refused after {at}ms (pid {at})"
        return {"details": {"status": "completed", "exitCode": 1, "aggregated": text}}

    found = _session(*[("exec", {"command": f"make {at}"}, failed(at)) for at in range(21)])
    assert found == ["20 critical generic_repeat 20"]


@pytest.mark.parametrize(
    "details",
    [
        {"exitCode": 0, "aggregated": "boom"},
        {"exitCode": 1, "aggregated": ""},
        {"exitCode": 1, "aggregated": "(Command exited with code 1)"},
        {"exitCode": 1, "aggregated": "boom", "timedOut": True},
        {"aggregated": "boom"},
        {"exitCode": True, "aggregated": "boom"},
    ],
)
def test_commands_that_did_not_fail_with_words_count_by_their_arguments(details: dict[str, Any]) -> None:
    result = {"details": {"status": "completed", **details}}
    assert _session(*[("exec", {"command": f"make {at}"}, result) for at in range(40)]) == []


def test_sending_the_same_again_is_no_progress_whatever_id_it_gets() -> None:
    def sent(at: int) -> dict[str, Any]:
        message = {"id": str(at), "text": "hi", "direction": "out", "conversation": {"id": "c"}}
        return {"content": [{"type": "text", "text": f"sent {at}"}], "details": {"ts": at, "message": message}}

    steps = [("message", {"action": "send", "text": "hi"}, sent(at)) for at in range(21)]
    assert _session(*steps)[-1] == "20 critical generic_repeat 20"
    read = [("message", {"action": "read"}, sent(at)) for at in range(21)]
    assert _session(*read)[-1] == "20 warning generic_repeat 20"


def test_a_wait_for_something_else_ends_an_alternation() -> None:
    turns: list[Step] = [("read", {"n": at % 2}, {}) for at in range(12)]
    assert _session(*turns)[-1] == "11 warning ping_pong 12"
    assert _session(*turns, ("wait", {}, {}), ("read", {"n": 0}, {})) == _session(*turns)


@pytest.mark.parametrize(
    "params", [object(), {"a": object()}, {1: 2, "a": 3}, {"a": float("nan")}, pytest.param(None, id="deep")]
)
def test_what_is_no_json_cannot_be_compared_and_says_so(params: Any) -> None:
    if params is None:
        for _ in range(100_000):
            params = [params]
    with pytest.raises(NotComparableError):
        check(ON, LoopHistory(), LoopCall(tool="x", params=params))


def test_an_error_of_any_size_is_read_in_time() -> None:
    text = "tool " + " " * 500_000 + "1" * 500_000
    call = LoopCall(tool="exec", params={})
    history = record_error(ON, LoopHistory(), call, text)
    details = {"status": "completed", "exitCode": 1, "aggregated": text}
    assert len(record_result(ON, history, call, {"details": details}).records) == 2
