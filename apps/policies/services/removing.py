"""Taking a rule out of the draft: an entry of a list, a rule by sender, the block of a group, a command of a list."""

from collections.abc import Mapping
from typing import Any, Final

from django.db import transaction
from django.utils.translation import gettext as _

from apps.policies.actors import By
from apps.policies.draft_fixes import DraftEdit
from apps.policies.errors import RecordGoneError
from apps.policies.selectors import record_get
from apps.policies.services.edits import draft_edit
from apps.policies.services.records import record_delete, record_update
from apps.policies.unmatched import LocatedRule
from apps.registry.models import Environment

NO_BLOCK: Final[Mapping[str, Any]] = {"allow": None, "also_allow": None, "deny": None, "has_tools": False}
"""What a group says that has no block: whatever stands behind it answers."""


def rule_remove(environment: Environment, rule: LocatedRule, *, by: By, expected_version: int) -> None:
    """Take a rule out of the draft.

    Raises:
        ConflictError: its record was changed since the version that the editor had before their eyes.
        RecordGoneError: it is gone already.
        RecordInvalidError: what would be left is not valid.
    """
    if rule.record is None:
        raise RecordGoneError(_("the draft has no such rule any more"))
    if rule.field:
        edit = DraftEdit(
            kind=rule.kind,
            record=rule.record,
            version=expected_version,
            field=rule.field,
            entry=rule.entry,
            is_added=False,
        )
        draft_edit(environment, [edit], by=by)
        return
    with transaction.atomic():
        record = record_get(environment, rule.kind, rule.record)
        if record is None:
            raise RecordGoneError(_("the draft has no such rule any more"))
        if rule.kind == "group":
            record_update(record, NO_BLOCK, by=by, expected_version=expected_version)
        else:
            record_delete(record, by=by, expected_version=expected_version)
