"""The classes of records: how long each is kept, the floor under it, and what would go."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection, transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.access import Principal, actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.errors import RetentionInvalidError
from apps.audit.models import Retention
from apps.audit.retention.access import keeper_require
from apps.audit.services import entry_record

CONTENT: Final = "content"
OF_CALLS: Final = ("calls", "denials", "approvals")
LONGEST_DAYS: Final = 36_500
# Each class in the words of people, and why nobody can go below its floor; the floors themselves stand in the database.
CLASSES: Final[dict[str, tuple[Any, Any]]] = {
    CONTENT: (
        gettext_lazy("What calls were given and answered"),
        gettext_lazy("A week, so that an incident can still be read when it is noticed."),
    ),
    "calls": (
        gettext_lazy("Calls that ran"),
        gettext_lazy("A month, so that no call is gone before anybody could ask about it."),
    ),
    "denials": (gettext_lazy("Calls that were refused"), gettext_lazy("As long as the calls that ran.")),
    "approvals": (
        gettext_lazy("Requests, answers and grants"),
        gettext_lazy("A quarter: who allowed what outlives the calls."),
    ),
    "sign_ins": (
        gettext_lazy("Sign-ins and tokens"),
        gettext_lazy("A quarter, the time in which stolen access is usually found."),
    ),
    "readings": (
        gettext_lazy("Searches, exports and verifications"),
        gettext_lazy("A year: who looked at others' records must be answerable."),
    ),
    "administration": (
        gettext_lazy("Changes of rules, people and settings"),
        gettext_lazy("A year, so that every decision can be traced to who made the rule."),
    ),
    "keeping": (
        gettext_lazy("Holds, purges and erasures"),
        gettext_lazy("For ever: what says that records are gone must not go."),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionClass:
    """One class: `days` None is for ever, `floor_days` None that nothing of it ever goes."""

    name: str
    label: str
    why: str
    days: int | None
    floor_days: int | None
    changed_by: str
    changed_at: datetime | None

    @property
    def may_go(self) -> bool:
        return self.floor_days is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgePreview:
    """What a purge would take now: how many records, about how many bytes, the first and the last; and what is held."""

    records: int
    size_bytes: int
    first: datetime | None
    last: datetime | None
    held: int


def retention_classes() -> list[RetentionClass]:
    """Give every class with what holds for it."""
    set_now = {row.name: row for row in Retention.objects.all()}
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, audit_floor(name) FROM unnest(%s::text[]) AS name", [list(CLASSES)])
        floors = dict(cursor.fetchall())
    return [_class(name, floors[name], set_now.get(name)) for name in CLASSES]


def retention_class(name: str) -> RetentionClass:
    """Give one class.

    Raises:
        RetentionInvalidError: there is none of this name.
    """
    found = next((each for each in retention_classes() if each.name == name), None)
    if found is None:
        raise RetentionInvalidError(_("no class of records is named `%(name)s`") % {"name": name[:64]}, "class")
    return found


def retention_set(by: Principal | None, name: str, *, days: int | None, at: datetime) -> RetentionClass:
    """Say how many days a class is kept; None for ever. Nothing goes before the next purge.

    Args:
        by: who needs `audit_manage`; None at the command line.
    Raises:
        PermissionDeniedError, AuditUnavailableError.
        RetentionInvalidError: below the floor, or above a hundred years.
    """
    if by is not None:
        keeper_require(by)
    found = retention_class(name)
    _check(found, days)
    actor = actor_of(by)
    with transaction.atomic():
        changed_by = "manage.py" if by is None else str(by)
        Retention.objects.update_or_create(
            name=name, defaults={"days": days, "changed_by": changed_by, "changed_at": at}
        )
        changes = {"class": name, "days": [found.days, days]}
        entry_record(EntryDraft(kind=EntryKind.RETENTION_CHANGE, actor=actor, status="set", changes=changes))
    return retention_class(name)


def purge_preview(by: Principal | None, name: str) -> PurgePreview:
    """Say what a purge of a class would take now. Sizes are those of a thousand records, carried over.

    Raises:
        PermissionDeniedError.
        RetentionInvalidError: no such class.
    """
    if by is not None:
        keeper_require(by)
    found = retention_class(name)
    if found.days is None or found.floor_days is None:
        return PurgePreview(records=0, size_bytes=0, first=None, last=None, held=0)
    past = "e.at < now() - make_interval(days => %s)"
    values: list[Any] = [cutoff_days(found)]
    if name == CONTENT:
        source = "audit_content AS r JOIN audit_entry AS e ON e.at = r.at AND e.id = r.entry_id"
        condition = f"{past} AND r.at < now() - make_interval(days => %s) AND audit_class(e.kind) = ANY(%s)"
        values += [*values, list(OF_CALLS)]
    else:
        source, condition = "audit_entry AS e", f"{past} AND audit_class(e.kind) = %s"
        values.append(name)
    row = "r" if name == CONTENT else "e"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*), min(e.at), max(e.at) FROM {source} WHERE {condition} AND NOT audit_is_held(e)",  # noqa: S608
            values,
        )
        records, first, last = cursor.fetchone()
        cursor.execute(f"SELECT count(*) FROM {source} WHERE {condition} AND audit_is_held(e)", values)  # noqa: S608
        held = cursor.fetchone()[0]
        cursor.execute(
            f"SELECT coalesce(avg(pg_column_size({row}.*)), 0)::float FROM"  # noqa: S608
            f" (SELECT {row}.* FROM {source} WHERE {condition} LIMIT 1000) AS {row}",
            values,
        )
        average = cursor.fetchone()[0]
    return PurgePreview(records=records, size_bytes=int(records * average), first=first, last=last, held=held)


def cutoff_days(found: RetentionClass) -> int:
    """Give the days that hold: those that were set, or the floor where it has risen above them."""
    return max(found.days or 0, found.floor_days or 0)


def cutoff(found: RetentionClass, at: datetime) -> datetime:
    """Give the instant before which records of a class may go."""
    return at - timedelta(days=cutoff_days(found))


def _class(name: str, floor_days: int | None, row: Retention | None) -> RetentionClass:
    label, why = CLASSES[name]
    return RetentionClass(
        name=name,
        label=str(label),
        why=str(why),
        days=None if row is None else row.days,
        floor_days=floor_days,
        changed_by="" if row is None else row.changed_by,
        changed_at=None if row is None else row.changed_at,
    )


def _check(found: RetentionClass, days: int | None) -> None:
    if days is None:
        return
    if found.floor_days is None:
        raise RetentionInvalidError(_("days: records of this class are never purged"), "days")
    if days < found.floor_days:
        message = _("days: at least %(days)s, below that nobody can go") % {"days": found.floor_days}
        raise RetentionInvalidError(message, "days")
    if days > LONGEST_DAYS:
        raise RetentionInvalidError(_("days: at most %(days)s") % {"days": LONGEST_DAYS}, "days")
