"""Files to take away: asked for, written in the background in constant memory, told in the ledger, removed later."""

# ruff: noqa: S608 - statements are put together from constants of ours; every value is a parameter

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import connection, transaction

from apps.accounts.access import Permission, Principal, may, require
from apps.accounts.models import User
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.errors import ExportFormatError, ExportNotFoundError
from apps.audit.filters import EntryFilters
from apps.audit.formats import COLUMNS, FORMATS, SELECTED
from apps.audit.models import Export
from apps.audit.queries import WITH_CONTENT, entries_where
from apps.audit.services import entry_record
from apps.events.notices import announce

log = structlog.get_logger(__name__)

KEPT = timedelta(days=7)
PAGE_ROWS = 2000  # planning a page over all partitions costs some milliseconds
PROGRESS_ROWS = 5000
AT, ID = COLUMNS.index("at"), COLUMNS.index("id")
# A worker that was killed leaves its export running; after this long without progress another may begin it anew.
STALE = timedelta(minutes=10)


def entry_export(filters: EntryFilters, format_name: str) -> Iterator[bytes]:
    """Write the entries that match, oldest first, line by line; any number of them in constant memory.

    Raises:
        ExportFormatError: no such format.
    """
    if format_name not in FORMATS:
        raise ExportFormatError(f"no export format `{format_name}`: use {' or '.join(FORMATS)}")
    return FORMATS[format_name](_rows(filters, lambda _rows_done: None))


def export_stream(by: Principal, *, filters: EntryFilters, format_name: str, at: datetime) -> Iterator[bytes]:
    """Give the entries that match at once, for a program that reads as fast as it can. Recorded as an export.

    Raises:
        PermissionDeniedError, ExportFormatError, AuditUnavailableError: as `export_request`; nothing was given.
    """
    require(by, Permission.AUDIT_EXPORT)
    bounded = _bounded(filters, at)
    lines = entry_export(bounded, format_name)
    entry_record(_told(by, bounded, {"format": format_name, "filters": bounded.to_json(), "streamed": True}))
    return lines


def export_request(by: Principal, *, filters: EntryFilters, format_name: str, at: datetime) -> Export:
    """Ask for a file of the entries that match; a task writes it. Taking records away is itself recorded.

    Raises:
        PermissionDeniedError: the principal may not export.
        ExportFormatError: no such format.
        AuditUnavailableError: the ledger refuses; nothing is exported.
    """
    require(by, Permission.AUDIT_EXPORT)
    if format_name not in FORMATS:
        raise ExportFormatError(f"no export format `{format_name}`: use {' or '.join(FORMATS)}")
    bounded = _bounded(filters, at)
    with transaction.atomic():
        export = Export.objects.create(
            requested_by=by if isinstance(by, User) else None,
            requested_by_label=str(by),
            requested_at=at,
            touched_at=at,
            format=format_name,
            filters=bounded.to_json(),
        )
        entry_record(_told(by, bounded, {"format": format_name, "filters": export.filters, "export": str(export.pk)}))
    return export


def export_run(export_id: UUID, *, at: datetime) -> bool:
    """Write the file of an export. Harmless to repeat: what is done or runs elsewhere is left alone.

    Returns:
        Whether this call wrote it.
    Raises:
        ExportNotFoundError: no such export.
    """
    export = _taken(export_id, at)
    if export is None:
        return False
    path = exports_dir() / f"{export.pk}.{export.format}"
    try:
        _write(export, path)
    except Exception as exc:
        path.with_suffix(".part").unlink(missing_ok=True)
        export.state, export.error, export.finished_at = Export.State.FAILED, type(exc).__name__, at
        _save(export, "state", "error", "finished_at")
        log.exception("audit.export_failed", export=str(export.pk))
        raise
    export.state, export.path, export.finished_at = Export.State.DONE, path.name, at
    export.size_bytes, export.expires_at = path.stat().st_size, at + KEPT
    _save(export, "state", "path", "rows_done", "size_bytes", "finished_at", "expires_at")
    return True


def exports_unfinished(at: datetime) -> list[UUID]:
    """Name the exports that no worker works on: new ones, and those whose worker was killed."""
    waiting = Export.objects.filter(state=Export.State.WAITING)
    stale = Export.objects.filter(state=Export.State.RUNNING, touched_at__lt=at - STALE)
    return list((waiting | stale).order_by("requested_at").values_list("id", flat=True))


