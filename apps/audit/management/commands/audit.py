"""The ledger at the command line: take it away, verify it, search it."""

import shutil
import sys
import time
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final

import orjson
from django.contrib.auth.models import AnonymousUser
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from apps.audit.chain import instant_text
from apps.audit.errors import AuditError
from apps.audit.export_files import manifest_path
from apps.audit.exporting import export_run
from apps.audit.exports import export_by_machine, export_of_machine, export_path, export_stream_by_machine
from apps.audit.filters import EntryFilters
from apps.audit.formats import FORMATS, STREAMED
from apps.audit.looks import search_record
from apps.audit.models import Export
from apps.audit.rows import EntryRow
from apps.audit.selectors import entries
from apps.audit.verification import verify_chains
from apps.firewall.identifiers import read_id

STANDARD_OUTPUT: Final = "-"
TURN_S: Final = 1.0
LIMIT: Final = 500


class Command(BaseCommand):
    help = "Take the audit ledger away (export), walk its chains (verify), look for entries (search)."

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        export = actions.add_parser("export", help="write every entry that matches, oldest first")
        export.add_argument("--format", choices=sorted(FORMATS), default="jsonl")
        export.add_argument("--output", required=True, help="file to write, `-` for standard output")
        export.add_argument("--resume", default="", metavar="EXP", help="go on with an export that was interrupted")
        search = actions.add_parser("search", help="list entries that match, newest first")
        search.add_argument("words", nargs="*", help="as in the console: `tool:exec agent:bot words`")
        search.add_argument("--limit", type=int, default=50, help=f"at most {LIMIT}")
        search.add_argument("--json", action="store_true", help="one JSON object a line")
        for each in (export, search):
            each.add_argument("--filter", action="append", default=[], metavar="NAME=VALUE", help="may be repeated")
        actions.add_parser("verify", help="walk every chain; exits 1 when something does not hold")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            {"export": self._export, "search": self._search, "verify": self._verify}[options["action"]](options)
        except AuditError as exc:
            raise CommandError(exc.message) from exc

    def _export(self, options: dict[str, Any]) -> None:
        if options["output"] == STANDARD_OUTPUT:
            self._stream(options)
            return
        output = Path(options["output"])
        export = self._asked(options)
        self.stderr.write(f"export {export.shown_id}; should this end early: --resume {export.shown_id}")
        while export.is_open:
            if not export_run(export.pk, at=timezone.now(), limit_s=TURN_S):
                time.sleep(TURN_S)  # a worker that was killed just now holds it for a minute; another one may write it
            export.refresh_from_db()
            self.stderr.write(f"{export.rows_done:,} of {export.rows_total or 0:,} entries")
        if export.state != Export.State.DONE:
            raise CommandError(f"the export is {export.state} {export.error}".rstrip())
        path = export_path(export)
        for source, target in ((path, output), (manifest_path(path), manifest_path(output))):
            shutil.copyfile(source, target)
            target.chmod(0o600)
        self.stdout.write(f"{export.rows_done:,} entries in {output}, signed manifest in {manifest_path(output)}")

    def _asked(self, options: dict[str, Any]) -> Export:
        if not options["resume"]:
            return export_by_machine(filters=_filters(options), format_name=options["format"], at=timezone.now())
        try:
            return export_of_machine(read_id("exp", options["resume"]))
        except ValueError:
            raise CommandError(f"`{options['resume']}` is not the id of an export") from None

    def _stream(self, options: dict[str, Any]) -> None:
        if options["format"] not in STREAMED:
            raise CommandError(f"`{options['format']}` needs a file: name one with --output")
        lines = export_stream_by_machine(filters=_filters(options), format_name=options["format"], at=timezone.now())
        for block in lines:
            sys.stdout.buffer.write(block)  # bytes, as they are
        sys.stdout.flush()

    def _search(self, options: dict[str, Any]) -> None:
        filters = _filters(options).with_search(" ".join(options["words"]))
        search_record(AnonymousUser(), filters, of="command line")
        page = entries(filters, limit=max(1, min(options["limit"], LIMIT)))
        for row in page.rows:
            self.stdout.write(_json(row) if options["json"] else _line(row))
        if page.older is not None:
            self.stderr.write("there is more: raise --limit, or say more words")

    def _verify(self, _options: dict[str, Any]) -> None:
        report = verify_chains(progress=lambda walked: self.stderr.write(f"{walked:,} entries …"))
        for problem in report.problems:
            self.stdout.write(f"{problem.place}: {problem.message}")
        chains = "chain" if report.chains == 1 else "chains"
        self.stdout.write(
            f"{report.entries:,} entries in {report.chains:,} {chains}, {report.contents:,} contents checked,"
            f" {report.erased:,} erased"
        )
        if report.problems:
            found = "1 problem" if len(report.problems) == 1 else f"{len(report.problems)} problems"
            raise CommandError(f"the ledger does not hold: {found}")
        self.stdout.write(self.style.SUCCESS("every chain holds"))


def _filters(options: dict[str, Any]) -> EntryFilters:
    known = {field.name for field in fields(EntryFilters)}
    given: dict[str, list[str]] = {}
    for each in options["filter"]:
        name, sign, value = each.partition("=")
        if not sign or name not in known:
            names = ", ".join(sorted(known))
            raise CommandError(f"`{each}` is no filter: write NAME=VALUE, where NAME is one of {names}")
        given.setdefault(name, []).append(value)
    return EntryFilters.read(given)


def _line(row: EntryRow) -> str:
    parts = (instant_text(row.at), row.kind, row.status or "-", row.agent or row.actor, row.tool or "-", row.shown_id)
    return "  ".join(part if part.isprintable() else ascii(part) for part in parts)


def _json(row: EntryRow) -> str:
    values = {name: value.hex() if isinstance(value, bytes) else value for name, value in asdict(row).items()}
    return orjson.dumps(values, option=orjson.OPT_UTC_Z).decode()
