"""Writing the file of an export: a part, then the row that says so, then the next part; whoever comes later goes on."""

import json
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import UUID

import structlog
from django.db import InterfaceError, OperationalError, transaction

from apps.audit.chain import instant_text
from apps.audit.errors import ExportNotFoundError
from apps.audit.export_files import ExportBusyError, Growing, alone, growing, manifest_path, removed
from apps.audit.exports import KEPT, OPEN, STALE, file_of, name_of
from apps.audit.filters import EntryFilters
from apps.audit.formats import COLUMNS, FORMATS
from apps.audit.manifests import RowFacts, manifest_sign
from apps.audit.models import Export
from apps.audit.walking import Place, heads_matching, heads_now, part_end, part_lines
from apps.events.notices import announce
from apps.firewall.identifiers import new_id

log = structlog.get_logger(__name__)

# The embedded worker has one thread: an export goes on in turns, so that what is due meanwhile is not late.
TURN_S: Final = 2.0


class _TakenAwayError(Exception):
    """The export was cancelled, or another worker goes on with it."""


def export_run(export_id: UUID, *, at: datetime, limit_s: float | None = None) -> bool:
    """Write the file of an export, or some seconds' worth of it. Harmless to repeat: what is done or runs elsewhere is
    left alone.

    Args:
        limit_s: where to pause, after the part of that moment; to the end when None.
    Returns:
        Whether this call wrote something and the export has ended, or can go on at once.
    Raises:
        ExportNotFoundError: no such export.
    """
    export = Export.objects.filter(pk=export_id).first()
    if export is None:
        raise ExportNotFoundError("no such export")
    if export.state not in OPEN:
        return False
    try:
        with alone(file_of(export)):
            taken = _taken(export_id, at)
            if taken is None:
                return False
            return _work(taken, at, limit_s)
    except ExportBusyError:
        return False


def _work(export: Export, at: datetime, limit_s: float | None) -> bool:
    path = file_of(export)
    try:
        _walk(export, path, at, limit_s)
    except _TakenAwayError:
        if Export.objects.filter(pk=export.pk, state=Export.State.CANCELLED).update(worker=None):
            removed(path)
        return False
    except (OperationalError, InterfaceError):
        raise  # the database is away: what is kept stays, and the export goes on when it is back
    except Exception as exc:
        removed(path)
        ended = {"state": Export.State.FAILED, "error": type(exc).__name__, "finished_at": datetime.now(UTC)}
        with suppress(_TakenAwayError):
            _save(export, **ended)
        log.exception("audit.export_failed", export=str(export.pk))
        raise
    return True


def _walk(export: Export, path: Path, at: datetime, limit_s: float | None) -> None:
    written, filters = FORMATS[export.format], EntryFilters.read(export.filters)
    pause_at = None if limit_s is None else time.monotonic() + limit_s
    if path.is_file() and export.is_walked:  # ended before it could say so
        _finished(export, path, at)
        return
    with growing(written, path, size=export.size_bytes, parts=export.parts) as (file, is_whole):
        if not is_whole:
            log.warning("audit.export_begun_anew", export=str(export.pk))
            _save(export, rows_done=0, size_bytes=0, parts=0, place=None, facts=None, is_walked=False)
        if export.rows_total is None:
            heads, total = heads_matching(filters, heads_now() if export.heads is None else export.heads)
            _save(export, heads=heads, rows_total=total)
        while not export.is_walked:
            _part(export, file, filters)
            if pause_at is not None and time.monotonic() >= pause_at:
                _save(export, worker=None)
                return
        file.finish(export.parts)
    _finished(export, path, at)


def _part(export: Export, file: Growing, filters: EntryFilters) -> None:
    after = Place.read(export.place)
    end = part_end(filters, after)
    facts = RowFacts() if export.facts is None else RowFacts.from_json(export.facts)
    lines = part_lines(FORMATS[export.format], filters, export.heads or {}, after, end, facts)
    size = file.add(export.parts, lines)
    _save(
        export,
        rows_done=facts.count,
        facts=facts.to_json(),
        size_bytes=size,
        parts=export.parts + 1,
        place=None if end is None else end.to_json(),
        is_walked=end is None,
    )


def _finished(export: Export, path: Path, at: datetime) -> None:
    manifest = manifest_sign(
        {
            "id": export.shown_id,
            "format": export.format,
            "filters": export.filters,
            "columns": list(COLUMNS),
            "requested_by": export.requested_by_label,
            "requested_at": instant_text(export.requested_at),
        },
        path=path,
        name=name_of(export),
        facts=RowFacts() if export.facts is None else RowFacts.from_json(export.facts),
    )
    manifest_path(path).write_bytes(manifest)
    _save(
        export,
        state=Export.State.DONE,
        path=path.name,
        sha256=json.loads(manifest)["file"]["sha256"],
        size_bytes=path.stat().st_size,
        finished_at=at,
        expires_at=at + KEPT,
        worker=None,
        heads=None,
    )
    path.with_suffix(".lock").unlink(missing_ok=True)


def _taken(export_id: UUID, at: datetime) -> Export | None:
    with transaction.atomic():
        export = Export.objects.select_for_update(of=("self",)).get(pk=export_id)
        if export.state not in OPEN:
            return None
        is_worked_on = export.state == Export.State.RUNNING and export.worker is not None
        if is_worked_on and export.touched_at >= at - STALE:
            return None
        export.state, export.worker, export.touched_at = Export.State.RUNNING, new_id(), at
        export.save(update_fields=["state", "worker", "touched_at"])
    return export


def _save(export: Export, **changed: object) -> None:
    """Keep how far it is, as long as it is ours.

    Raises:
        _TakenAwayError: it no longer is.
    """
    changed["touched_at"] = datetime.now(UTC)
    with transaction.atomic():
        ours = Export.objects.filter(pk=export.pk, worker=export.worker, state=Export.State.RUNNING)
        if not ours.update(**changed):
            raise _TakenAwayError
        announce("export.changed", id=export.pk)
    for name, value in changed.items():
        setattr(export, name, value)
