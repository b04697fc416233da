from typing import Any

from django.core.management.base import BaseCommand, CommandError

from openclaw_admin.database import prepare
from openclaw_admin.embedded.errors import EmbeddedError


class Command(BaseCommand):
    help = "Migrate the database as its owner and give the application's role its rights."
    requires_migrations_checks = False

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            prepare(self.stdout.write)
        except EmbeddedError as exc:
            raise CommandError(str(exc)) from exc
        self.stdout.write("the database is ready")
