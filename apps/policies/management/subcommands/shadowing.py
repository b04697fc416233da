"""`policy shadow`: changes of the draft that are watched without being enforced."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from apps.firewall.engine.snapshot import SnapshotError
from apps.firewall.identifiers import read_id
from apps.policies.errors import PolicyError
from apps.policies.management.policy_command import Subcommand
from apps.policies.models import ShadowRule
from apps.policies.replays.tallying import CHANGES
from apps.policies.selectors import draft_changes
from apps.policies.shadows.starting import CHANGES_LIMIT, shadow_start, shadow_stop, shadows_of
from apps.registry.models import Environment


class Shadowing(Subcommand):
    help = "Watch a change of the draft without enforcing it: list, start with its place, or stop one."

    @classmethod
    def add_arguments(cls, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("action", choices=("list", "start", "stop"))
        parser.add_argument(
            "what", nargs="?", default="", help="the place of the record that the draft changes; the id of one to stop"
        )
        parser.add_argument("--json", action="store_true", help="write counters and groups as JSON")

    def run(self, options: dict[str, Any]) -> None:
        environment = self.environment(options)
        try:
            found = getattr(self, f"_{options['action']}")(environment, options["what"])
        except PolicyError as exc:
            self.refuse(exc)
        except SnapshotError as exc:
            raise CommandError(exc.message) from exc
        if options["json"]:
            self.stdout.write(json.dumps([_written(each) for each in found], indent=2))
            return
        for each in found:
            self.stdout.write(_line(each))

    def _list(self, environment: Environment, _what: str) -> list[ShadowRule]:
        return list(shadows_of(environment))

    def _start(self, environment: Environment, what: str) -> list[ShadowRule]:
        changes = draft_changes(environment, limit=CHANGES_LIMIT)
        found = {(each.kind, each.record) for each in changes if each.label == what}
        if len(found) != 1:
            places = ", ".join(sorted({each.label for each in changes if each.label})[:20]) or "nothing"
            raise CommandError(f"the draft changes no record at `{what}`; it changes {places}")
        kind, record = found.pop()
        return [shadow_start(environment, kind, record, by=None, at=timezone.now())]

    def _stop(self, environment: Environment, what: str) -> list[ShadowRule]:
        try:
            found = shadows_of(environment).filter(pk=read_id("shadow", what)).first()
        except ValueError:
            found = None
        if found is None:
            raise CommandError(f"there is no shadow rule `{what}`")
        return [shadow_stop(found, by=None, at=timezone.now())]


def _line(shadow: ShadowRule) -> str:
    figures = ", ".join(f"{shadow.counts.get(change, 0)} {change}" for change in CHANGES)
    return f"{shadow.shown_id} {shadow.state} {shadow.place}: {shadow.calls_seen} calls seen, {figures}"


def _written(shadow: ShadowRule) -> dict[str, Any]:
    said = {name: getattr(shadow, name) for name in ("state", "kind", "place", "calls_seen", "edits", "tally")}
    return {"id": shadow.shown_id, "started_at": shadow.started_at.isoformat(), **said}
