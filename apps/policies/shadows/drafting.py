"""The change of a shadow rule goes into the draft: as it was there, or as it was found as a fix."""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, require
from apps.policies.actors import By, logged_as
from apps.policies.document.secrets import with_notes
from apps.policies.draft_fixes import DraftEdit
from apps.policies.errors import RecordGoneError
from apps.policies.kinds import KINDS, event_model
from apps.policies.locks import draft_lock
from apps.policies.models import ShadowRule
from apps.policies.models.base import PolicyRecord
from apps.policies.selectors import record_get
from apps.policies.services.changing import check_record, tell_change
from apps.policies.services.edits import draft_edit
from apps.policies.services.records import record_delete
from apps.policies.services.undoing import has_parents, plain_fields, restored
from apps.policies.undoable import Write


def shadow_draft(shadow: ShadowRule, *, by: By) -> None:
    """Put the change of a shadow rule into the draft; what stands there already stays. It is watched until it is live.

    Raises:
        PermissionDeniedError: the principal may not change policy.
        RecordGoneError: the draft has no place for it any more.
        RecordInvalidError: the record would not be valid.
    """
    if by is not None:
        require(by, Permission.POLICY_WRITE)
    with transaction.atomic():
        draft_lock(shadow.environment)
        if "edits" in shadow.origin:
            draft_edit(shadow.environment, [_edit(shadow, each) for each in shadow.origin["edits"]], by=by)
        else:
            _record_taken(shadow, by)


def _edit(shadow: ShadowRule, said: dict[str, Any]) -> DraftEdit:
    record = record_get(shadow.environment, said["kind"], UUID(said["record"]))
    if record is None:
        raise _gone()
    return DraftEdit(
        kind=said["kind"],
        record=record.pk,
        version=record.version,
        field=said["field"],
        entry=said["entry"],
        is_added=said["is_added"],
    )


def _record_taken(shadow: ShadowRule, by: By) -> None:
    origin, model = shadow.origin, KINDS[shadow.kind]
    event = event_model(model).objects.filter(pgh_id=origin["event"]).first()
    record = record_get(shadow.environment, shadow.kind, UUID(origin["record"]))
    if origin["action"] == "deleted":
        if record is not None:
            record_delete(record, by=by, expected_version=record.version)
    elif event is None:
        raise _gone()
    elif record is not None:
        _update(record, event, origin["fields"] or plain_fields(model), by)
    elif origin["action"] == "created":
        _create(restored(Write(model, event)), by)
    else:
        raise _gone()


def _update(record: PolicyRecord, event: Any, fields: list[str], by: By) -> None:
    names = [name for name in fields if repr(getattr(event, name)) != repr(getattr(record, name))]
    if not names:
        return
    sides = {}
    for name in names:
        sides[name] = {"before": with_notes(getattr(record, name)), "after": with_notes(getattr(event, name))}
        setattr(record, name, getattr(event, name))
    check_record(record)
    record.version += 1
    with logged_as(by, reason="update"):
        record.save(update_fields=[*names, "version"])
    tell_change(record, by, "update", sides)


def _create(record: PolicyRecord, by: By) -> None:
    if not has_parents(record):
        raise _gone()
    check_record(record)
    with logged_as(by, reason="create"):
        record.save(force_insert=True)
    tell_change(record, by, "create", {})


def _gone() -> RecordGoneError:
    return RecordGoneError(_("the draft has no place for this change any more"))
