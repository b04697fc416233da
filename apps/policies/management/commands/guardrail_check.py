"""Hold an environment's guardrails against a snapshot."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.firewall.engine.snapshot import SnapshotError
from apps.policies.errors import PolicyError
from apps.policies.guardrail_words import counterexample_words
from apps.policies.guardrails import CheckedGuardrail, guardrails_checked
from apps.policies.management.policy_command import PolicyCommand
from apps.policies.selectors import draft_snapshot, live_snapshot


class Command(PolicyCommand):
    help = "Check the guardrails over all contexts: one line each; fails when any of them lets nothing be published."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--at", choices=("draft", "live"), default="draft", help="which snapshot; the draft's")

    def handle(self, *args: Any, **options: Any) -> None:
        environment = self.environment(options)
        try:
            snapshot = live_snapshot(environment) if options["at"] == "live" else draft_snapshot(environment)
        except PolicyError as exc:
            self.refuse(exc)
        except SnapshotError as exc:
            raise CommandError(exc.message) from exc
        if snapshot is None:
            raise CommandError("nothing has been published yet")
        checked = guardrails_checked(environment, snapshot)
        for each in checked:
            self.stdout.write(_line(each))
        stopping = sum(each.stops for each in checked)
        if stopping:
            raise CommandError(f"{stopping} of {len(checked)} guardrails let nothing be published")


def _line(checked: CheckedGuardrail) -> str:
    name, check = checked.guardrail.name, checked.check
    if checked.error:
        return f"unchecked: {name}: {checked.error}"
    if check is None:
        return f"off: {name}"
    if check.counterexample is None:
        unmatched = (
            f"; nothing matches {', '.join(f'`{entry}`' for entry in check.unmatched)}" if check.unmatched else ""
        )
        return f"holds: {name}: {check.asked} contexts{unmatched}"
    accepted = checked.acceptance
    state = f"accepted by {accepted.accepted_by}" if accepted is not None else "fails"
    return f"{state}: {name}: {counterexample_words(check.counterexample)}; {check.classes} of {check.asked} contexts"
