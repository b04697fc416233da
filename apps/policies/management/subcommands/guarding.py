"""`policy guardrails`: hold the house rules of an environment against a snapshot."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.firewall.errors import FirewallError
from apps.policies.guardrail_words import counterexample_words
from apps.policies.guardrails import CheckedGuardrail, guardrails_checked
from apps.policies.management.policy_command import CANNOT, Subcommand
from apps.policies.selectors import draft_snapshot, live_snapshot


class Guardrails(Subcommand):
    help = (
        "Check the guardrails over all contexts, one line each. Ends with 0 when all hold or are accepted, 1 when one "
        "lets nothing be published, 2 when they cannot be checked."
    )

    @classmethod
    def add_arguments(cls, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--at", choices=["draft", "live"], default="draft", help="which policy is asked")

    def run(self, options: dict[str, Any]) -> None:
        environment = self.environment(options)
        try:
            snapshot = live_snapshot(environment) if options["at"] == "live" else draft_snapshot(environment)
        except FirewallError as exc:
            raise CommandError(exc.message, returncode=CANNOT) from exc
        if snapshot is None:
            raise CommandError(f"nothing has been published in `{environment.slug}`", returncode=CANNOT)
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
