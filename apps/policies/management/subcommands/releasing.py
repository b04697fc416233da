"""`policy lint` and `policy publish`."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.policies.errors import PolicyError
from apps.policies.management.policy_command import Subcommand
from apps.policies.selectors import lint, live_publication
from apps.policies.services import publish


class Lint(Subcommand):
    help = "Review the draft: one line per finding; fails on errors, with --strict on warnings, too."

    @classmethod
    def add_arguments(cls, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--strict", action="store_true", help="fail on warnings, too")

    def run(self, options: dict[str, Any]) -> None:
        findings = lint(self.environment(options))
        for finding in findings:
            self.stdout.write(f"{finding.severity}: {finding.path or '-'}: {finding.message} [{finding.code}]")
        bad = {"error", "warning"} if options["strict"] else {"error"}
        failed = sum(finding.severity in bad for finding in findings)
        if failed:
            raise CommandError(f"{failed} of {len(findings)} findings must be mended")


class Publish(Subcommand):
    help = "Make the draft live."

    @classmethod
    def add_arguments(cls, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--message", "-m", required=True, help="why")
        parser.add_argument("--expected-live", help="digest that must be live; what is live now by default")

    def run(self, options: dict[str, Any]) -> None:
        environment = self.environment(options)
        expected = options["expected_live"]
        if expected is None:
            live = live_publication(environment)
            expected = "" if live is None else live.snapshot_id
        try:
            publication = publish(environment, by=None, message=options["message"], expected_live=expected)
        except PolicyError as exc:
            self.refuse(exc)
        self.stdout.write(f"published v{publication.number} of `{environment.slug}`: {publication.snapshot_id}")
