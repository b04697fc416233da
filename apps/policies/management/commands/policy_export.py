"""Write the draft of an environment: `openclaw.json`, the exec approvals document, or grants and filters."""

import json
import os
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from apps.policies.management.policy_command import PolicyCommand
from apps.policies.selectors import Secrets, approvals_export, document_export, guards_export


class Command(PolicyCommand):
    help = "Write the draft as openclaw.json in the current form of its release, secrets included unless --masked."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--output", "-o", help="write to this file, readable by its owner only")
        parser.add_argument("--approvals", action="store_true", help="write the exec approvals document instead")
        parser.add_argument("--guards", action="store_true", help="write the grants and content filters instead")
        parser.add_argument("--masked", action="store_true", help="put OpenClaw's placeholder in place of secrets")

    def handle(self, *args: Any, **options: Any) -> None:
        environment = self.environment(options)
        secrets: Secrets = "masked" if options["masked"] else "open"
        export = approvals_export if options["approvals"] else document_export
        document = guards_export(environment) if options["guards"] else export(environment, secrets=secrets)
        if document is None:
            raise CommandError(f"`{environment.slug}` has no exec approvals document")
        text = json.dumps(document, ensure_ascii=False, indent=2)
        if options["output"] is None:
            self.stdout.write(text)
            return
        try:
            _write_private(Path(options["output"]), text + "\n")
        except OSError as exc:
            raise CommandError(f"cannot write `{options['output']}`: {exc.strerror}") from exc


def _write_private(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.fchmod(descriptor, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
