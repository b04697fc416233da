"""Walk every chain of the ledger and say whether it holds."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.audit.verification import verify_chains
from apps.firewall.identifiers import show_id


class Command(BaseCommand):
    help = "Walk every chain of the audit ledger: hashes, numbers, contents. Exits 1 when something does not hold."

    def handle(self, *args: Any, **options: Any) -> None:
        report = verify_chains(progress=lambda walked: self.stderr.write(f"{walked:,} entries …"))
        for problem in report.problems:
            self.stdout.write(f"{show_id('chain', problem.chain_id)} #{problem.seq}: {problem.message}")
        chains = "chain" if report.chains == 1 else "chains"
        self.stdout.write(
            f"{report.entries:,} entries in {report.chains:,} {chains}, {report.contents:,} contents checked,"
            f" {report.erased:,} erased"
        )
        if report.problems:
            found = "1 problem" if len(report.problems) == 1 else f"{len(report.problems)} problems"
            raise CommandError(f"the ledger does not hold: {found}")
        self.stdout.write(self.style.SUCCESS("every chain holds"))
