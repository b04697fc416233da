"""The smallest fix in the draft: which records its edits stand in, and why there is none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.utils.translation import gettext as _

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import decide
from apps.firewall.engine.diff import SnapshotDiff
from apps.firewall.engine.edits import Edit
from apps.firewall.engine.fixes import Fix, beyond_lists, fix_diff, smallest_fix
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.surroundings import Surroundings
from apps.policies.errors import RecordGoneError
from apps.policies.kept import Kept
from apps.policies.kinds import kind_of
from apps.policies.rule_records import RuleRecords, field_of
from apps.policies.selectors import draft_snapshot
from apps.registry.models import Environment

_KEPT: Final = 2
_kept: Kept[Surroundings] = Kept(_KEPT)
_diffs: Kept[SnapshotDiff] = Kept(_KEPT)


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftEdit:
    """One entry of one list of a record, added or removed.

    Attributes:
        kind, record, version: the record, and the version in which its list was read.
        field: the list, as the record's column is named.
        path: where the list stands in the document; empty where an editor named none.
    """

    kind: str
    record: UUID
    version: int
    field: str
    entry: str
    is_added: bool
    path: str = ""


@dataclass(frozen=True, slots=True)
class DraftFix:
    """The smallest fix of a verdict in the draft.

    Attributes:
        allowed: the verdict as it is.
        fix: None when three edits do not flip it.
        edits: those of the fix, each with its record.
        contexts: how many classes of contexts there are, among which the effects are counted.
        beyond: the layers that refuse the tool and that no list reaches.
    """

    tool: str
    allowed: bool
    fix: Fix | None
    edits: tuple[DraftEdit, ...]
    contexts: int
    beyond: tuple[str, ...]


def draft_fix(environment: Environment, context: CallContext, tool: str) -> DraftFix:
    """Find the fewest edits of the draft's lists that flip the verdict on a tool in a context.

    Raises:
        UnknownToolError: the draft has no such tool.
        ResolutionError: nothing can be decided in this context.
        SnapshotError: the draft has no canonical form.
    """
    snapshot = draft_snapshot(environment)
    around = _surroundings(snapshot)
    fix = smallest_fix(around, context, tool)
    decision = decide(snapshot, context, tool)
    beyond = beyond_lists(snapshot.engine, context, decision.tool) if fix is None else ()
    edits = draft_edits(environment, fix.edits) if fix is not None else ()
    return DraftFix(decision.tool, decision.allowed, fix, edits, around.contexts, beyond)


def draft_fix_diff(environment: Environment, context: CallContext, found: DraftFix) -> SnapshotDiff | None:
    """Say who gains and loses what by a fix of the draft, over all contexts; None where there is no fix.

    Raises:
        ResolutionError, SnapshotError: as for `draft_fix`.
    """
    fix = found.fix
    if fix is None:
        return None
    snapshot = draft_snapshot(environment)
    return _diffs.get(
        (snapshot.digest, fix.edits),
        lambda: fix_diff(snapshot, context, fix, classes=_surroundings(snapshot).classes),
    )


def _surroundings(snapshot: Snapshot) -> Surroundings:
    """Read all classes of contexts, which takes a second or two for a large policy; the last ones stay in memory."""
    return _kept.get(snapshot.digest, lambda: Surroundings(snapshot))


def draft_edits(environment: Environment, edits: Sequence[Edit]) -> tuple[DraftEdit, ...]:
    """Find the records in which edits stand.

    Raises:
        RecordGoneError: there is none, or no longer.
    """
    records = RuleRecords(environment, [edit.block for edit in edits])
    return tuple(_draft_edit(records, edit) for edit in edits)


def _draft_edit(records: RuleRecords, edit: Edit) -> DraftEdit:
    record = records.of(edit.block)
    if record is None:
        raise RecordGoneError(_("the draft has no record for this list any more"))
    return DraftEdit(
        kind=kind_of(record),
        record=record.pk,
        version=record.version,
        field=field_of(edit.block, edit.member),
        entry=edit.entry,
        is_added=edit.is_added,
        path=records.path_of(edit.block, edit.member),
    )
