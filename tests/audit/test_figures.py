"""Figures of a span add up: every ended call counts once, where it ended."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.audit.drafts import EntryDecision, EntryKind
from apps.audit.figures import Span, call_figures, duration_series, layer_figures, tool_figures
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id
from tests.audit.drafts import PLAIN, denial, intent, outcome

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger")]

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
HOUR = Span(environment="production", since=NOW - timedelta(hours=1), until=NOW)


def _ran(tool: str, duration_ms: int, *, minutes_ago: int = 5, **fields: Any) -> None:
    call_id, at = new_id(), NOW - timedelta(minutes=minutes_ago)
    entry_record(intent(call_id, tool=tool, at=at))
    entry_record(outcome(call_id, tool=tool, duration_ms=duration_ms, at=at, **fields))


def _refused(tool: str, layer: str, *, minutes_ago: int = 5) -> None:
    decision = EntryDecision(verdict="deny", layer=layer)
    entry_record(denial(tool=tool, decision=decision, at=NOW - timedelta(minutes=minutes_ago)))


def test_an_empty_span_has_no_durations() -> None:
    figures = call_figures(HOUR)
    assert (figures.calls, figures.denied, figures.failed, figures.p50_ms, figures.p95_ms) == (0, 0, 0, None, None)
    assert figures.failed_share == figures.denied_share == 0.0
    assert tool_figures(HOUR) == ()
    assert layer_figures(HOUR) == ()


def test_a_call_counts_once_and_where_it_ended() -> None:
    _ran("read", 10)
    _ran("read", 30, status="failed")
    _ran("exec", 20, status="unknown")
    _refused("exec", "agent")
    figures = call_figures(HOUR)
    assert (figures.calls, figures.denied, figures.failed) == (4, 1, 2)
    assert (figures.failed_share, figures.denied_share) == (0.5, 0.25)


def test_a_call_that_still_runs_is_no_ended_call() -> None:
    entry_record(intent(at=NOW - timedelta(minutes=1)))
    assert call_figures(HOUR).calls == 0


def test_durations_are_those_of_calls_that_ran() -> None:
    for duration_ms in range(1, 101):
        _ran("read", duration_ms)
    _refused("read", "agent")
    figures = call_figures(HOUR)
    assert (figures.p50_ms, figures.p95_ms) == (50, 95)


def test_a_persons_no_is_a_denied_call_outside_the_layers() -> None:
    call_id, approval_id, at = new_id(), new_id(), NOW - timedelta(minutes=2)
    asked = replace(PLAIN, kind=EntryKind.APPROVAL_ASKED, call_id=call_id, approval_id=approval_id, at=at)
    entry_record(asked)
    entry_record(replace(asked, kind=EntryKind.APPROVAL_ANSWERED, status="denied", decision=None))
    assert call_figures(HOUR).denied == 1
    assert [(layer.layer, layer.denied) for layer in layer_figures(HOUR)] == [("", 1)]


def test_only_the_span_and_the_environment_count() -> None:
    _ran("read", 10, minutes_ago=61)
    _ran("read", 10, minutes_ago=0)  # the end of a span is not in it
    _ran("read", 10, minutes_ago=60)  # its beginning is
    _ran("read", 10, environment="staging")
    assert call_figures(HOUR).calls == 1


def test_tools_come_by_calls_with_their_own_figures() -> None:
    for minutes_ago in (59, 5, 1):
        _ran("exec", 100, minutes_ago=minutes_ago)
    _refused("exec", "group")
    _ran("read", 10, status="failed")
    first, second = tool_figures(HOUR, points=4)
    assert (first.tool, first.calls, first.denied, first.failed, first.p95_ms) == ("exec", 4, 1, 0, 100)
    assert first.series == (1, 0, 0, 3)
    assert (second.tool, second.failed_share) == ("read", 1.0)
    assert [tool.tool for tool in tool_figures(HOUR, limit=1)] == ["exec"]


def test_layers_come_by_what_they_denied() -> None:
    _refused("exec", "agent")
    _refused("exec", "group")
    _refused("write", "group")
    assert [(layer.layer, layer.denied) for layer in layer_figures(HOUR)] == [("group", 2), ("agent", 1)]


def test_durations_over_time_leave_gaps_where_nothing_ran() -> None:
    _ran("read", 10, minutes_ago=59)
    _ran("read", 30, minutes_ago=59)
    _ran("read", 50, minutes_ago=1)
    starts = [HOUR.since + timedelta(minutes=20 * part) for part in range(3)]
    points = duration_series(HOUR, starts=starts, step_s=1200)
    assert [(point.p50_ms, point.p95_ms) for point in points] == [(10, 30), (None, None), (50, 50)]


def test_parts_that_begin_before_the_span_hold_what_fell_into_them() -> None:
    _ran("read", 40, minutes_ago=50)
    starts = [HOUR.since - timedelta(minutes=7) + timedelta(minutes=20 * part) for part in range(4)]
    points = duration_series(HOUR, starts=starts, step_s=1200)
    assert [point.p50_ms for point in points] == [40, None, None, None]
