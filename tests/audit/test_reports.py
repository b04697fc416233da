"""Reports of a time add up, cost a known number of statements, and never read another environment."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.audit.drafts import EntryDecision
from apps.audit.figures import Span
from apps.audit.reports import LONGEST, Report, report_of, whole_hours
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id
from tests.audit.drafts import denial, intent, outcome

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_ledger")]

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
DAY = Span(environment="production", since=NOW - timedelta(hours=24), until=NOW)


def _ran(tool: str, duration_ms: int, **fields: Any) -> None:
    call_id, at = new_id(), NOW - timedelta(minutes=5)
    own = {name: fields[name] for name in ("agent", "environment") if name in fields}
    entry_record(intent(call_id, tool=tool, at=at, **own))
    entry_record(outcome(call_id, tool=tool, duration_ms=duration_ms, at=at, **fields))


def _refused(layer: str, **fields: Any) -> None:
    decision = EntryDecision(verdict="deny", layer=layer)
    entry_record(denial(tool="exec", decision=decision, at=NOW - timedelta(minutes=5), **fields))


def _names(report: Report) -> tuple[list[str], list[str]]:
    return [row.name for row in report.agents], [row.name for row in report.tools]


def test_a_time_without_calls_is_empty() -> None:
    report = report_of(DAY)
    assert (report.total.calls, report.agents, report.tools, report.layers) == (0, [], [], [])
    assert (report.errors, report.slowest, report.is_measured_whole) == ([], [], True)


def test_every_call_counts_once_by_agent_tool_and_layer() -> None:
    for duration_ms in range(1, 101):
        _ran("read", duration_ms, agent="a")
    _ran("exec", 700, agent="b", status="failed", error={"code": "timeout", "message": "too long"})
    _refused("agent", agent="b")
    _refused("", agent="b")
    report = report_of(DAY)
    assert (report.total.calls, report.total.ran, report.total.denied, report.total.failed) == (103, 100, 2, 1)
    assert _names(report) == (["a", "b"], ["read", "exec"])
    first, second = report.tools
    assert (first.calls, first.p50_ms, first.p95_ms) == (100, 50, 95)
    assert (second.calls, second.denied, second.failed, second.p95_ms) == (3, 2, 1, 700)
    assert [(row.layer, row.denied) for row in report.layers] == [("", 1), ("agent", 1)]
    assert sum(row.denied for row in report.layers) == report.total.denied


def test_errors_are_named_by_their_code_and_slow_tools_come_first() -> None:
    for _ in range(3):
        _ran("exec", 900, status="failed", error={"code": "timeout", "message": "too long"})
    _ran("read", 10, status="unknown", error=None)
    report = report_of(DAY)
    assert [(row.tool, row.code, row.count) for row in report.errors] == [("exec", "timeout", 3), ("read", "", 1)]
    assert [(row.tool, row.measured, row.longest_ms) for row in report.slowest] == [("exec", 3, 900)]
    assert report.slowest[0].call is not None


def test_calls_of_another_environment_or_time_are_not_counted() -> None:
    _ran("read", 10, environment="staging")
    entry_record(denial(at=NOW + timedelta(minutes=1)))
    assert report_of(DAY).total.calls == 0


def test_it_takes_the_same_few_statements_however_many_calls(django_assert_num_queries: Any) -> None:
    for number in range(40):
        _ran(f"tool-{number}", number, agent=f"agent-{number}")
    report_of(DAY)
    with django_assert_num_queries(4):  # the follower has nothing to read, then tallies, durations, errors
        assert len(report_of(DAY).tools) == 40


def test_a_time_is_widened_to_whole_hours_and_bounded() -> None:
    span = whole_hours("production", since=NOW - timedelta(minutes=90), until=NOW + timedelta(seconds=1))
    assert (span.since, span.until) == (NOW - timedelta(hours=2), NOW + timedelta(hours=1))
    assert whole_hours("production", since=NOW - timedelta(days=400), until=NOW).since == NOW - LONGEST
