"""What the subcommands of `manage.py policy` have in common."""

import sys
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.policies.errors import PolicyError
from apps.policies.files import FILES
from apps.registry.models import Environment
from apps.registry.selectors import environment_find
from apps.registry.services import environment_default

CANNOT = 2
"""The exit status of a check that could not be made; 1 says that it was made and failed."""


class Subcommand:
    """One thing to do with the policy of one environment; mistakes go to standard error, one a line, and fail."""

    help: ClassVar[str]

    def __init__(self, command: BaseCommand) -> None:
        self.stdout = command.stdout
        self.stderr = command.stderr

    @classmethod
    def add_arguments(cls, parser: CommandParser) -> None:
        parser.add_argument("--environment", default="", help="slug of the environment; the first one by default")

    def run(self, options: dict[str, Any]) -> None:
        raise NotImplementedError

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

    def read_folder(self, name: str) -> dict[str, bytes]:
        """Read the files of a policy that a folder holds; other files in it are none of ours."""
        folder = Path(name)
        found = {file: self.read(str(folder / file)) for file in FILES if (folder / file).exists()}
        if not found:
            raise CommandError(f"`{name}` holds none of {', '.join(FILES)}")
        return found

    def refuse(self, error: PolicyError, *, status: int = 1) -> NoReturn:
        for detail in error.details:
            self.stderr.write(f"{detail['path'] or '-'}: {detail['message']} [{detail['code']}]")
        raise CommandError(error.message, returncode=status)
