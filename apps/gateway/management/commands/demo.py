"""`manage.py demo`: say what removing the demo would do, and remove it."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from apps.gateway.demo import Demo, demo_found, demo_remove
from apps.registry.models import Environment
from apps.registry.selectors import environment_find
from apps.registry.services import environment_default

WHY = {"changed": "somebody changed it", "holds": "it holds what somebody made or changed"}


class Command(BaseCommand):
    help = "The demo of an environment: show what would go and what would stay, or remove it."

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="subcommand", required=True, metavar="SUBCOMMAND")
        show = kinds.add_parser("show", help="say what goes and what stays; nothing is changed")
        remove = kinds.add_parser("remove", help="remove what the demo brought and nobody changed")
        for each in (show, remove):
            each.add_argument("--environment", default="", help="slug of the environment; the first one by default")

    def handle(self, *_: Any, **options: Any) -> None:
        environment = self._environment(options["environment"])
        if options["subcommand"] == "remove":
            self._tell(demo_remove(environment, by=None, at=timezone.now()), "removed")
        else:
            self._tell(demo_found(environment), "goes")

    def _environment(self, slug: str) -> Environment:
        found = environment_find(slug) if slug else environment_default()
        if found is None:
            raise CommandError(f"there is no environment `{slug}`")
        return found

    def _tell(self, demo: Demo, word: str) -> None:
        self.stdout.write(f"{word}: {_listed(demo.goes)}")
        for each in demo.stays:
            self.stdout.write(f"stays: {each.kind} {each.name}: {WHY[each.why]}")
        if demo.live:
            self.stdout.write(f"stays: {demo.live} is live and speaks of the demo until somebody publishes")
        self.stdout.write("stays: what the ledger holds, publications, people")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in counts.items()) or "nothing"
