"""Publish the draft of an environment."""

from typing import Any

from django.core.management.base import CommandParser

from apps.policies.errors import PolicyError
from apps.policies.management.policy_command import PolicyCommand
from apps.policies.selectors import live_publication
from apps.policies.services import publish


class Command(PolicyCommand):
    help = "Make the draft live."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--message", "-m", required=True, help="why")
        parser.add_argument("--expected-live", help="digest that must be live; what is live now by default")

    def handle(self, *args: Any, **options: Any) -> None:
        environment = self.environment(options)
        expected = options["expected_live"]
        if expected is None:
            live = live_publication(environment)
            expected = "" if live is None else live.snapshot_id
        try:
            publication = publish(environment, by=None, message=options["message"], expected_live=expected)
        except PolicyError as exc:
            self.refuse(exc)
        self.stdout.write(f"published v{publication.number} of `{environment.slug}`: {publication.snapshot_id}")
