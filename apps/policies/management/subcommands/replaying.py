"""`policy replay`: past calls held against the draft of an environment."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from apps.firewall.engine.snapshot import Snapshot, SnapshotError
from apps.policies.errors import PolicyError
from apps.policies.management.policy_command import Subcommand
from apps.policies.models import Replay
from apps.policies.replays.asking import replay_request
from apps.policies.replays.running import replay_run
from apps.policies.selectors import draft_snapshot, live_snapshot
from apps.registry.models import Environment

TURN_S = 1.0
FLIPS = ("blocked", "allowed", "asked", "unasked")


class Replaying(Subcommand):
    help = "Hold the calls of the last days against the draft: what would have been decided otherwise."

    @classmethod
    def add_arguments(cls, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--days", type=int, default=7, help="how many days back; 7 by default")
        parser.add_argument("--live", action="store_true", help="replay what is live, which must flip nothing")
        parser.add_argument("--fail-on-flips", action="store_true", help="fail when any call would change")
        parser.add_argument("--json", action="store_true", help="write figures and groups as JSON")

    def run(self, options: dict[str, Any]) -> None:
        environment = self.environment(options)
        snapshot = self._snapshot(environment, is_live=options["live"])
        try:
            replay = replay_request(environment, snapshot, days=options["days"], by=None, at=timezone.now())
        except PolicyError as exc:
            self.refuse(exc)
        while replay_run(replay.pk, at=timezone.now(), limit_s=TURN_S):
            replay.refresh_from_db()
            self.stderr.write(f"{replay.calls_done} of {replay.calls_total} calls")
        replay.refresh_from_db()
        if not replay.is_done:
            raise CommandError(f"the replay {replay.shown_id} is {replay.state}: another worker has it")
        self.stdout.write(json.dumps(replay.tally, indent=2) if options["json"] else "\n".join(_lines(replay)))
        flips = sum(replay.tally["counts"].get(change, 0) for change in FLIPS)
        if flips and options["fail_on_flips"]:
            raise CommandError(f"{flips} of {replay.calls_done} calls would be decided otherwise")

    def _snapshot(self, environment: Environment, *, is_live: bool) -> Snapshot:
        try:
            snapshot = live_snapshot(environment) if is_live else draft_snapshot(environment)
        except SnapshotError as exc:
            raise CommandError(exc.message) from exc
        if snapshot is None:
            raise CommandError("nothing has been published yet")
        return snapshot


def _lines(replay: Replay) -> list[str]:
    counts = replay.tally["counts"]
    figures = ", ".join(f"{counts.get(change, 0)} {change}" for change in (*FLIPS, "same", "unknown"))
    lines = [f"{replay.calls_done} calls of {replay.days} days against {replay.draft_digest[:12]}: {figures}"]
    for group in replay.tally["groups"]:
        draft = group["draft"]
        why = group["reason"] if draft is None else draft["rule"] or draft["layer"] or draft["verdict"]
        lines.append(f"{group['change']}: {group['count']} x {group['agent'] or '-'} {group['tool']}: {why}")
    return lines
