from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.audit.errors import AuditError
from openclaw_admin.backups import DATABASE, backup
from openclaw_admin.embedded.errors import EmbeddedError
from openclaw_admin.serving import database_at_hand


class Command(BaseCommand):
    help = "Write the database as of one moment, and a signed manifest, into a new folder. Keys and exports stay apart."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="new, or empty")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with database_at_hand(self.stdout.write):
                said = backup(options["folder"], write=self.stdout.write)
        except (EmbeddedError, AuditError) as exc:
            raise CommandError(str(exc)) from exc
        entries = sum(each["seq"] for each in said["chains"])
        size = said["files"][DATABASE]["size_bytes"]
        self.stdout.write(f"{len(said['chains'])} chains up to {entries} entries, {size} bytes")
        self.stdout.write("keys and exports are not in it: keep the key files apart, nothing sealed opens without them")
