from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections

from openclaw_admin.schema import schema_is_current, schema_write


class Command(BaseCommand):
    help = "Write the tables of a new database down, from the migrations, in an empty database of DATABASE_OWNER_URL."
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="only say whether the file is of these migrations")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["check"]:
            if not schema_is_current():
                raise CommandError("schema.sql is of other migrations: run `make schema`")
            self.stdout.write("schema.sql is of these migrations")
            return
        try:
            count = schema_write(connections["owner"])
        except ValueError as exc:
            raise CommandError(str(exc)) from exc
        self.stdout.write(f"schema.sql: {count} statements")
