"""`policy upgrade`: preview what another release of OpenClaw changes for an environment, and speak it."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.firewall.engine.blast import contexts_by_agent
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.diff import SnapshotDiff
from apps.firewall.engine.snapshot import SnapshotError
from apps.policies.management.policy_command import Subcommand
from apps.policies.upgrading import draft_upgrade, releases_beside
from apps.registry.errors import RegistryError
from apps.registry.services import environment_set_dialect


class Upgrade(Subcommand):
    help = "Say what another release changes, cause by cause; with --apply the draft speaks it from then on."

    @classmethod
    def add_arguments(cls, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--to", choices=list(DIALECTS), help="the release; the other one by default")
        parser.add_argument("--apply", action="store_true", help="have the draft speak it; nothing live changes")

    def run(self, options: dict[str, Any]) -> None:
        environment = self.environment(options)
        release = options["to"] or releases_beside(environment)[0]
        try:
            upgrade = draft_upgrade(environment, release)
            self.stdout.write(f"{environment.slug}: {environment.dialect} -> {release}: {_told(upgrade.diff)}")
            for share in upgrade.shares:
                self.stdout.write(f"  {share.cause}: {_told(share.diff)}")
            for change in upgrade.commands:
                words = ", ".join(f"{word.name} {word.before or '-'} -> {word.after or '-'}" for word in change.words)
                where = "inside" if change.sandboxed else "outside"
                self.stdout.write(f"  commands of {', '.join(change.agents)} {where} a sandbox: {words}")
            if options["apply"]:
                environment_set_dialect(environment, dialect=release)
                self.stdout.write(f"the draft of `{environment.slug}` speaks {release}; nothing live has changed")
        except (RegistryError, SnapshotError) as exc:
            raise CommandError(exc.message) from exc


def _told(diff: SnapshotDiff) -> str:
    lost = {tool for change in diff.changes for tool in change.lost}
    gained = {tool for change in diff.changes for tool in change.gained}
    met = contexts_by_agent(diff.changes).total()
    parts = [f"{met} of {diff.contexts} contexts change"]
    parts += [f"lost {', '.join(sorted(lost))}"] if lost else []
    parts += [f"gained {', '.join(sorted(gained))}"] if gained else []
    return "; ".join(parts)
