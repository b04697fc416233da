"""`manage.py sandbox status`: what holds tools on this machine, and what they may use."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from apps.firewall.sandbox.levels import LEVELS
from apps.firewall.sandbox.node import node_part
from apps.registry.sandboxing import installation_sandbox


class Command(BaseCommand):
    help = "Say what holds tools on this machine, and why something does not."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("subcommand", choices=["status"])

    def handle(self, *args: Any, **options: Any) -> None:
        sandbox = installation_sandbox()
        for part in (*sandbox.offer.parts, node_part(sandbox.offer)):
            self.stdout.write(f"{part.name:<18} {part.problem or part.version or 'works'}")
        for level in LEVELS:
            self.stdout.write(f"level {level:<12} {sandbox.offer.lacks(level) or 'can be had'}")
        allowance = sandbox.allowance
        self.stdout.write(f"held to at least   {allowance.level}")
        if sandbox.offer.lacks(allowance.level):
            self.stderr.write(f"confined tools do not run: {sandbox.offer.lacks(allowance.level)}")
            raise SystemExit(1)
