"""`manage.py sandbox status`: what holds tools here; `manage.py sandbox workspaces`: what agents' folders hold."""

from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from apps.firewall.sandbox.levels import LEVELS
from apps.firewall.sandbox.limits import MEGABYTE
from apps.firewall.sandbox.node import node_part
from apps.registry.sandboxing import installation_sandbox, installation_space


class Command(BaseCommand):
    help = "Say what holds tools on this machine, and why something does not; or what workspaces hold."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("subcommand", choices=["status", "workspaces"])

    def handle(self, *args: Any, **options: Any) -> None:
        if options["subcommand"] == "workspaces":
            return self._list_workspaces()
        return self._show_status()

    def _list_workspaces(self) -> None:
        space = installation_space()
        for use in space.uses():
            used_at = datetime.fromtimestamp(use.used_at, UTC)
            size = f"{use.used.size_bytes // MEGABYTE:>8} MB {use.used.files:>8} files"
            self.stdout.write(f"{use.environment}/{use.agent:<32} {size}  last used {used_at:%Y-%m-%d %H:%M} UTC")
        quota = space.quota
        for name, most in (("one workspace", quota.workspace), ("all workspaces", quota.installation)):
            self.stdout.write(f"at most, {name:<16} {most.size_bytes // MEGABYTE:>8} MB {most.files:>8} files")
        reserve = quota.free_bytes // MEGABYTE
        self.stdout.write(f"free on the disk {space.free_bytes() // MEGABYTE} MB, kept for records {reserve} MB")

    def _show_status(self) -> None:
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
