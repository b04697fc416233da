"""Make an API token and print its secret once."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from apps.accounts.access import Permission
from apps.accounts.errors import AccountError
from apps.accounts.services import token_create
from apps.accounts.telling import Told, tell, token_told


class Command(BaseCommand):
    help = "Create an API token. Its secret is printed once and kept nowhere."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--name", required=True)
        parser.add_argument("--scopes", required=True, help=f"separated by commas, of: {', '.join(Permission)}")
        parser.add_argument("--environment", default="", help="slug; without it the token is good for all")
        parser.add_argument("--agents", default="", help="ids of the only agents it speaks for, separated by commas")
        parser.add_argument("--days", type=int, default=0, help="days until it expires; without it, never")

    def handle(self, **options: Any) -> None:
        days = options["days"]
        if days < 0:
            raise CommandError("--days cannot be negative")
        try:
            with transaction.atomic():
                token, secret = token_create(
                    name=options["name"],
                    scopes=_words(options["scopes"]),
                    environment=options["environment"],
                    agents=_words(options["agents"]),
                    expires_at=timezone.now() + timedelta(days=days) if days else None,
                    by=None,
                )
                tell(Told(kind="token", status="created", environment=token.environment, changes=token_told(token)))
        except AccountError as exc:
            raise CommandError(exc.message) from exc
        self.stdout.write(secret)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
