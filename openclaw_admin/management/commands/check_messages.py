import contextlib
import io
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

SOURCES = ("apps", "openclaw_admin", "templates", "locale")
SHOWN = 20


class Command(BaseCommand):
    help = "Fail when a text of the sources has no translation, or one whose placeholders differ. Changes no file."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        if not shutil.which("xgettext"):
            raise CommandError("gettext is missing: run `make system`")
        problems = []
        for locale in sorted(path.name for path in (settings.BASE_DIR / "locale").glob("*") if path.is_dir()):
            problems += [f"{locale}: {problem}" for problem in problems_of(fresh_catalogue(locale))]
        for problem in problems[:SHOWN]:
            self.stderr.write(problem)
        if problems:
            raise CommandError(f"{len(problems)} texts are not translated: run `make messages` and fill them in")
        self.stdout.write("messages: every text is translated")


def fresh_catalogue(locale: str) -> Catalog:
    """Collect the texts of the sources into a copy of the committed catalogue."""
    with tempfile.TemporaryDirectory() as folder:
        for name in SOURCES:
            ignored = shutil.ignore_patterns("__pycache__", "migrations", "*.mo")
            shutil.copytree(settings.BASE_DIR / name, Path(folder) / name, ignore=ignored)
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
            call_command("makemessages", locale=[locale], no_location=True, no_wrap=True, verbosity=0)
        path = Path(folder) / "locale" / locale / "LC_MESSAGES" / "django.po"
        return read_po(io.BytesIO(path.read_bytes()), locale=locale)


def problems_of(catalogue: Catalog) -> Iterator[str]:
    for message in catalogue:
        if not message.id:
            continue
        shown = repr(message.id if isinstance(message.id, str) else message.id[0])
        strings = [message.string] if isinstance(message.string, str) else list(message.string or ())
        if message.fuzzy or not strings or not all(strings):
            yield f"not translated: {shown}"
        else:
            yield from (f"{error} in {shown}" for error in message.check(catalogue))
