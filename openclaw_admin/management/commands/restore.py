from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.audit.errors import AuditError
from openclaw_admin.embedded.errors import EmbeddedError
from openclaw_admin.restores import restore
from openclaw_admin.serving import database_at_hand


class Command(BaseCommand):
    help = "Bring a backup into an empty database, give both roles their rights, and verify every chain of its ledger."
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="that `backup` wrote")
        parser.add_argument(
            "--other-keys", action="store_true", help="go on although the audit key is not the backup's"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with database_at_hand(self.stdout.write):
                entries = restore(options["folder"], write=self.stdout.write, wants_key=not options["other_keys"])
        except (EmbeddedError, AuditError) as exc:
            raise CommandError(str(exc)) from exc
        self.stdout.write(f"restored and verified: {entries} entries")
