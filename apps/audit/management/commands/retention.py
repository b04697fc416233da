"""How long records are kept, what must not go, and whose contents are erased, at the command line."""

from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from apps.audit.errors import AuditError
from apps.audit.retention.classes import CLASSES, purge_preview, retention_classes, retention_set
from apps.audit.retention.erasing import erasure_preview, erasure_request, erasure_run
from apps.audit.retention.holds import FIELDS, hold_find, hold_lift, hold_place, holds_active
from apps.audit.retention.purging import months_drop, purge_run
from apps.audit.retention.vacuuming import rows_vacuum
from apps.firewall.identifiers import read_id


class Command(BaseCommand):
    help = "How long records are kept (show, set), purges (preview, purge), holds (hold, holds, lift), erase, vacuum."

    def add_arguments(self, parser: CommandParser) -> None:
        parts = parser.add_subparsers(dest="part", required=True)
        parts.add_parser("show", help="each class of records: how long it is kept, and the floor")
        change = parts.add_parser("set", help="keep a class for so many days")
        change.add_argument("name", choices=sorted(CLASSES))
        change.add_argument("days", help="a number, or `forever`")
        for part, words in (("preview", "say what a purge would take now"), ("purge", "take it")):
            parts.add_parser(part, help=words).add_argument("name", choices=sorted(CLASSES))
        hold = parts.add_parser("hold", help="keep records from going")
        hold.add_argument("--reason", required=True)
        for name in FIELDS:
            hold.add_argument(f"--{name.replace('_', '-')}", default="")
        for name in ("since", "until"):
            hold.add_argument(f"--{name}", type=_instant, help="ISO 8601, of the records themselves")
        parts.add_parser("holds", help="list the holds that hold")
        lift = parts.add_parser("lift", help="let go of a hold")
        lift.add_argument("id")
        lift.add_argument("--reason", required=True)
        erase = parts.add_parser("erase", help="erase what calls of one sender were given and answered, everywhere")
        erase.add_argument("--channel", required=True)
        erase.add_argument("--sender", required=True)
        erase.add_argument("--reason", default="")
        erase.add_argument("--preview", action="store_true", help="only say how much there is, and where")

        vacuum = parts.add_parser("vacuum", help="have PostgreSQL let go of rows that are gone; as the owner")
        vacuum.add_argument("--full", action="store_true", help="write each table anew; nothing runs meanwhile")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"_{options['part']}")(options)
        except AuditError as exc:
            raise CommandError(exc.message) from exc

    def _show(self, _options: dict[str, Any]) -> None:
        for each in retention_classes():
            kept = "for ever" if each.days is None else f"{each.days} days"
            floor = "never purged" if each.floor_days is None else f"at least {each.floor_days} days"
            self.stdout.write(f"{each.name:15} {kept:12} {floor:18} {each.label}")

    def _set(self, options: dict[str, Any]) -> None:
        days = options["days"]
        if days != "forever" and not days.isdecimal():
            raise CommandError("days: a number, or `forever`")
        retention_set(None, options["name"], days=None if days == "forever" else int(days), at=timezone.now())

    def _preview(self, options: dict[str, Any]) -> None:
        found = purge_preview(None, options["name"])
        span = f", from {found.first:%Y-%m-%d} to {found.last:%Y-%m-%d}" if found.first and found.last else ""
        self.stdout.write(f"{found.records} records, about {found.size_bytes} bytes{span}; {found.held} are held")

    def _purge(self, options: dict[str, Any]) -> None:
        records, is_done = 0, False
        while not is_done:
            done = purge_run(options["name"], at=timezone.now())
            records, is_done = records + done.records, done.is_done
        self.stdout.write(f"{records} records purged, {months_drop(timezone.now())} months dropped")

    def _hold(self, options: dict[str, Any]) -> None:
        named = {name: options[name] for name in FIELDS}
        span = {name: options[name] for name in ("since", "until")}
        hold = hold_place(None, reason=options["reason"], at=timezone.now(), **span, **named)
        self.stdout.write(hold.shown_id)

    def _holds(self, _options: dict[str, Any]) -> None:
        for hold in holds_active():
            named = ", ".join(f"{name} {getattr(hold, name)}" for name in FIELDS if getattr(hold, name))
            self.stdout.write(f"{hold.shown_id}  {named or 'everything'}  {hold.reason}  by {hold.placed_by}")

    def _lift(self, options: dict[str, Any]) -> None:
        try:
            hold_id = read_id("hold", options["id"])
        except ValueError:
            raise CommandError(f"`{options['id']}` is no hold") from None
        hold_lift(None, hold_find(hold_id), reason=options["reason"], at=timezone.now())

    def _erase(self, options: dict[str, Any]) -> None:
        subject = {"channel": options["channel"], "sender": options["sender"]}
        found = erasure_preview(None, **subject)
        span = f", from {found.first:%Y-%m-%d} to {found.last:%Y-%m-%d}" if found.first and found.last else ""
        self.stdout.write(f"contents of entries: {found.contents}{span}; sessions: {len(found.sessions)}")
        for label, count in found.elsewhere:
            self.stdout.write(f"{label}: {count}")
        self.stdout.write(f"files of exports, of everybody: {found.exports}")
        for hold in found.holds:
            self.stdout.write(f"held by {hold}")
        if options["preview"]:
            return
        erasure = erasure_request(None, **subject, reason=options["reason"], at=timezone.now())
        while not erasure_run(erasure.pk, at=timezone.now()):
            pass
        erasure.refresh_from_db()
        if erasure.error:
            raise CommandError(erasure.error)
        self.stdout.write(f"{erasure.shown_id}: {erasure.contents_done} contents erased")
        self._vacuum({"full": False})

    def _vacuum(self, options: dict[str, Any]) -> None:
        done, left = rows_vacuum(is_full=options["full"])
        self.stdout.write(f"vacuumed: {', '.join(done) or 'nothing'}")
        if left:
            self.stdout.write(f"left to PostgreSQL's own vacuum, DATABASE_OWNER_URL names no owner: {', '.join(left)}")


def _instant(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at
