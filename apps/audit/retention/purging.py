"""Purges: what a class no longer keeps goes, batch by batch; a month in which nothing is left gives its room back."""

import re
import time
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from django.db import connection, transaction
from django.utils.translation import gettext as _

from apps.accounts.access import Principal, actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.errors import RetentionInvalidError
from apps.audit.retention.access import keeper_require
from apps.audit.retention.batches import contents_erase, entries_purge, goings
from apps.audit.retention.classes import (
    CONTENT,
    OF_CALLS,
    RetentionClass,
    cutoff,
    cutoff_days,
    retention_class,
    retention_classes,
)
from apps.audit.services import entry_record

RUN_S: Final = 45.0
REASON: Final = "retention"
_MONTH: Final = re.compile(r"audit_entry_(\d{4})_(\d{2})")
_PLACE: Final = "(e.at > %s OR (e.at = %s AND e.id > %s))"
_CONTENTS: Final = "audit_content AS c JOIN audit_entry AS e ON e.at = c.at AND e.id = c.entry_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """What a run took: records of a class, and whether there is more to take."""

    name: str
    records: int
    is_done: bool


def purge_run(name: str, *, actor: str = "system", at: datetime, limit_s: float = RUN_S) -> Purged:
    """Take what a class no longer keeps, for so many seconds; each batch is one transaction with its statement.

    Harmless to repeat and to kill: what is left is taken by the next run. Entries that arrive meanwhile are not met.

    Raises:
        RetentionInvalidError: no such class.
        AuditUnavailableError, AuditKeyError: nothing more goes.
    """
    found = retention_class(name)
    if found.days is None or not found.may_go:
        return Purged(name=name, records=0, is_done=True)
    ends_at, records, is_done = time.monotonic() + limit_s, 0, False
    place: tuple[datetime, Any] | None = None
    while not is_done:
        taken, place = _batch(found, actor, at, place)
        records, is_done = records + taken, place is None
        if time.monotonic() >= ends_at:
            break
    if records:
        changes = {"class": name, "records": records, "before": cutoff(found, at).isoformat()}
        entry_record(EntryDraft(kind=EntryKind.PURGE, actor=actor, status="purged", changes=changes))
    return Purged(name=name, records=records, is_done=is_done)


def purge_request(by: Principal, name: str) -> str:
    """Ask for a purge of one class; a task takes it. On record before anything goes.

    Returns:
        The actor in whose name the task purges.
    Raises:
        PermissionDeniedError, AuditUnavailableError.
        RetentionInvalidError: no such class, or one of which nothing ever goes.
    """
    keeper_require(by)
    found = retention_class(name)
    if found.days is None or not found.may_go:
        raise RetentionInvalidError(_("this class is kept for ever: say for how many days first"), "days")
    actor = actor_of(by)
    changes = {"class": name, "days": cutoff_days(found)}
    entry_record(EntryDraft(kind=EntryKind.PURGE, actor=actor, status="requested", changes=changes))
    return actor


def purges_run(*, at: datetime) -> list[Purged]:
    """Purge every class that is not kept for ever, then drop the months in which nothing is left."""
    done = [purge_run(each.name, at=at) for each in retention_classes() if each.days is not None and each.may_go]
    months_drop(at)
    return done


def months_drop(at: datetime) -> int:
    """Drop the partitions of past months in which nothing is left.

    Returns:
        How many months were dropped.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'audit_entry'::regclass")
        names = [_MONTH.search(name) for (name,) in cursor.fetchall()]
        months = sorted(date(int(name[1]), int(name[2]), 1) for name in names if name is not None)
        dropped = 0
        for month in months:
            if (at - datetime(month.year, month.month, 1, tzinfo=UTC)).days <= 62:
                continue
            cursor.execute("SELECT audit_month_drop(%s)", [month])
            dropped += bool(cursor.fetchone()[0])
    return dropped


def _batch(
    found: RetentionClass, actor: str, at: datetime, place: tuple[datetime, Any] | None
) -> tuple[int, tuple[datetime, Any] | None]:
    is_content = found.name == CONTENT
    condition = "e.at < %s AND NOT audit_is_held(e)"
    values: list[Any] = [cutoff(found, at)]
    condition += " AND audit_class(e.kind) = ANY(%s)"
    values.append(list(OF_CALLS) if is_content else [found.name])
    if place is not None:
        condition += f" AND e.at >= %s AND {_PLACE}"
        values += [place[0], place[0], place[0], place[1]]
    with transaction.atomic(), connection.cursor() as cursor:
        going = goings(cursor, _CONTENTS if is_content else "audit_entry AS e", condition, values)
        if not going:
            return 0, None
        said = {"reason": REASON, "by": actor, "class": found.name}
        taken = contents_erase(cursor, going, said) if is_content else entries_purge(cursor, going, said)
    return taken, (going[-1].at, going[-1].id)
