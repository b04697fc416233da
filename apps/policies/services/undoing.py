"""Taking back the last saved change of a record: as a new change, with its own entry in audit."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.access import actor_of
from apps.policies.actors import By, logged_as
from apps.policies.document.secrets import with_notes
from apps.policies.errors import RecordGoneError, RecordInvalidError, UndoConflictError, UndoRefusedError
from apps.policies.kinds import KIND_OF, event_model
from apps.policies.locks import draft_lock
from apps.policies.models.base import PolicyRecord
from apps.policies.services.changing import check_record, refuse_needed, tell_change
from apps.policies.undoable import UNDOABLE, ChangeTold, SavedChange, Write, change_read, change_told
from apps.registry.models import Environment


def change_undo(environment: Environment, change: UUID, *, by: By) -> ChangeTold:
    """Take back a change of one record, or of several that were changed together, all of them.

    What was made is deleted, what was deleted comes back with all that belonged to it, and what was changed says again
    what it said.

    Returns:
        The change that was taken back.
    Raises:
        RecordGoneError: the environment's change logs have no such change.
        UndoRefusedError: it is somebody else's, or one of a whole draft.
        UndoConflictError: the record, or what it needs, has moved on since. Nothing has changed.
    """
    with transaction.atomic():
        environment = draft_lock(environment)
        found = change_read(environment, change)
        told = None if found is None else change_told(found)
        if found is None:
            raise RecordGoneError(_("there is no such change"))
        _refuse_foreign(found, by)
        roots = found.updates if found.root is None else (found.root,)
        if not roots or told is None:
            raise _whole_draft()
        _refuse_moved_on(found)
        try:
            with logged_as(by, reason="undo"):
                undone = [_UNDOING[root.event.pgh_label](found, root) for root in roots]
        except RecordInvalidError as exc:
            raise UndoConflictError(
                _("it cannot be undone any more: %(reason)s") % {"reason": exc.message}, exc.details
            ) from exc
        for record, fields in undone:
            tell_change(record, by, "undo", fields)
        return told


def _refuse_foreign(found: SavedChange, by: By) -> None:
    if found.reason not in UNDOABLE:
        raise _whole_draft()
    if found.actor != actor_of(by):
        raise UndoRefusedError(_("only who saved a change may undo it"))


def _whole_draft() -> UndoRefusedError:
    return UndoRefusedError(
        _("this was a change of the whole draft; discard the draft, or import again, to take it back")
    )


def _refuse_moved_on(found: SavedChange) -> None:
    for model, writes in groupby(found.writes, key=lambda write: write.model):
        own = {write.event.pgh_obj_id: write.event.pgh_id for write in writes}
        log = event_model(model).objects.filter(pgh_obj_id__in=own)
        last = log.order_by("pgh_obj_id", "-pgh_id").distinct("pgh_obj_id").values_list("pgh_obj_id", "pgh_id")
        if dict(last) != own:
            raise UndoConflictError(_("the record was changed again since"))


def _undo_creation(found: SavedChange, root: Write) -> tuple[PolicyRecord, dict[str, Any]]:
    record = root.model._default_manager.get(pk=root.event.pgh_obj_id)
    own = {write.event.pgh_obj_id for write in found.writes}
    for model in {write.model for write in found.writes}:
        for relation in model._meta.related_objects:
            parts: Any = relation.related_model
            if parts not in KIND_OF:  # the change log itself
                continue
            if parts._default_manager.filter(**{f"{relation.field.name}__in": own}).exclude(pk__in=own).exists():
                raise UndoConflictError(_("something was added to the record since"))
    refuse_needed(record)
    root.model._default_manager.filter(pk=record.pk).delete()
    return record, {"change": str(found.id)}


def _undo_update(found: SavedChange, root: Write) -> tuple[PolicyRecord, dict[str, Any]]:
    record = root.model._default_manager.select_for_update().get(pk=root.event.pgh_obj_id)
    log = event_model(root.model).objects.filter(pgh_obj_id=record.pk, pgh_id__lt=root.event.pgh_id)
    before = log.order_by("-pgh_id").first()
    if before is None:
        raise UndoConflictError(_("the change log does not say what the record said before"))
    names = [name for name in plain_fields(root.model) if repr(getattr(before, name)) != repr(getattr(record, name))]
    sides = {}
    for name in names:
        sides[name] = {"before": with_notes(getattr(record, name)), "after": with_notes(getattr(before, name))}
        setattr(record, name, getattr(before, name))
    check_record(record)
    record.version += 1
    record.save(update_fields=[*names, "version"])
    return record, {"change": str(found.id)} | sides


def _undo_deletion(found: SavedChange, root: Write) -> tuple[PolicyRecord, dict[str, Any]]:
    record = restored(root)
    if not has_parents(record):
        raise UndoConflictError(_("what the record belonged to is gone"))
    check_record(record)
    for model, writes in groupby(found.writes, key=lambda write: write.model):
        _bring_back(model, [restored(write) for write in writes])
    return record, {"change": str(found.id), "records": len(found.writes)}


def _bring_back(model: type[PolicyRecord], records: Sequence[PolicyRecord]) -> None:
    """Store records that were there before: they were checked then, and nothing can have taken their places."""
    manager: Any = model._default_manager
    for _is_inside, level in groupby(records, key=lambda record: getattr(record, "parent_id", None) is not None):
        manager.bulk_create(list(level), batch_size=1000)


def has_parents(record: PolicyRecord) -> bool:
    """Say whether everything that a record belongs to is still there."""
    for field in type(record)._meta.fields:
        parent: Any = field.related_model
        value = getattr(record, field.attname)
        if parent is not None and value is not None and not parent._default_manager.filter(pk=value).exists():
            return False
    return True


def restored(write: Write) -> PolicyRecord:
    """Make a record from what the change log says of it; it is not stored yet."""
    values = {field.attname: getattr(write.event, field.attname) for field in write.model._meta.concrete_fields}
    return write.model(**values | {"version": write.event.version + 1})


def plain_fields(model: type[PolicyRecord]) -> list[str]:
    """Name the columns that say something of a record by itself."""
    return [field.name for field in model._meta.fields if not field.is_relation and field.name not in {"id", "version"}]


_UNDOING = {"insert": _undo_creation, "update": _undo_update, "delete": _undo_deletion}
