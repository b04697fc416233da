"""What a call meets in its session, and what the session remembers: pure functions over a frozen state."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.runtime.call import Call
from apps.firewall.runtime.loops import LoopCall, LoopHistory, loop_settings
from apps.firewall.runtime.sessions import (
    Budgets,
    LoopOutcome,
    SessionCall,
    SessionState,
    enter,
    leave,
    loop_outcome,
    place_of,
    turn_away,
)
from apps.firewall.tools.running import ToolOutcome, failed

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
NEW = SessionState(started_at=NOON)
DIALECT = DIALECTS["2026.9"]
WATCHED = loop_settings(DIALECT, {"enabled": True}, key=b"key")
UNWATCHED = loop_settings(DIALECT, None)


def call(number: int = 0, *, loops: Any = WATCHED, resumed: bool = False, **params: Any) -> SessionCall:
    seen = LoopCall(tool="read", params=params or {"path": "a"}, call_id=f"call-{number}")
    return SessionCall(loop_call=seen, loops=loops, is_resumed=resumed)


def repeated(times: int, *, outcome: LoopOutcome | None = None, loops: Any = WATCHED) -> SessionState:
    state = NEW
    for number in range(times):
        state, entrance = enter(state, call(number, loops=loops), NOON)
        assert entrance.stop is None
        state = leave(state, call(number, loops=loops), outcome or LoopOutcome(value={"details": {"same": 1}}))
    return state


def test_a_call_that_comes_to_the_same_end_is_warned_of_then_refused() -> None:
    _, tenth = enter(repeated(10), call(10), NOON)
    state, last = enter(repeated(20), call(20), NOON)

    assert tenth.warning is not None and (tenth.warning.detector, tenth.warning.count) == ("generic_repeat", 10)
    assert last.stop is not None
    assert (last.stop.code, last.stop.layer, last.stop.rule) == ("loop_detected", "loop_detection", "generic_repeat")
    assert (last.stop.count, state.calls, state.denied) == (20, 21, 1)


def test_a_warning_is_told_once_in_ten_calls() -> None:
    state, told = NEW, []
    for number in range(19):
        state, entrance = enter(state, call(number), NOON)
        told.append(entrance.warning is not None)
        state = leave(state, call(number), LoopOutcome(value={"details": {"same": 1}}))

    assert [at for at, each in enumerate(told) if each] == [10]


def test_progress_is_no_loop() -> None:
    state = NEW
    for number in range(40):
        state, entrance = enter(state, call(number), NOON)
        assert entrance.stop is None
        state = leave(state, call(number), LoopOutcome(value={"details": {"count": number}}))


def test_where_nobody_looks_for_loops_nothing_is_remembered() -> None:
    state = repeated(40, loops=UNWATCHED)

    assert state.history == LoopHistory() and state.calls == 40


def test_hammering_at_a_closed_door_is_a_loop_too() -> None:
    state, stop = NEW, None
    for number in range(12):
        state, entrance = turn_away(state, call(number), "unknown tool: fly", is_counted=False)
        stop = stop or entrance.stop

    assert stop is not None and (stop.rule, stop.count) == ("unknown_tool_repeat", 10)
    assert (state.calls, state.denied) == (12, 12)


def test_a_refusal_after_the_session_let_the_call_in_counts_it_once() -> None:
    state, _ = enter(NEW, call(), NOON)
    state, entrance = turn_away(state, call(), "no", is_counted=True)

    assert (state.calls, state.denied, entrance.stop) == (1, 1, None)
    assert [record.is_open for record in state.history.records] == [False]


BOUNDS = [
    (Budgets(max_calls=2), {"calls": 2}, "max_calls", 2),
    (Budgets(max_denied=3), {"calls": 9, "denied": 3}, "max_denied", 3),
    (Budgets(max_duration_s=60), {}, "max_duration_s", 60),
]


@pytest.mark.parametrize(("budgets", "used", "rule", "count"), BOUNDS)
def test_a_spent_budget_takes_no_more_and_says_which(
    budgets: Budgets, used: dict[str, Any], rule: str, count: int
) -> None:
    state = replace(NEW, budgets=budgets, **used)
    _, entrance = enter(state, call(), NOON + timedelta(seconds=60))

    assert entrance.stop is not None
    assert (entrance.stop.code, entrance.stop.layer) == ("session_budget_spent", "session")
    assert (entrance.stop.rule, entrance.stop.count) == (rule, count)


@pytest.mark.parametrize(("budgets", "used", "rule", "count"), BOUNDS)
def test_a_budget_with_room_lets_calls_in(budgets: Budgets, used: dict[str, Any], rule: str, count: int) -> None:
    state = replace(NEW, budgets=budgets, **{name: value - 1 for name, value in used.items()})
    _, entrance = enter(state, call(), NOON + timedelta(seconds=59))

    assert entrance.stop is None


@pytest.mark.parametrize("resumed", [False, True])
def test_an_ended_session_takes_no_call_not_even_one_that_a_person_allowed(resumed: bool) -> None:
    state, entrance = enter(replace(NEW, end_reason="enough"), call(resumed=resumed), NOON)

    assert entrance.stop is not None
    assert (entrance.stop.code, entrance.stop.message) == ("session_ended", "this session was ended: enough")
    assert (state.calls, state.denied) == (0 if resumed else 1, 1)


def test_a_call_that_a_person_allowed_is_neither_counted_nor_looked_at_again() -> None:
    spent = replace(NEW, budgets=Budgets(max_calls=1), calls=1)

    assert enter(spent, call(resumed=True), NOON)[0] == spent


STEPS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["same", "new", "error", "refused", "away"])), max_size=60
)


@given(STEPS, st.sampled_from(sorted(DIALECTS)))
def test_the_same_steps_through_json_come_to_the_same_state(steps: list[tuple[int, str]], release: str) -> None:
    """Another process takes each next call: it knows the state from its stored form only."""
    settings = loop_settings(DIALECTS[release], {"enabled": True}, key=b"key")
    one = other = NEW
    for number, (which, ending) in enumerate(steps):
        made = call(number, loops=settings, path=str(which))
        one, told = _step(one, made, ending, number)
        stored = replace(other, history=LoopHistory.from_json(other.history.to_json()))
        other, told_elsewhere = _step(stored, made, ending, number)
        assert told == told_elsewhere

    assert one == other
    assert one.calls == len(steps) and one.denied <= one.calls


def _step(state: SessionState, made: SessionCall, ending: str, number: int) -> tuple[SessionState, Any]:
    if ending == "away":
        return turn_away(state, made, "no", is_counted=False)
    state, entrance = enter(state, made, NOON)
    if entrance.stop is not None:
        return state, entrance
    if ending == "refused":
        return turn_away(state, made, "no", is_counted=True)
    value = {"details": {"n": number if ending == "new" else 0}}
    return leave(state, made, LoopOutcome(value=value, is_error=ending == "error")), entrance


OUTCOMES = [
    ("exec", ToolOutcome(result={"exit_code": 1, "stdout": "no", "cpu_ms": 3}), ToolOutcome(
        result={"exit_code": 1, "stdout": "no", "cpu_ms": 9}), True),
    ("exec", ToolOutcome(result={"exit_code": 1, "stdout": "no"}), ToolOutcome(
        result={"exit_code": 1, "stdout": "other"}), False),
    ("read", ToolOutcome(result={"text": "a", "duration_ms": 1}), ToolOutcome(
        result={"text": "a", "duration_ms": 2}), True),
    ("read", ToolOutcome(result={"text": "a"}), ToolOutcome(result={"text": "b"}), False),
    ("read", failed("gone", "it is gone"), failed("gone", "it is gone"), True),
    ("read", failed("gone", "it is gone"), failed("shut", "it is shut"), False),
    ("shot", ToolOutcome(result={"content": [{"type": "image", "data": "AA"}]}), ToolOutcome(
        result={"content": [{"type": "image", "data": "BB"}]}), False),
    ("say", ToolOutcome(result={"content": [{"type": "text", "text": "a"}], "structuredContent": {"n": 1}}),
        ToolOutcome(result={"content": [{"type": "text", "text": "a"}], "structuredContent": {"n": 2}}), False),
]  # fmt: skip


@pytest.mark.parametrize("release", sorted(DIALECTS))
@pytest.mark.parametrize(("tool", "first", "second", "is_same"), OUTCOMES)
def test_outcomes_are_the_same_when_nothing_but_time_differs(
    tool: str, first: ToolOutcome, second: ToolOutcome, is_same: bool, release: str
) -> None:
    settings = loop_settings(DIALECTS[release], {"enabled": True})
    made = SessionCall(loop_call=LoopCall(tool=tool, params={}), loops=settings)
    ends = [leave(NEW, made, loop_outcome(tool, each)).history.records[0].equal for each in (first, second)]

    assert (ends[0] == ends[1]) is is_same


def named(key: str | None, *, release: str = "2026.9", parent: str | None = None) -> Any:
    context = CallContext(session_key=key, spawned_by=parent)
    return place_of(Call(environment="e", agent="bot", tool="t", params={}, context=context), DIALECTS[release])


def test_a_session_is_the_same_however_its_key_is_spelled() -> None:
    spellings = ["main", " MAIN ", "agent:bot:main", "Agent:Bot:Main"]

    assert {named(key).name.key for key in spellings} == {"agent:bot:main"}


@pytest.mark.parametrize("key", [None, "", "  "])
def test_a_call_without_a_key_belongs_to_no_session(key: str | None) -> None:
    assert named(key) is None


def test_a_sub_agent_knows_its_parent_and_depth() -> None:
    place = named("agent:bot:subagent:7", parent="main")

    assert (place.parent_key, place.depth) == ("agent:bot:main", 1)


@given(st.text(min_size=1, max_size=2000))
def test_any_key_has_a_name_that_can_be_stored(key: str) -> None:
    place = named(key)

    assert place is None or 0 < len(place.name.key) <= 512


def test_two_long_keys_stay_two_sessions() -> None:
    assert named("x" * 900 + "a").name != named("x" * 900 + "b").name
