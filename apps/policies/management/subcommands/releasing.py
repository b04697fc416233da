"""`policy lint`, `policy publish` and `policy promote`."""

from datetime import datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from apps.events.barrier import barrier_wait
from apps.policies.errors import PolicyError
from apps.policies.management.policy_command import Subcommand
from apps.policies.models import Publication, PublishRequest
from apps.policies.rules_of_release import needs_second_person
from apps.policies.selectors import lint, live_publication, publication_get
from apps.policies.services import promote, publish, publish_ask
from apps.registry.models import Environment
from apps.registry.selectors import environment_find


class Lint(Subcommand):
    help = "Review the draft: one line per finding; fails on errors, with --strict on warnings, too."

    @classmethod
    def add_arguments(cls, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--strict", action="store_true", help="fail on warnings, too")

    def run(self, options: dict[str, Any]) -> None:
        findings = lint(self.environment(options))
        for finding in findings:
            self.stdout.write(f"{finding.severity}: {finding.path or '-'}: {finding.message} [{finding.code}]")
        bad = {"error", "warning"} if options["strict"] else {"error"}
        failed = sum(finding.severity in bad for finding in findings)
        if failed:
            raise CommandError(f"{failed} of {len(findings)} findings must be mended")


class Publish(Subcommand):
    help = "Make the draft live, or ask for it: at a time, or of a second person where the environment wants one."

    @classmethod
    def add_arguments(cls, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--message", "-m", required=True, help="why")
        parser.add_argument("--at", help="when, instead of now: 2026-12-01T06:00:00+00:00")
        parser.add_argument("--expected-live", help="digest that must be live; what is live now by default")
        parser.add_argument("--expected-draft", help="digest that the draft must have; as it is now by default")
        parser.add_argument("--force", action="store_true", help="publish also a draft that is what is live already")

    def run(self, options: dict[str, Any]) -> None:
        environment = self.environment(options)
        expected = options["expected_live"]
        if expected is None:
            expected = _live_digest(environment)
        at, wanted = _time(options["at"]), _wanted(options, expected)
        try:
            if at is not None or needs_second_person(environment):
                made: Publication | PublishRequest = publish_ask(
                    environment, by=None, at=timezone.now(), publish_at=at, **wanted
                )
            else:
                made = publish(environment, by=None, **wanted)
        except PolicyError as exc:
            self.refuse(exc)
        _tell(self, made, environment)


class Promote(Subcommand):
    help = "Make live here what another environment has live; where two people publish, ask the second one."

    @classmethod
    def add_arguments(cls, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--from", dest="source", required=True, help="slug of the other environment")
        parser.add_argument("--message", "-m", required=True, help="why")

    def run(self, options: dict[str, Any]) -> None:
        environment, source = self.environment(options), environment_find(options["source"])
        theirs = None if source is None else live_publication(source)
        whole = None if theirs is None else publication_get(theirs.pk)
        if whole is None:
            raise CommandError(f"nothing is live in an environment `{options['source']}`")
        wanted = {"message": options["message"], "expected_live": _live_digest(environment)}
        try:
            made = promote(environment, whole, by=None, at=timezone.now(), **wanted)
        except PolicyError as exc:
            self.refuse(exc)
        _tell(self, made, environment)


def _live_digest(environment: Environment) -> str:
    live = live_publication(environment)
    return "" if live is None else live.snapshot_id


def _time(text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError as exc:
        raise CommandError(f"`{text}` is no time such as 2026-12-01T06:00:00+00:00") from exc
    if at.tzinfo is None:
        raise CommandError("the time needs an offset, such as `+00:00`")
    return at


def _wanted(options: dict[str, Any], expected_live: str) -> dict[str, Any]:
    return {
        "message": options["message"],
        "expected_live": expected_live,
        "expected_draft": options["expected_draft"],
        "may_repeat": options["force"],
    }


def _tell(command: Subcommand, made: Publication | PublishRequest, environment: Environment) -> None:
    """Say what was made; of a publication also which processes hold to it, once they do or after a bound."""
    if isinstance(made, PublishRequest):
        command.stdout.write(f"{made.state}: {made.shown_id} for {made.digest} of `{environment.slug}`")
        return
    command.stdout.write(f"published v{made.number} of `{environment.slug}`: {made.snapshot_id}")
    heard_by = barrier_wait()
    command.stdout.write(f"heard by {heard_by.heard} of {len(heard_by.processes)} processes that run calls")
    for each in heard_by.processes:
        if not each.has_heard:
            command.stderr.write(f"no answer in time: {each.kind} {each.host} ({each.pid})")
