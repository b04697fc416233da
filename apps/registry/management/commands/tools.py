"""The registry of tools at the command line: one subcommand for each thing to do."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.firewall.errors import FirewallError
from apps.registry.management.subcommands import SUBCOMMANDS
from apps.registry.models import Environment
from apps.registry.selectors import environment_find
from apps.registry.services import environment_default


class Command(BaseCommand):
    help = "List, look for, register, move, accept, check and describe tools."

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="subcommand", required=True, metavar="SUBCOMMAND")
        for name, subcommand in SUBCOMMANDS.items():
            own = kinds.add_parser(name, help=subcommand.help)
            own.add_argument("--environment", default="", help="slug of the environment; the first one by default")
            subcommand.arguments(own)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            SUBCOMMANDS[options["subcommand"]].run(self, self.environment(options["environment"]), options)
        except FirewallError as exc:
            for detail in getattr(exc, "details", ()):
                self.stderr.write(f"{detail['path'] or '-'}: {detail['message']} [{detail['code']}]")
            raise CommandError(f"{exc.message} [{exc.code}]") from exc

    def environment(self, slug: str) -> Environment:
        if not slug:
            return environment_default()
        found = environment_find(slug)
        if found is None:
            raise CommandError(f"there is no environment `{slug}`")
        return found
