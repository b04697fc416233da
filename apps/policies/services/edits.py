"""Edits of single entries of lists: what a smallest fix puts into the draft, all of it or nothing."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from apps.policies.actors import By, logged_as
from apps.policies.draft_fixes import DraftEdit
from apps.policies.errors import RecordGoneError, RecordInvalidError
from apps.policies.kinds import MEMBERS
from apps.policies.locks import draft_lock
from apps.policies.selectors import record_get
from apps.policies.services.records import LISTS, record_update
from apps.registry.models import Environment


@dataclass(frozen=True, slots=True)
class EditedRecord:
    """A record after edits."""

    kind: str
    record: UUID
    version: int


def draft_edit(environment: Environment, edits: Iterable[DraftEdit], *, by: By) -> list[EditedRecord]:
    """Add entries to lists of records, and remove others.

    They are one change: undoing it takes all of them back. An entry that is there, or is gone, already stays so:
    repeating edits is harmless.

    Returns:
        The records as they are now.
    Raises:
        ConflictError: a record was changed since the version that an edit names.
        RecordInvalidError: the record has no such list, or would not be valid.
        RecordGoneError: a record does not exist any more.
    """
    by_record: dict[tuple[str, str, int], list[DraftEdit]] = {}
    for edit in edits:
        by_record.setdefault((edit.kind, str(edit.record), edit.version), []).append(edit)
    with transaction.atomic(), logged_as(by, reason="update"):  # one change, which is undone as one
        environment = draft_lock(environment)
        return [_edited(environment, mine, by) for mine in by_record.values()]


def _edited(environment: Environment, edits: list[DraftEdit], by: By) -> EditedRecord:
    first = edits[0]
    record = record_get(environment, first.kind, first.record)
    if record is None:
        raise RecordGoneError(_("the record `%(record)s` does not exist any more") % {"record": first.record})
    lists = {member.field for member in MEMBERS.get(type(record), ()) if member.field.endswith(LISTS)}
    wanted: dict[str, list[str] | None] = {}
    for edit in edits:
        if edit.field not in lists:
            mistake = {"path": "field", "code": "unknown_field", "message": _("is no list of tools")}
            raise RecordInvalidError(_("`%(field)s` is no list of this record") % {"field": edit.field}, [mistake])
        names = wanted.get(edit.field, getattr(record, edit.field))
        wanted[edit.field] = _with(names, edit)
    saved = record_update(record, wanted, by=by, expected_version=first.version)
    return EditedRecord(first.kind, saved.pk, saved.version)


def _with(names: list[str] | None, edit: DraftEdit) -> list[str] | None:
    """Return a list after an edit; an absent one stays absent when something is removed from it."""
    if edit.is_added:
        return names if edit.entry in (names or ()) else [*(names or ()), edit.entry]
    return None if names is None else [name for name in names if name != edit.entry]
