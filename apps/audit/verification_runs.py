"""Verifications: asked for by a person or by the day, walked in the background, told in the ledger."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Thread
from uuid import UUID

import structlog
from django.db import connection, transaction
from django.utils import timezone

from apps.accounts.access import Permission, Principal, actor_of, require
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.errors import VerificationNotFoundError
from apps.audit.models import Boot, VerificationRun
from apps.audit.services import entry_record
from apps.audit.verification import Verification, verify_chains

log = structlog.get_logger(__name__)

EVERY = timedelta(days=1)
# A worker that was killed leaves its run behind; after this long without progress another begins it anew.
STALE = timedelta(minutes=2)
TOLD_S = 1.0
OPEN = (VerificationRun.State.WAITING, VerificationRun.State.RUNNING)
SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something about the ledger that a person must look into."""

    code: str
    at: datetime
    detail: str = ""


def verification_request(by: Principal, *, at: datetime) -> VerificationRun:
    """Ask for a walk over the whole ledger; while one goes on, it is the one that was asked for.

    Raises:
        PermissionDeniedError: the principal may not read the ledger.
    """
    require(by, Permission.AUDIT_READ)
    return _request(actor_of(by), at)


def verification_due(at: datetime) -> VerificationRun | None:
    """Ask for the walk of the day, a day after the last one or after the ledger began; None when it is not due."""
    last = VerificationRun.objects.values_list("requested_at", flat=True).first()
    begun = last or Boot.objects.filter(seq__gt=0).order_by("started_at").values_list("started_at", flat=True).first()
    return None if begun is None or begun > at - EVERY else _request(SYSTEM, at)


def verifications_unfinished(at: datetime) -> list[UUID]:
    """Name the walks that nobody works on."""
    waiting = VerificationRun.objects.filter(state=VerificationRun.State.WAITING)
    stale = VerificationRun.objects.filter(state=VerificationRun.State.RUNNING, touched_at__lt=at - STALE)
    return list((waiting | stale).values_list("id", flat=True))


def verification_access(by: Principal, run_id: UUID) -> VerificationRun:
    """Give a walk to who may read the ledger.

    Raises:
        VerificationNotFoundError: there is none.
        PermissionDeniedError: the principal may not read the ledger.
    """
    require(by, Permission.AUDIT_READ)
    run = VerificationRun.objects.filter(pk=run_id).first()
    if run is None:
        raise VerificationNotFoundError("no such verification")
    return run


def verification_last(*, is_done: bool = False) -> VerificationRun | None:
    """Give the newest walk, or the newest that came to an end."""
    runs = VerificationRun.objects.all()
    return (runs.filter(state=VerificationRun.State.DONE) if is_done else runs).first()


def verification_start(run_id: UUID) -> None:
    """Walk in a thread of its own: who hands out tasks goes on with what is due meanwhile."""
    Thread(target=_run_alone, args=(run_id,), name="audit-verification", daemon=True).start()


def verification_run(run_id: UUID, *, at: datetime) -> bool:
    """Walk the ledger and keep what was found. Harmless to repeat: what is done or goes on elsewhere is left alone.

    Returns:
        Whether this call walked.
    """
    if not _taken(run_id, at):
        return False
    try:
        report = verify_chains(progress=_Progress(run_id))
    except Exception as exc:
        _update(run_id, state=VerificationRun.State.FAILED, error=type(exc).__name__, finished_at=timezone.now())
        log.exception("audit.verification_failed", run=str(run_id))
        raise
    _finish(VerificationRun.objects.get(pk=run_id), report)
    return True


def alarms(at: datetime) -> list[Alarm]:
    """Name what is wrong with the ledger: a walk that found something, one that failed, one that is overdue."""
    last = verification_last(is_done=True)
    found = []
    if last is not None and last.is_intact is False and last.finished_at is not None:
        found.append(Alarm("broken", last.finished_at, str(last.report.get("problem_count", ""))))
    newest = verification_last()
    if newest is not None and newest.state == VerificationRun.State.FAILED and newest.finished_at is not None:
        found.append(Alarm("failed", newest.finished_at, newest.error))
    elif last is not None and last.requested_at < at - 2 * EVERY:
        found.append(Alarm("overdue", last.requested_at))
    return found


def _request(actor: str, at: datetime) -> VerificationRun:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('audit verification', 0))")
        going = VerificationRun.objects.filter(state__in=OPEN).first()
        return going or VerificationRun.objects.create(requested_by=actor, requested_at=at, touched_at=at)


def _taken(run_id: UUID, at: datetime) -> bool:
    waiting = VerificationRun.objects.filter(pk=run_id, state=VerificationRun.State.WAITING)
    stale = VerificationRun.objects.filter(pk=run_id, state=VerificationRun.State.RUNNING, touched_at__lt=at - STALE)
    total = sum(Boot.objects.values_list("seq", flat=True))
    return bool(
        (waiting | stale).update(
            state=VerificationRun.State.RUNNING, started_at=at, touched_at=at, entries_done=0, entries_total=total
        )
    )


def _finish(run: VerificationRun, report: Verification) -> None:
    status = "completed" if report.is_intact else "failed"
    told = {name: value for name, value in report.to_json().items() if name != "problems"}
    _update(
        run.pk,
        state=VerificationRun.State.DONE,
        is_intact=report.is_intact,
        report=report.to_json(),
        entries_done=report.entries,
        finished_at=timezone.now(),
    )
    if not report.is_intact:
        first = report.problems[0]
        log.error("audit.ledger_broken", problems=report.problem_count, first=first.message, place=first.place)
    entry_record(EntryDraft(kind=EntryKind.VERIFICATION, actor=run.requested_by, status=status, changes=told))


class _Progress:
    """Tells how far a walk is, once a second."""

    def __init__(self, run_id: UUID) -> None:
        self.run_id, self.told_at = run_id, timezone.now()

    def __call__(self, entries: int) -> None:
        now = timezone.now()
        if (now - self.told_at).total_seconds() >= TOLD_S:
            self.told_at = now
            _update(self.run_id, entries_done=entries)


def _update(run_id: UUID, **values: object) -> None:
    VerificationRun.objects.filter(pk=run_id).update(touched_at=timezone.now(), **values)


def _run_alone(run_id: UUID) -> None:
    try:
        verification_run(run_id, at=timezone.now())
    except Exception:  # noqa: BLE001 - the end of a thread; it is logged and kept in the run
        log.warning("audit.verification_ended", run=str(run_id))
    finally:
        connection.close()
