"""Set up the first people of an empty installation, one for each role, and print their passwords once."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from apps.accounts.services import people_first


class Command(BaseCommand):
    help = "Create admin, operator, auditor and viewer with generated passwords, when nobody exists yet."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object: user name to password")

    def handle(self, **options: Any) -> None:
        passwords = people_first()
        if options["json"]:
            self.stdout.write(json.dumps(passwords))
            return
        if not passwords:
            self.stdout.write("people exist already: nobody was created")
        for username, password in passwords.items():
            self.stdout.write(f"{username:<10} {password}")
