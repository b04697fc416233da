"""`manage.py conformance FILE…`: compare the engine with recorded vectors of OpenClaw."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand

from apps.firewall.engine.dialect import DIALECTS
from apps.policies.conformance.runner import Report, RowDifference, UnknownVectorsError, read_vectors, run_vectors

_BOTH: Final = "both"
_SHOWN: Final = 5
_WIDTH: Final = 400
_DIFFERS: Final = 1
_UNKNOWN: Final = 2


class Command(BaseCommand):
    """Run vector files and report what agrees.

    Exit status: 0 when all required members agree, 1 when one differs, 2 when a file, area or kind is not known.
    """

    help = "Compare the engine with recorded vectors (JSON Lines)."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--release", choices=(*DIALECTS, _BOTH), default=_BOTH)

    def handle(self, *_args: Any, **options: Any) -> None:
        """Report every file, then leave with the gravest status met."""
        releases = tuple(DIALECTS) if options["release"] == _BOTH else (options["release"],)
        status = max(self._run(path, releases) for path in options["files"])
        if status:
            self.stdout.flush()
            sys.exit(status)

    def _run(self, path: Path, releases: tuple[str, ...]) -> int:
        try:
            rows = read_vectors(path)
        except UnknownVectorsError as exc:
            self.stderr.write(exc.message)
            return _UNKNOWN
        reports = [run_vectors(path, rows, release) for release in releases]
        for report in reports:
            self._show(report)
        return 0 if all(report.holds for report in reports) else _DIFFERS

    def _show(self, report: Report) -> None:
        self.stdout.write(
            f"{report.path.name}  {report.release}  rows {report.rows}  required {report.required}"
            f"  detail {report.detail}  not compared {report.not_compared}"
        )
        worst_first = sorted(report.differences, key=lambda each: not each.required)
        for difference in worst_first[:_SHOWN]:
            self._show_difference(difference)

    def _show_difference(self, each: RowDifference) -> None:
        weight = "required" if each.required else "detail"
        self.stdout.write(f"  {each.row} {each.kind or '-'}: {each.difference.member} ({weight})")
        self.stdout.write(f"    expected {_short(each.difference.expected)}")
        self.stdout.write(f"    answered {_short(each.difference.actual)}")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"
