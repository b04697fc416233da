import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from openclaw_admin.database import is_disk_full
from openclaw_admin.embedded.errors import EmbeddedError
from openclaw_admin.serving import Options, serve


class Command(BaseCommand):
    help = "Serve the console, the API and the agents' door; start a PostgreSQL of our own without DATABASE_URL."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--demo", action="store_true", help="on an empty database, import the demo and publish it")
        parser.add_argument("--no-background", action="store_true", help="leave tasks to Celery workers elsewhere")
        parser.add_argument("--no-prepare", action="store_true", help="leave migrations to prepare_database elsewhere")

    def handle(self, *args: Any, **options: Any) -> None:
        choice = Options(
            options["host"], options["port"], options["demo"], not options["no_background"], not options["no_prepare"]
        )
        try:
            serve(choice, self.say)
        except KeyboardInterrupt:
            sys.exit(130)
        except EmbeddedError as exc:
            self.refuse(str(exc))
        except Exception as exc:
            if not is_disk_full(exc):
                raise
            self.refuse("the disk is full: free some space and start again")

    def say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()

    def refuse(self, reason: str) -> None:
        self.stderr.write(f"OpenClaw Admin does not start: {reason}")
        sys.exit(1)
