"""Purges: what a class no longer keeps goes, batch by batch; a month in which nothing is left gives its room back."""

import re
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import DatabaseError, connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.access import Principal, actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.errors import RetentionInvalidError
from apps.audit.models import PurgeRun
from apps.audit.retention.access import keeper_require
from apps.audit.retention.batches import Going, contents_erase, entries_purge, goings
from apps.audit.retention.classes import (
    CONTENT,
    OF_CALLS,
    RetentionClass,
    cutoff,
    cutoff_days,
    purge_preview,
    retention_class,
    retention_classes,
)
from apps.audit.services import entry_record
from apps.firewall.errors import FirewallError

State = PurgeRun.State
OPEN: Final = (State.WAITING, State.RUNNING)
RUN_S: Final = 45.0
STALE: Final = timedelta(minutes=2)
"""Who works on a run tells so with each batch; one that was not heard of for so long is gone on with by another."""
KEPT: Final = timedelta(days=90)
"""So long it is shown how a purge went; the ledger keeps it for good."""
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
    """Take what a class no longer keeps, for so many seconds; where a purge of it goes on, go on with that one.

    Raises:
        RetentionInvalidError: no such class.
        AuditUnavailableError, AuditKeyError: nothing more goes.
    """
    found = retention_class(name)
    if found.days is None or not found.may_go:
        return Purged(name=name, records=0, is_done=True)
    run = PurgeRun.objects.filter(name=name, state__in=OPEN).first()
    if run is None:
        total = purge_preview(None, name).records
        if not total:
            return Purged(name=name, records=0, is_done=True)
        run = _opened(name, total, actor, at)
    return purge_go_on(run.pk, at=at, limit_s=limit_s)


def purge_go_on(run_id: UUID, *, at: datetime, limit_s: float = RUN_S) -> Purged:
    """Go on with a purge, for so many seconds; each batch is one transaction with its statement.

    Harmless to repeat and to kill: what is left is taken by the next call. Entries that arrive meanwhile are not met.

    Raises:
        AuditUnavailableError, AuditKeyError: nothing more goes; the run has ended with that error.
    """
    run = PurgeRun.objects.get(pk=run_id)
    found = retention_class(run.name)
    ends_at, records, is_done = time.monotonic() + limit_s, 0, found.days is None
    place: tuple[datetime, Any] | None = None
    try:
        while not is_done:
            taken, place = _batch(run_id, found, at, place)
            records, is_done = records + taken, place is None
            if time.monotonic() >= ends_at:
                break
        if is_done:
            _end(run_id, found, at)
    except Exception as exc:
        told = exc.message if isinstance(exc, FirewallError) else type(exc).__name__
        with suppress(DatabaseError):  # where the database is away, another goes on when it is back
            _open_row(run_id).update(state=State.FAILED, error=told, finished_at=timezone.now())
        raise
    return Purged(name=run.name, records=records, is_done=is_done)


def purge_request(by: Principal, name: str, *, at: datetime) -> PurgeRun:
    """Ask for a purge of one class; a task takes it. On record before anything goes.

    Returns:
        The run; the one that goes on already, where there is one.
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
    total = purge_preview(by, name).records
    with transaction.atomic():
        run = _opened(name, total, actor, at)
        entry_record(EntryDraft(kind=EntryKind.PURGE, actor=actor, status="requested", changes=changes))
    return run


def purges_run(*, at: datetime) -> list[Purged]:
    """Purge every class that is not kept for ever, then drop the months in which nothing is left."""
    PurgeRun.objects.filter(finished_at__lt=at - KEPT).delete()
    done = [purge_run(each.name, at=at) for each in retention_classes() if each.days is not None and each.may_go]
    months_drop(at)
    return done


def purges_unfinished(at: datetime) -> list[UUID]:
    """Name the purges that nobody works on."""
    return list(PurgeRun.objects.filter(state__in=OPEN, touched_at__lt=at - STALE).values_list("id", flat=True))


def purges(name: str = "", *, limit: int = 10) -> list[PurgeRun]:
    """Give the newest purges, of one class or of all."""
    found = PurgeRun.objects.filter(name=name) if name else PurgeRun.objects.all()
    return list(found[:limit])


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


def _opened(name: str, total: int, actor: str, at: datetime) -> PurgeRun:
    """Begin a run of a class, or give the one that goes on."""
    values = {"requested_by": actor, "requested_at": at, "touched_at": at, "records_total": total}
    return PurgeRun.objects.get_or_create(name=name, state__in=OPEN, defaults=values)[0]


def _open_row(run_id: UUID) -> QuerySet[PurgeRun]:
    return PurgeRun.objects.filter(pk=run_id, state__in=OPEN)


def _end(run_id: UUID, found: RetentionClass, at: datetime) -> None:
    with transaction.atomic():
        run = _open_row(run_id).select_for_update().first()
        if run is None:  # another ended it
            return
        run.state, run.finished_at = State.DONE, timezone.now()
        run.save(update_fields=["state", "finished_at"])
        if run.records_done:
            changes = {"class": run.name, "records": run.records_done, "before": cutoff(found, at).isoformat()}
            entry_record(EntryDraft(kind=EntryKind.PURGE, actor=run.requested_by, status="purged", changes=changes))


def _batch(
    run_id: UUID, found: RetentionClass, at: datetime, place: tuple[datetime, Any] | None
) -> tuple[int, tuple[datetime, Any] | None]:
    """Take one batch; one process at a time takes one of a run."""
    with transaction.atomic(), connection.cursor() as cursor:
        run = _open_row(run_id).select_for_update().first()
        going = [] if run is None else _next(cursor, found, at, place)
        if run is None or not going:
            return 0, None
        said = {"reason": REASON, "by": run.requested_by, "class": found.name}
        taken = contents_erase(cursor, going, said) if found.name == CONTENT else entries_purge(cursor, going, said)
        run.state, run.touched_at, run.records_done = State.RUNNING, timezone.now(), run.records_done + taken
        run.save(update_fields=["state", "touched_at", "records_done"])
    return taken, (going[-1].at, going[-1].id)


def _next(
    cursor: CursorWrapper, found: RetentionClass, at: datetime, place: tuple[datetime, Any] | None
) -> list[Going]:
    is_content = found.name == CONTENT
    condition = "e.at < %s AND NOT audit_is_held(e) AND audit_class(e.kind) = ANY(%s)"
    values: list[Any] = [cutoff(found, at), list(OF_CALLS) if is_content else [found.name]]
    if place is not None:
        condition += f" AND e.at >= %s AND {_PLACE}"
        values += [place[0], place[0], place[0], place[1]]
    return goings(cursor, _CONTENTS if is_content else "audit_entry AS e", condition, values)
