"""`manage.py coverage status|probe`: whether every way to run a call is on record."""

import time
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from apps.gateway.coverage import probes_begin
from apps.gateway.doors import doors, is_running
from apps.gateway.queue.workers import workers
from apps.gateway.tasks import probes_run_task

WAIT_S: Final = 300.0
LOOK_S: Final = 0.5
WRONG: Final = frozenset({"missing", "failed"})


class Command(BaseCommand):
    help = "Say of every way to run a call whether it is on record (status), or have each tried now (probe)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["status", "probe"])

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "probe":
            self._probe()
        found = doors(timezone.now())
        for door in found:
            entry = "" if door.probe is None or door.probe.seq is None else f"{door.probe.chain_id} #{door.probe.seq}"
            self.stdout.write(f"{door.name:<12} {door.state:<10} {entry} {door.why}".rstrip())
        if any(door.state in WRONG for door in found):
            raise CommandError("not every call is on record")

    def _probe(self) -> None:
        """Try them in this process: it has the same doors, and no worker need be there."""
        if not probes_begin(by="command line", at=timezone.now()):
            raise CommandError("the doors are being tried already")
        try:
            probes_run_task()
            until = time.monotonic() + WAIT_S
            while is_running(doors(timezone.now())) and time.monotonic() < until:
                time.sleep(LOOK_S)
        finally:
            workers.stop()
