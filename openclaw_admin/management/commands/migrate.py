from typing import Any

from django.core.management.base import CommandParser
from django.core.management.commands import migrate
from django.db import connections

from openclaw_admin.schema import schema_load

PARTLY = ("app_label", "fake", "plan", "check_unapplied")  # whoever wants less than every migration, really run


class Command(migrate.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--step-by-step", action="store_true", help="migrate an empty database, too, step by step")

    def handle(self, *args: Any, **options: Any) -> None:
        step_by_step = options.pop("step_by_step", False)
        if not (step_by_step or any(options[name] for name in PARTLY)):
            schema_load(connections[options["database"]])
        super().handle(*args, **options)
