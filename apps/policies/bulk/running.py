"""Making a bulk edit: one row, one transaction with its result; whoever comes later goes on with the rows that wait."""

import time
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from django.db import transaction

from apps.accounts.access import Permission, Principal, may
from apps.firewall.identifiers import new_id
from apps.policies.bulk.asking import STALE
from apps.policies.bulk.changes import BulkChange
from apps.policies.errors import ConflictError, RecordGoneError, RecordInvalidError
from apps.policies.models import Agent, BulkEdit, BulkEditRow, ExecSettings
from apps.policies.services.records import exec_settings_create, record_update

# The embedded worker has one thread: a bulk edit goes on in turns, so that what is due meanwhile is not late.
TURN_S: Final = 2.0
Result = BulkEditRow.Result


def bulk_run(edit_id: UUID, *, at: datetime, limit_s: float | None = None) -> bool:
    """Make the rows of a bulk edit that wait, or some seconds' worth of them. Harmless to repeat: what has ended or
    runs elsewhere is left alone, and a row that has a result keeps it.

    Returns:
        Whether there is something left that can go on at once.
    """
    edit = _taken(edit_id, at)
    if edit is None:
        return False
    pause_at = None if limit_s is None else time.monotonic() + limit_s
    change, by = BulkChange(**edit.change), edit.requested_by or edit.requested_token
    waiting = BulkEditRow.objects.filter(edit=edit, result=Result.WAITING)
    for row_id in list(waiting.values_list("pk", flat=True)):
        if not _row(edit, row_id, change, by):
            return False  # another worker goes on with it
        if pause_at is not None and time.monotonic() >= pause_at:
            return bool(BulkEdit.objects.filter(pk=edit.pk, worker=edit.worker).update(worker=None))
    ended = {"state": BulkEdit.State.DONE, "worker": None, "finished_at": datetime.now(UTC)}
    BulkEdit.objects.filter(pk=edit.pk, worker=edit.worker).update(**ended)
    return False


def _taken(edit_id: UUID, at: datetime) -> BulkEdit | None:
    with transaction.atomic():
        rows = BulkEdit.objects.select_related("environment", "requested_by", "requested_token__created_by")
        edit = rows.select_for_update(of=("self",)).filter(pk=edit_id).first()
        if edit is None or not edit.is_open or (edit.worker is not None and edit.touched_at >= at - STALE):
            return None
        edit.state, edit.worker, edit.touched_at = BulkEdit.State.RUNNING, new_id(), at
        edit.save(update_fields=["state", "worker", "touched_at"])
    return edit


def _row(edit: BulkEdit, row_id: int, change: BulkChange, by: Principal | None) -> bool:
    """Make one row and keep its result with it; say whether the edit is still ours."""
    with transaction.atomic():
        row = BulkEditRow.objects.select_for_update().get(pk=row_id)
        if row.result == Result.WAITING:
            row.result, row.reason = _made(edit, row, change, by)
            row.save(update_fields=["result", "reason"])
        done = BulkEditRow.objects.filter(edit=edit).exclude(result=Result.WAITING).count()
        ours = BulkEdit.objects.filter(pk=edit.pk, worker=edit.worker)
        if not ours.update(rows_done=done, touched_at=datetime.now(UTC)):
            transaction.set_rollback(True)
            return False
    return True


def _made(edit: BulkEdit, row: BulkEditRow, change: BulkChange, by: Principal | None) -> tuple[str, str]:
    if by is None or not may(by, Permission.POLICY_WRITE):
        return Result.REFUSED, "who asked for it may not change policy any more"
    try:
        with transaction.atomic():
            is_changed = _change(edit, row, change, by)
    except ConflictError as error:
        return Result.CHANGED, error.message
    except RecordGoneError as error:
        return Result.GONE, error.message
    except RecordInvalidError as error:
        return Result.REFUSED, "; ".join([error.message, *(each["message"] for each in error.details)])
    return (Result.DONE if is_changed else Result.UNCHANGED), ""


def _change(edit: BulkEdit, row: BulkEditRow, change: BulkChange, by: Principal) -> bool:
    agent = Agent.objects.select_related("environment").filter(pk=row.agent).first()
    if agent is None:
        raise RecordGoneError(f"the agent `{row.key}` does not exist any more")
    record: Agent | ExecSettings | None = agent
    if change.action == "exec_mode":
        record = ExecSettings.objects.select_related("environment").filter(agent=agent).first()
        if record is None:
            if change.value:
                exec_settings_create(edit.environment, by=by, agent=agent, mode=change.value)
            return bool(change.value)
    assert record is not None  # noqa: S101 - an agent, or the settings that were found
    saved = record_update(record, change.wanted(record), by=by, expected_version=row.version)
    return saved.version != record.version
