"""`manage.py coverage status|probe`: whether every way to run a call is on record."""

import time
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from apps.gateway.doors import Door, doors, is_running, probes_start
from apps.gateway.errors import ProbesBusyError

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
        try:
            probes_start(by="command line", at=timezone.now())
        except ProbesBusyError as exc:
            raise CommandError(exc.message) from exc
        until = time.monotonic() + WAIT_S
        while is_running(self._doors()) and time.monotonic() < until:
            time.sleep(LOOK_S)

    @staticmethod
    def _doors() -> list[Door]:
        return doors(timezone.now())
