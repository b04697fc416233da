"""Read a file of vectors, ask the adapters, count what agrees.

Source: conformance README, "Releases" and "Comparison".
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from apps.firewall.engine.dialect import DIALECTS, Dialect
from apps.firewall.errors import FirewallError
from apps.policies.conformance.areas import AREAS, DUMP, WITHOUT_KIND, Adapter, Kind
from apps.policies.conformance.compare import Difference, Failure, Verdict

_KEPT: Final = 20
_OLDER_RELEASE: Final = "2026.2"


class UnknownVectorsError(FirewallError):
    """A file is not one of vectors, or asks for what this program cannot be asked."""

    code = "unknown_vectors"


@dataclass(slots=True)
class Count:
    """How many agree, of how many."""

    passed: int = 0
    total: int = 0

    def add(self, agrees: bool) -> None:
        self.total += 1
        self.passed += agrees

    def __str__(self) -> str:
        return f"{self.passed}/{self.total}"


@dataclass(frozen=True, slots=True)
class RowDifference:
    """One member of one row that does not agree."""

    row: str
    kind: str
    required: bool
    difference: Difference


@dataclass(slots=True)
class Report:
    """The result of one file for one release. `not_compared`: rows that the comparison leaves out."""

    path: Path
    release: str
    rows: Count = field(default_factory=Count)
    required: Count = field(default_factory=Count)
    detail: Count = field(default_factory=Count)
    not_compared: int = 0
    differences: list[RowDifference] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether every required member agrees."""
        return self.required.passed == self.required.total

    def kept(self, *, required: bool) -> int:
        """Count the differences that are kept to be shown."""
        return sum(each.required is required for each in self.differences)


def read_vectors(path: Path) -> list[Mapping[str, Any]]:
    """Read a file of vectors and check that every row can be asked.

    Raises:
        UnknownVectorsError: the file cannot be read, is no list of vectors, or holds an unknown area or kind.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise UnknownVectorsError(f"`{path}` cannot be read: {exc}") from exc
    rows = [_read_row(path, number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not rows:
        raise UnknownVectorsError(f"`{path}` holds no vectors")
    return rows


def _read_row(path: Path, number: int, line: str) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as exc:
        raise UnknownVectorsError(f"`{path}` line {number} is not JSON: {exc}") from exc
    if not isinstance(row, Mapping) or not isinstance(row.get("input"), Mapping) or "expect" not in row:
        raise UnknownVectorsError(f"`{path}` line {number} is not a vector")
    kinds = AREAS.get(str(row.get("area")))
    if kinds is None:
        raise UnknownVectorsError(f"`{path}` line {number}: no area named `{row.get('area')}`")
    if row.get("kind", WITHOUT_KIND) not in (DUMP, *kinds):
        raise UnknownVectorsError(f"`{path}` line {number}: no kind named `{row.get('kind')}` in `{row['area']}`")
    return row


def run_vectors(path: Path, rows: Sequence[Mapping[str, Any]], release: str) -> Report:
    """Ask every row of a file in one release."""
    report = Report(path, release)
    dialect = DIALECTS[release]
    adapters: dict[str, Adapter | None] = {}
    for row in rows:
        if not _is_compared(row, release):
            report.not_compared += 1
            continue
        kind = AREAS[row["area"]][row.get("kind", WITHOUT_KIND)]
        if kind.adapter not in adapters:
            adapters[kind.adapter] = _load(kind)
        _count(report, row, list(_judge(kind, adapters[kind.adapter], dialect, row)))
    return report


def _is_compared(row: Mapping[str, Any], release: str) -> bool:
    if row.get("kind") == DUMP or row.get("gate") is False:
        return False
    if release not in row.get("versions", (release,)):
        return False
    # a quirk is an accident of the older release: what it answered there is nothing to agree with
    return not (row.get("quirk") and release == _OLDER_RELEASE and "expect_2026_2" in row)


def _load(kind: Kind) -> Adapter | None:
    try:
        return kind.load()
    except (ImportError, AttributeError):
        return None


def _judge(kind: Kind, adapter: Adapter | None, dialect: Dialect, row: Mapping[str, Any]) -> Iterator[Verdict]:
    older = dialect.release == _OLDER_RELEASE
    own_expectation = not older or "expect_2026_2" in row
    expected = row["expect_2026_2"] if older and "expect_2026_2" in row else row["expect"]
    if adapter is None:
        yield Verdict(True, Difference("answer", expected, f"no adapter `{kind.adapter}`"))
        return
    try:
        actual = adapter(dialect, row["input"])
    except FirewallError as exc:
        actual = Failure(exc.code)
    except Exception as exc:  # noqa: BLE001 - a row without an answer has failed, the others must still be asked
        yield Verdict(True, Difference("answer", expected, f"{type(exc).__name__}: {exc}"))
        return
    for verdict in kind.judge(row["input"], expected, actual):
        if verdict.required or own_expectation:
            yield verdict


def _count(report: Report, row: Mapping[str, Any], verdicts: Sequence[Verdict]) -> None:
    report.rows.add(all(verdict.difference is None for verdict in verdicts if verdict.required))
    for verdict in verdicts:
        (report.required if verdict.required else report.detail).add(verdict.difference is None)
        # Details have a bound of their own: many of them must not crowd out what is required.
        if verdict.difference is not None and report.kept(required=verdict.required) < _KEPT:
            kind = row.get("kind", WITHOUT_KIND)
            report.differences.append(RowDifference(str(row.get("id")), kind, verdict.required, verdict.difference))
