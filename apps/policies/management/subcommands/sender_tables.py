"""Rules by sender as a CSV table: try one, take it into the draft, or write it."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.policies.channels import group_named
from apps.policies.document.sender_table import write_table
from apps.policies.errors import DocumentInvalidError
from apps.policies.management.policy_command import Subcommand
from apps.policies.selectors import agent_get, sender_rules
from apps.policies.services import SenderReport, senders_check, senders_import
from apps.registry.models import Environment


class Senders(Subcommand):
    help = (
        "Import or export rules by sender as CSV. An import is a dry run unless --apply, and taken whole or not at all."
    )

    @classmethod
    def add_arguments(cls, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("action", choices=["import", "export"])
        parser.add_argument("file", nargs="?", default="-", help="the table to import, - for standard input")
        parser.add_argument("--agent", default="", help="id of the agent with which the rules stand")
        parser.add_argument("--group", default="", help="path of the group, such as telegram.groups.-100")
        parser.add_argument("--apply", action="store_true", help="write; without it nothing is changed")

    def run(self, options: dict[str, Any]) -> None:
        environment = self.environment(options)
        scope = self._scope(environment, options)
        if options["action"] == "export":
            for part in write_table(sender_rules(environment, **scope).iterator(chunk_size=2000), mark=False):
                self.stdout.write(part, ending="")
            return
        content = self.read(options["file"])
        try:
            if options["apply"]:
                report = senders_import(environment, content, by=None, **scope)
            else:
                report = senders_check(environment, content, **scope)
        except DocumentInvalidError as error:
            self.refuse(error)
        self._tell(report)

    def _scope(self, environment: Environment, options: dict[str, Any]) -> dict[str, Any]:
        if options["agent"] and options["group"]:
            raise CommandError("name an agent or a group, not both")
        agent = agent_get(environment, options["agent"]) if options["agent"] else None
        group = group_named(environment, options["group"]) if options["group"] else None
        if options["agent"] and agent is None:
            raise CommandError(f"there is no agent `{options['agent']}`")
        if options["group"] and group is None:
            raise CommandError(f"there is no group `{options['group']}`")
        return {"agent": agent, "group": group}

    def _tell(self, report: SenderReport) -> None:
        for row in report.rows:
            if row.mistake is not None:
                field = f".{row.mistake.field}" if row.mistake.field else ""
                self.stderr.write(f"line {row.line}{field}: {row.mistake.message} [{row.mistake.code}]")
        said = ", ".join(f"{number} {outcome}" for outcome, number in report.counts.items())
        self.stdout.write(f"{'imported' if report.is_applied else 'dry run'}: {said}")
        if report.counts["refused"]:
            raise CommandError("the table has mistakes")