def exports_purge(at: datetime) -> int:
    """Remove the files of exports whose time is over.

    Returns:
        How many were removed.
    """
    expired = list(Export.objects.filter(state=Export.State.DONE, expires_at__lte=at))
    for export in expired:
        (exports_dir() / export.path).unlink(missing_ok=True)
        export.state, export.path = Export.State.EXPIRED, ""
        _save(export, "state", "path")
    return len(expired)


def exports_of(by: Principal, *, limit: int = 20) -> list[Export]:
    """Give the exports of a person, newest first."""
    if not isinstance(by, User):
        return []
    return list(Export.objects.filter(requested_by=by)[:limit])


def export_access(principal: Principal, export_id: UUID) -> Export:
    """Give an export to the person who asked for it.

    Raises:
        ExportNotFoundError: there is none, or it belongs to somebody else.
    """
    export = Export.objects.filter(pk=export_id).first()
    if export is None or not may(principal, Permission.AUDIT_EXPORT):
        raise ExportNotFoundError("no such export")
    if not isinstance(principal, User) or export.requested_by_id != principal.pk:
        raise ExportNotFoundError("no such export")
    return export


def export_path(export: Export) -> Path:
    """Give the file of an export that is done.

    Raises:
        ExportNotFoundError: it is not done yet, failed, or its file has expired.
    """
    path = exports_dir() / export.path
    if export.state != Export.State.DONE or not export.path or not path.is_file():
        raise ExportNotFoundError("the export has no file")
    return path


def exports_dir() -> Path:
    """Give the folder of exports, for this program's eyes only."""
    folder = settings.VAR_DIR / "exports"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Path(folder)


def _bounded(filters: EntryFilters, at: datetime) -> EntryFilters:
    """Without an end an export would hold the entry of itself, and go on growing."""
    return filters if filters.until is not None else replace(filters, until=at)


def _told(by: Principal, filters: EntryFilters, changes: dict[str, Any]) -> EntryDraft:
    actor = str(getattr(by, "actor", "system"))
    return EntryDraft(kind=EntryKind.EXPORT, actor=actor, environment=filters.environment, changes=changes)


def _taken(export_id: UUID, at: datetime) -> Export | None:
    with transaction.atomic():
        try:
            export = Export.objects.select_for_update(of=("self",)).get(pk=export_id)
        except Export.DoesNotExist:
            raise ExportNotFoundError("no such export") from None
        is_stale = export.state == Export.State.RUNNING and export.touched_at < at - STALE
        if export.state != Export.State.WAITING and not is_stale:
            return None
        export.state, export.rows_done, export.touched_at = Export.State.RUNNING, 0, at
        _save(export, "state", "rows_done", "touched_at")
    return export


def _write(export: Export, path: Path) -> None:
    def progress(rows_done: int) -> None:
        export.rows_done, export.touched_at = rows_done, datetime.now(UTC)
        _save(export, "rows_done", "touched_at")

    draft = path.with_suffix(".part")
    with draft.open("wb") as file:
        draft.chmod(0o600)
        file.writelines(FORMATS[export.format](_rows(EntryFilters.read(export.filters), progress)))
    draft.replace(path)


def _rows(filters: EntryFilters, progress: Callable[[int], None]) -> Iterator[Sequence[Any]]:
    """Walk the entries by their key, a page at a time: no transaction stays open for as long as a reader is slow."""
    where = entries_where(filters)
    statement = f"SELECT {SELECTED} FROM {WITH_CONTENT} WHERE {where.sql} {{}} ORDER BY e.at, e.id LIMIT {PAGE_ROWS}"
    rows = _page(statement.format(""), where.values)
    done = 0
    while rows:
        yield from rows
        done += len(rows)
        if done // PROGRESS_ROWS > (done - len(rows)) // PROGRESS_ROWS or len(rows) < PAGE_ROWS:
            progress(done)
        if len(rows) < PAGE_ROWS:
            return
        at, entry_id = rows[-1][AT], rows[-1][ID]
        after = "AND e.at >= %s AND (e.at, e.id) > (%s, %s)"
        rows = _page(statement.format(after), [*where.values, at, at, entry_id])


def _page(statement: str, values: Sequence[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def _save(export: Export, *fields: str) -> None:
    export.save(update_fields=list(fields))
    announce("export.changed", id=export.pk)
