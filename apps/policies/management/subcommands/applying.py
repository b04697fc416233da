"""`policy diff` and `policy apply`: what the files of a folder would change, and changing it."""

import sys
from collections.abc import Iterator
from difflib import unified_diff
from typing import Any

from django.core.management.base import CommandParser

from apps.policies.errors import PolicyError
from apps.policies.files import FILES
from apps.policies.management.policy_command import CANNOT, Subcommand
from apps.policies.services import FilesPreview, FilesReport, files_apply, files_preview


class Diff(Subcommand):
    help = (
        "Print what `policy apply` would change of the draft and its policy tests, as a unified diff; "
        "of secrets it tells length and a short hash."
    )

    @classmethod
    def add_arguments(cls, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("folder", help="what `policy export --folder` wrote")
        parser.add_argument("--exit-code", action="store_true", help="end with 1 when there is a difference")

    def run(self, options: dict[str, Any]) -> None:
        environment, files = self.environment(options), self.read_folder(options["folder"])
        try:
            preview = files_preview(environment, files)
        except PolicyError as exc:
            self.refuse(exc, status=CANNOT)
        for line in diff_lines(preview):
            self.stdout.write(line)
        if options["exit_code"] and preview.report.is_changed:
            self.stdout.flush()
            sys.exit(1)


class Apply(Subcommand):
    help = "Make the files of a folder the draft and the policy tests of an environment, whole or not at all."

    @classmethod
    def add_arguments(cls, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("folder", help="what `policy export --folder` wrote; a file that is absent changes nothing")
        parser.add_argument("--dry-run", action="store_true", help="only say what would change")

    def run(self, options: dict[str, Any]) -> None:
        environment, files = self.environment(options), self.read_folder(options["folder"])
        try:
            if options["dry_run"]:
                preview = files_preview(environment, files)
                for line in diff_lines(preview):
                    self.stdout.write(line)
                self._tell("would change", preview.report, environment.slug)
                return
            report = files_apply(environment, files, by=None)
        except PolicyError as exc:
            self.refuse(exc)
        self._tell("changed", report, environment.slug)

    def _tell(self, verb: str, report: FilesReport, slug: str) -> None:
        if not report.is_changed:
            self.stdout.write(f"nothing to change in `{slug}`")
            return
        counts = [f"{count} {name}" for name, count in report.counts.items()]
        parts = [f"records {', '.join(counts)}"]
        for kind, told in (("policy tests", report.tests), ("guardrails", report.guardrails)):
            counted = [f"{len(names)} {word}" for word, names in told.items() if names]
            parts += [f"{kind} {', '.join(counted)}"] if counted else []
        self.stdout.write(f"{verb} `{slug}`: {'; '.join(parts)}")


def diff_lines(preview: FilesPreview) -> Iterator[str]:
    """Write the difference of all files, one line at a time, without line ends."""
    for name in FILES:
        before, after = (side.get(name, "").splitlines() for side in (preview.before, preview.after))
        yield from unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm="")
