"""Files to take away: asked for, written in the background part by part, told in the ledger, removed later."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from apps.accounts.access import Permission, Principal, actor_of, may, may_environment, require
from apps.accounts.models import ApiToken, User
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.errors import ExportFormatError, ExportNotFoundError, ExportStateError
from apps.audit.export_files import exports_dir, removed
from apps.audit.filters import EntryFilters, filters_within
from apps.audit.formats import FORMATS, STREAMED
from apps.audit.models import Export
from apps.audit.queries import check_statuses
from apps.audit.services import entry_record
from apps.audit.walking import Heads, heads_now, lines_of
from apps.events.notices import announce

KEPT: Final = timedelta(days=7)
# A worker that was killed leaves its export running; after this long without a part another goes on with it.
STALE: Final = timedelta(minutes=1)
OPEN: Final = (Export.State.WAITING, Export.State.RUNNING)
PAGE_LIMIT: Final = 200


def entry_export(filters: EntryFilters, format_name: str, *, heads: Heads | None = None) -> Iterator[bytes]:
    """Write the entries that match, oldest first, part by part; any number of them in constant memory.

    Raises:
        ExportFormatError: no such format, or one that cannot be written as it goes.
    """
    if format_name not in STREAMED:
        raise ExportFormatError(f"no streamed format `{format_name}`: use {' or '.join(STREAMED)}")
    return lines_of(STREAMED[format_name], filters, heads_now() if heads is None else heads)


def export_stream(by: Principal, *, filters: EntryFilters, format_name: str, at: datetime) -> Iterator[bytes]:
    """Give the entries that match at once, for a program that reads as fast as it can. Recorded as an export.

    Raises:
        PermissionDeniedError, ExportFormatError, AuditUnavailableError: as `export_request`; nothing was given.
    """
    require(by, Permission.AUDIT_EXPORT)
    return _streamed(by, filters=filters_within(by, filters), format_name=format_name, at=at)


def export_request(by: Principal, *, filters: EntryFilters, format_name: str, at: datetime) -> Export:
    """Ask for a file of the entries that match now; a task writes it. Taking records away is itself recorded.

    Raises:
        PermissionDeniedError: the principal may not export.
        ExportFormatError: no such format.
        AuditUnavailableError: the ledger refuses; nothing is exported.
    """
    require(by, Permission.AUDIT_EXPORT)
    return _requested(by, filters=filters_within(by, filters), format_name=format_name, at=at)


def export_by_machine(*, filters: EntryFilters, format_name: str, at: datetime) -> Export:
    """Ask for a file as whoever has this machine's command line; otherwise as `export_request`."""
    return _requested(None, filters=filters, format_name=format_name, at=at)


def export_of_machine(export_id: UUID) -> Export:
    """Give an export that the command line asked for.

    Raises:
        ExportNotFoundError: there is none, or it belongs to a person or a token.
    """
    export = Export.objects.filter(pk=export_id, requested_by=None, requested_token=None).first()
    if export is None:
        raise ExportNotFoundError("no such export")
    return export


def export_stream_by_machine(*, filters: EntryFilters, format_name: str, at: datetime) -> Iterator[bytes]:
    """Give the entries that match to whoever has this machine's command line. Recorded as an export."""
    return _streamed(None, filters=filters, format_name=format_name, at=at)


def _streamed(by: Principal | None, *, filters: EntryFilters, format_name: str, at: datetime) -> Iterator[bytes]:
    check_statuses(filters)
    bounded = _bounded(filters, at)
    lines = entry_export(bounded, format_name)
    entry_record(_told(by, bounded, {"format": format_name, "filters": bounded.to_json(), "streamed": True}))
    return lines


def _requested(by: Principal | None, *, filters: EntryFilters, format_name: str, at: datetime) -> Export:
    if format_name not in FORMATS:
        raise ExportFormatError(f"no export format `{format_name}`: use {' or '.join(FORMATS)}")
    check_statuses(filters)
    bounded = _bounded(filters, at)
    with transaction.atomic():
        export = Export.objects.create(
            requested_by=_person(by),
            requested_token=by.pk if isinstance(by, ApiToken) else None,
            requested_by_label="manage.py" if by is None else str(by),
            requested_at=at,
            touched_at=at,
            format=format_name,
            filters=bounded.to_json(),
            heads=heads_now(),
        )
        entry_record(_told(by, bounded, {"format": format_name, "filters": export.filters, "export": str(export.pk)}))
    return export


