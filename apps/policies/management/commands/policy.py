"""`manage.py policy`: the policy of an environment at the command line, and as files of a repository."""

from collections.abc import Mapping
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandParser

from apps.policies.management.policy_command import Subcommand
from apps.policies.management.subcommands.applying import Apply, Diff
from apps.policies.management.subcommands.documents import Export, Import
from apps.policies.management.subcommands.guarding import Guardrails
from apps.policies.management.subcommands.releasing import Lint, Promote, Publish
from apps.policies.management.subcommands.replaying import Replaying
from apps.policies.management.subcommands.sender_tables import Senders
from apps.policies.management.subcommands.shadowing import Shadowing
from apps.policies.management.subcommands.testing import Test
from apps.policies.management.subcommands.upgrading import Upgrade

KINDS: Final[Mapping[str, type[Subcommand]]] = {
    "import": Import,
    "export": Export,
    "diff": Diff,
    "apply": Apply,
    "senders": Senders,
    "lint": Lint,
    "test": Test,
    "guardrails": Guardrails,
    "replay": Replaying,
    "shadow": Shadowing,
    "upgrade": Upgrade,
    "publish": Publish,
    "promote": Promote,
}


class Command(BaseCommand):
    help = "The policy of an environment: documents, files, findings, tests, guardrails, replays, publishing."

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="subcommand", required=True, metavar="SUBCOMMAND")
        for name, kind in KINDS.items():
            kind.add_arguments(kinds.add_parser(name, help=kind.help, description=kind.help))

    def handle(self, *_args: Any, **options: Any) -> None:
        KINDS[options["subcommand"]](self).run(options)
