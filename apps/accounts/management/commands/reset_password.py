"""Print a one-time link to a new password, for whoever cannot sign in."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from apps.accounts.errors import AccountError
from apps.accounts.selectors import user_find
from apps.accounts.services import password_reset_link
from apps.accounts.telling import Told, tell


class Command(BaseCommand):
    help = "Print a link with which a person sets a new password; it works once and for a day."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, **options: Any) -> None:
        user = user_find(options["username"])
        if user is None:
            raise CommandError(f"no person named `{options['username']}`")
        try:
            link = password_reset_link(user, by=None, at=timezone.now())
        except AccountError as exc:
            raise CommandError(exc.message) from exc
        tell(Told(kind="user_change", status="reset_link_made", changes={"user": user.username}))
        self.stdout.write(f"{settings.PUBLIC_URL.rstrip('/')}{link.path}")