def export_cancel(by: Principal, export: Export, *, at: datetime) -> Export:
    """Stop an export; whoever writes it notices at its next part, and nothing of it stays.

    Raises:
        PermissionDeniedError: the principal may not export.
        ExportStateError: it has ended.
    """
    require(by, Permission.AUDIT_EXPORT)
    changed = Export.objects.filter(pk=export.pk, state__in=OPEN).update(
        state=Export.State.CANCELLED, finished_at=at, place=None, facts=None, heads=None
    )
    export.refresh_from_db()
    if not changed:
        raise ExportStateError(f"the export is {export.state}: only one that has not ended is cancelled")
    if export.worker is None:
        removed(file_of(export))
    announce("export.changed", id=export.pk)
    return export


def exports_unfinished(at: datetime) -> list[UUID]:
    """Name the exports that no worker works on: new ones, and those whose worker was killed."""
    wanted = Q(state=Export.State.WAITING) | Q(state=Export.State.RUNNING, touched_at__lt=at - STALE)
    return list(Export.objects.filter(wanted).order_by("requested_at").values_list("id", flat=True))


def export_is_open(export_id: UUID) -> bool:
    """Say whether there is something left to do for an export."""
    return Export.objects.filter(pk=export_id, state__in=OPEN).exists()


def exports_purge(at: datetime) -> int:
    """Remove the files of exports whose time is over, and what cancelled ones left.

    Returns:
        How many were removed.
    """
    expired = list(Export.objects.filter(state=Export.State.DONE, expires_at__lte=at))
    for export in expired:
        removed(file_of(export))
        export.state, export.path = Export.State.EXPIRED, ""
        export.save(update_fields=["state", "path"])
        announce("export.changed", id=export.pk)
    for export in Export.objects.filter(state=Export.State.CANCELLED, worker__isnull=False, touched_at__lt=at - STALE):
        removed(file_of(export))
        Export.objects.filter(pk=export.pk).update(worker=None)
    return len(expired)


def exports_missing() -> int:
    """Say of each export whose file is not there, as after a restore, that it is no longer to be had.

    Returns:
        How many there were.
    """
    missing = [each.pk for each in Export.objects.filter(state=Export.State.DONE) if not file_of(each).exists()]
    return Export.objects.filter(pk__in=missing).update(state=Export.State.EXPIRED, path="")


def exports_of(by: Principal, *, limit: int = 20, before: Export | None = None) -> list[Export]:
    """Give the exports that a person or a token asked for, newest first."""
    found = _asked_by(by)
    if before is not None:
        found = found.filter(
            Q(requested_at__lt=before.requested_at) | Q(requested_at=before.requested_at, id__lt=before.pk)
        )
    return list(found[: min(limit, PAGE_LIMIT)])


def export_access(principal: Principal, export_id: UUID) -> Export:
    """Give an export to who asked for it.

    Raises:
        ExportNotFoundError: there is none, or it belongs to somebody else.
    """
    export = _asked_by(principal).filter(pk=export_id).first() if may(principal, Permission.AUDIT_EXPORT) else None
    if export is None or not may_environment(principal, export.filters.get("environment", "")):
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


def name_of(export: Export, *, suffix: str = "") -> str:
    """Say under which name the file of an export is given away."""
    return f"openclaw-audit-{export.requested_at:%Y%m%d-%H%M%S}-{export.pk.hex[-6:]}{suffix or f'.{export.format}'}"


def file_of(export: Export) -> Path:
    """Say where the file of an export lies, or will."""
    return exports_dir() / f"{export.pk}.{export.format}"


def _asked_by(by: Principal) -> QuerySet[Export]:
    if isinstance(by, ApiToken):
        return Export.objects.filter(requested_token=by.pk)
    if isinstance(by, User):
        return Export.objects.filter(requested_by=by, requested_token=None)
    return Export.objects.none()


def _person(by: Principal | None) -> User | None:
    if isinstance(by, ApiToken):
        return by.created_by
    return by if isinstance(by, User) else None


def _bounded(filters: EntryFilters, at: datetime) -> EntryFilters:
    """Say the end that was meant: what is asked for now is asked until now."""
    return filters if filters.until is not None else replace(filters, until=at)


def _told(by: Principal | None, filters: EntryFilters, changes: dict[str, Any]) -> EntryDraft:
    actor = actor_of(by)
    return EntryDraft(kind=EntryKind.EXPORT, actor=actor, environment=filters.environment, changes=changes)
