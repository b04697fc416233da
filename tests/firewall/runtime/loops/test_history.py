"""A session's history: bounded, the same after a restart, and silent about what was called."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.firewall.engine.dialect import DIALECTS, Dialect
from apps.firewall.runtime.loops import (
    Admission,
    LoopCall,
    LoopHistory,
    LoopHistoryInvalidError,
    LoopSettings,
    admit,
    loop_settings,
    record_error,
    record_result,
)
from apps.firewall.runtime.loops.history import with_warning
from apps.firewall.runtime.loops.rules import WARNING_KEYS_KEPT

BOTH = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)

_CALLS = st.sampled_from(
    [
        ("read", {"path": "/a"}),
        ("read", {"path": "/b"}),
        ("process", {"action": "poll"}),
        ("exec", {"command": "a"}),
        ("exec", {"command": "b"}),
        ("write", {"path": "/a"}),
        ("odd", None),
    ]
)
_ENDS = st.sampled_from(
    [
        ("result", {"content": [{"type": "text", "text": "x"}]}),
        ("result", {"details": {"status": "completed", "exitCode": 1, "aggregated": "attempt 1"}}),
        ("result", {"details": {"status": "completed", "exitCode": 1, "aggregated": "attempt 2"}}),
        ("result", {"details": {"changed": False}}),
        ("result", None),
        ("error", "Unknown tool: ghost"),
        ("error", {"code": "x"}),
        ("never", None),
    ]
)
# runs of the same step, so that streaks grow long enough to be found
_STEPS = st.lists(st.tuples(_CALLS, _ENDS, st.sampled_from(["", " r1 ", "r2"]), st.integers(1, 25)), max_size=8)


def _step(
    chosen: LoopSettings, history: LoopHistory, call: LoopCall, end: tuple[str, Any]
) -> tuple[Admission, LoopHistory]:
    admission = admit(chosen, history, call)
    if admission.is_refused or end[0] == "never":
        return admission, admission.history
    record = record_error if end[0] == "error" else record_result
    return admission, record(chosen, admission.history, call, end[1])


@BOTH
@pytest.mark.unhurried
@settings(max_examples=40, deadline=None)
@given(steps=_STEPS, size=st.integers(1, 40))
@pytest.mark.slow
def test_a_session_goes_on_after_a_restart_as_if_there_had_been_none(
    dialect: Dialect, steps: list[Any], size: int
) -> None:
    chosen = loop_settings(dialect, {"enabled": True, "historySize": size}, key=b"k")
    straight = restarted = LoopHistory()
    number = 0
    for (tool, params), end, run_id, times in steps:
        for _ in range(times):
            number += 1
            call = LoopCall(tool=tool, params=params, run_id=run_id, call_id=f"c{number}")
            one, straight = _step(chosen, straight, call, end)
            other, restarted = _step(chosen, restarted, call, end)
            assert one.finding == other.finding
            assert len(straight.records) <= chosen.history_size
        restarted = LoopHistory.from_json(json.loads(json.dumps(restarted.to_json())))
        assert restarted == straight


@BOTH
@pytest.mark.unhurried
@settings(max_examples=25, deadline=None)
@given(step=_CALLS, end=_ENDS.filter(lambda end: end[0] != "never" and end[1] is not None))
def test_the_same_call_with_the_same_end_does_not_run_for_ever(dialect: Dialect, step: Any, end: Any) -> None:
    chosen = loop_settings(dialect, {"enabled": True})
    history, ran = LoopHistory(), 0
    for number in range(100):
        admission, history = _step(chosen, history, LoopCall(tool=step[0], params=step[1], call_id=str(number)), end)
        ran += not admission.is_refused
    assert ran <= chosen.breaker


def test_params_in_another_order_are_the_same_call() -> None:
    chosen = loop_settings(DIALECTS["2026.9"], {"enabled": True})
    one = record_result(chosen, LoopHistory(), LoopCall(tool="x", params={"a": 1.0, "b": [{}]}), {"z": 1, "y": 2.0})
    other = record_result(chosen, LoopHistory(), LoopCall(tool="x", params={"b": [{}], "a": 1}), {"y": 2, "z": 1.0})
    assert one == other


def test_a_history_gives_nothing_away_without_its_key() -> None:
    call = LoopCall(tool="login", params={"pin": "1234"})
    stored = []
    for key in (b"one", b"two"):
        chosen = loop_settings(DIALECTS["2026.9"], {"enabled": True}, key=key)
        stored.append(json.dumps(record_error(chosen, LoopHistory(), call, "wrong pin 1234").to_json()))
    assert stored[0] != stored[1]
    assert "1234" not in "".join(stored)


def test_warnings_told_are_forgotten_beyond_a_limit() -> None:
    history = LoopHistory()
    for number in range(WARNING_KEYS_KEPT + 5):
        history = with_warning(history, f"k{number}", 1)
    history = with_warning(history, "k100", 2)
    assert len(history.warned) == WARNING_KEYS_KEPT
    assert history.warned[0] == ("k5", 1)
    assert dict(history.warned)["k100"] == 2


def test_an_outcome_goes_to_its_own_call() -> None:
    chosen = loop_settings(DIALECTS["2026.9"], {"enabled": True})
    first, second = (LoopCall(tool="read", params={}, call_id=call_id) for call_id in ("c1", "c2"))
    history = admit(chosen, admit(chosen, LoopHistory(), first).history, second).history
    history = record_result(chosen, history, first, {"a": 1})
    assert [record.is_open for record in history.records] == [False, True]
    assert len(record_result(chosen, history, LoopCall(tool="read", params={}, call_id="c3"), {}).records) == 3


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"format": 2, "records": [], "warned": []},
        {"format": 1, "records": {}, "warned": None},
        {"format": 1, "records": [None], "warned": []},
        {"format": 1, "records": [{"tool": "x"}], "warned": []},
        {"format": 1, "records": [{"tool": "x", "signature": 5}], "warned": []},
        {"format": 1, "records": [{"tool": "x", "signature": "s", "stuck": 1}], "warned": []},
        {"format": 1, "records": [{"tool": "x", "signature": "s", "kind": "odd"}], "warned": []},
        {"format": 1, "records": [{"tool": "x", "signature": "s", "odd": "x"}], "warned": []},
        {"format": 1, "records": [], "warned": [["k"]]},
        {"format": 1, "records": [], "warned": [["k", "1"]]},
    ],
)
def test_a_broken_history_is_refused(document: Any) -> None:
    with pytest.raises(LoopHistoryInvalidError):
        LoopHistory.from_json(document)
