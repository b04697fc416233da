"""Reports about calls and answers of one time, as tables that pages show and files hold."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from apps.approvals.fatigue import Fatigue, fatigue
from apps.audit.reports import Report, report_of, whole_hours
from apps.registry.models import Environment

# A spreadsheet runs a cell that begins like a formula; a leading apostrophe makes it text.
# Source: OWASP, "CSV Injection".
FORMULA: Final = re.compile("'*[=+@\t\r\n ＝＋－＠-]")


@dataclass(frozen=True, slots=True)
class Figures:
    """What ran and what was refused, and how people answered, in the same whole hours."""

    calls: Report
    answers: Fatigue


@dataclass(frozen=True, slots=True)
class Table:
    """One table: names of its columns, and its rows."""

    columns: tuple[str, ...]
    rows: Callable[[Figures], Iterable[Sequence[Any]]]


def figures_of(environment: Environment, *, since: datetime, until: datetime) -> Figures:
    """Report about one environment; a time is widened to whole hours, and never longer than a quarter of a year."""
    span = whole_hours(environment.slug, since=since, until=until)
    return Figures(report_of(span), fatigue(environment, since=span.since, until=span.until))


COUNTS: Final = ("calls", "ran", "denied", "failed", "p50_ms", "p95_ms")


def _counts(row: Any) -> tuple[Any, ...]:
    return (row.name, *(getattr(row, name) for name in COUNTS))


TABLES: Final[dict[str, Table]] = {
    "agents": Table(("agent", *COUNTS), lambda found: map(_counts, found.calls.agents)),
    "tools": Table(("tool", *COUNTS), lambda found: map(_counts, found.calls.tools)),
    "operators": Table(
        ("who", "answers", "allowed", "denied", "expired", "wait_p50_ms", "decision_p50_ms"),
        lambda found: [
            *(
                (row.who, row.ended, row.allowed, row.denied, row.expired, row.wait_ms, row.decision_ms)
                for row in found.answers.people
            ),
            ("", found.answers.total.expired, 0, 0, found.answers.total.expired, None, None),
        ],
    ),
    "layers": Table(("layer", "denied"), lambda found: ((row.layer, row.denied) for row in found.calls.layers)),
    "errors": Table(
        ("tool", "status", "code", "count", "last_at", "last_call"),
        lambda found: (
            (row.tool, row.status, row.code, row.count, row.last_at.isoformat(), row.last_call)
            for row in found.calls.errors
        ),
    ),
    "slowest": Table(
        ("tool", "measured", "p50_ms", "p95_ms", "longest_ms", "longest_call"),
        lambda found: (
            (row.tool, row.measured, row.p50_ms, row.p95_ms, row.longest_ms, row.call) for row in found.calls.slowest
        ),
    ),
}


def table_csv(found: Figures, name: str) -> str:
    """Write one of `TABLES` as a file for spreadsheets; no cell of it is run as a formula."""
    table, lines = TABLES[name], io.StringIO()
    lines.write("\ufeff")  # a mark that spreadsheets need
    written = csv.writer(lines, lineterminator="\n")
    written.writerow(table.columns)
    written.writerows([_cell(value) for value in row] for row in table.rows(found))
    return lines.getvalue()


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value
