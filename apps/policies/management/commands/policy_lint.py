"""Review the draft of an environment."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.policies.management.policy_command import PolicyCommand
from apps.policies.selectors import lint


class Command(PolicyCommand):
    help = "Review the draft: one line per finding; fails on errors, with --strict on warnings, too."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--strict", action="store_true", help="fail on warnings, too")

    def handle(self, *args: Any, **options: Any) -> None:
        findings = lint(self.environment(options))
        for finding in findings:
            self.stdout.write(f"{finding.severity}: {finding.path or '-'}: {finding.message} [{finding.code}]")
        bad = {"error", "warning"} if options["strict"] else {"error"}
        failed = sum(finding.severity in bad for finding in findings)
        if failed:
            raise CommandError(f"{failed} of {len(findings)} findings must be mended")
