"""What the policy commands have in common."""

import sys
from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.policies.errors import PolicyError
from apps.registry.models import Environment
from apps.registry.selectors import environment_find
from apps.registry.services import environment_default


class PolicyCommand(BaseCommand):
    """A command on one environment; mistakes go to standard error, one a line, and make it fail."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--environment", default="", help="slug of the environment; the first one by default")

    def environment(self, options: dict[str, Any]) -> Environment:
        slug = options["environment"]
        if not slug:
            return environment_default()
        found = environment_find(slug)
        if found is None:
            raise CommandError(f"there is no environment `{slug}`")
        return found

    def read(self, name: str) -> bytes:
        """Read a file, or standard input for `-`."""
        if name == "-":
            return sys.stdin.buffer.read()
        try:
            return Path(name).read_bytes()
        except OSError as exc:
            raise CommandError(f"cannot read `{name}`: {exc.strerror}") from exc

    def refuse(self, error: PolicyError) -> NoReturn:
        for detail in error.details:
            self.stderr.write(f"{detail['path'] or '-'}: {detail['message']} [{detail['code']}]")
        raise CommandError(error.message)
