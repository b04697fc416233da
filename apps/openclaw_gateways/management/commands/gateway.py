"""OpenClaw Gateways at the command line: enrol, list, revoke."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from apps.firewall.errors import FirewallError
from apps.firewall.identifiers import read_id
from apps.openclaw_gateways.models import OpenClawGateway
from apps.openclaw_gateways.selectors import gateways
from apps.openclaw_gateways.services import enrolment_create, gateway_revoke
from apps.policies.selectors import live_publication
from apps.registry.models import Environment
from apps.registry.selectors import environment_find
from apps.registry.services import environment_default

HOW = """On the gateway's machine, with the folder openclaw-plugin of this product at hand:

    umask 077; echo {secret} > enrolment
    node openclaw-plugin/install.mjs --server {server} --enrol-file enrolment
    rm enrolment

Then restart the gateway. The token above is shown this once, and ends {ends}."""

UNPUBLISHED = """Nothing is published in `{environment}`: publish first.
Until then every call of this gateway is refused.
"""


class Command(BaseCommand):
    help = "Enrol an OpenClaw Gateway, list those that are enrolled, or revoke one."

    def add_arguments(self, parser: CommandParser) -> None:
        parts = parser.add_subparsers(dest="part", required=True)
        enrol = parts.add_parser("enrol", help="make an enrolment token")
        enrol.add_argument("name")
        enrol.add_argument("--environment", default="", help="slug of the environment; the first one by default")
        parts.add_parser("list", help="list gateways")
        revoke = parts.add_parser("revoke", help="end a gateway and its token")
        revoke.add_argument("id")

    def handle(self, *args: Any, **options: Any) -> None:
        {"enrol": self._enrol, "list": self._list, "revoke": self._revoke}[options["part"]](options)

    def _enrol(self, options: dict[str, Any]) -> None:
        environment = self._environment(options["environment"])
        try:
            made, secret = enrolment_create(environment, name=options["name"], by=None, at=timezone.now())
        except FirewallError as exc:
            raise CommandError(exc.message) from exc
        if live_publication(environment) is None:
            self.stdout.write(UNPUBLISHED.format(environment=environment.slug))
        ends = f"{made.expires_at:%Y-%m-%d %H:%M} UTC"
        self.stdout.write(HOW.format(secret=secret, server=settings.PUBLIC_URL.rstrip("/"), ends=ends))

    def _list(self, _: dict[str, Any]) -> None:
        at = timezone.now()
        for each in gateways():
            seen = "-" if each.last_seen_at is None else f"{each.last_seen_at:%Y-%m-%d %H:%M:%S}"
            facts = (each.shown_id, each.name, each.environment.slug, each.standing(at), seen, each.openclaw_version)
            self.stdout.write("\t".join(str(fact) for fact in facts))

    def _revoke(self, options: dict[str, Any]) -> None:
        try:
            found = OpenClawGateway.objects.get(pk=read_id("gw", options["id"]))
        except (ValueError, OpenClawGateway.DoesNotExist):
            raise CommandError(f"there is no gateway `{options['id']}`") from None
        gateway_revoke(found, by=None, at=timezone.now())
        self.stdout.write(f"revoked {found.shown_id}")

    def _environment(self, slug: str) -> Environment:
        if not slug:
            return environment_default()
        found = environment_find(slug)
        if found is None:
            raise CommandError(f"there is no environment `{slug}`")
        return found
