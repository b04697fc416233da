"""Print the public key that signs statements about the ledger, or have a new key follow it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.audit.errors import AuditKeyError
from apps.audit.signing import audit_key, key_id, public_pem
from apps.audit.statements import key_rotate


class Command(BaseCommand):
    help = "Print the public key of the audit ledger, for auditors to pin. With --rotate a new key signs from now on."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--rotate", action="store_true", help="make a new key; the old one signs for it and goes")
        parser.add_argument("--pem", action="store_true", help="print it as PEM")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["rotate"]:
                key_rotate(by="manage.py")
            public = audit_key().public
        except AuditKeyError as exc:
            raise CommandError(exc.message) from exc
        if options["pem"]:
            self.stdout.write(public_pem(public).strip())
            return
        self.stdout.write(f"public key   {public.hex()}")
        self.stdout.write(f"fingerprint  {key_id(public)}")
