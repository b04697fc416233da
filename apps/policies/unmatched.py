"""Rules of what is live that no recorded call matched, where they stand in the draft, and what goes with them.

A worker counts (see `apps.policies.replays.matching`). A whole block that matched nothing stands for its entries, too.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, TypeAlias
from uuid import UUID

from django.utils.translation import gettext as _

from apps.firewall.engine.diff import SnapshotDiff, diff_snapshots
from apps.firewall.engine.edits import Edit, Edited, engine_after
from apps.firewall.engine.matching import Rule, blocks_of, can_match
from apps.firewall.engine.simulate import Block, engine_without
from apps.policies.actors import By
from apps.policies.document.findings import show_path
from apps.policies.errors import RecordGoneError, ReplayInvalidError
from apps.policies.kept import Kept
from apps.policies.kinds import kind_of
from apps.policies.models import AllowlistEntry, Replay
from apps.policies.places import Places
from apps.policies.replays.asking import replay_request, rule_count_newest
from apps.policies.replays.matching import AnyRule, Command, RuleBook, RuleTally
from apps.policies.rule_records import RuleRecords, block_at, field_of, member_of
from apps.policies.selectors import draft_snapshot, live_snapshot, record_get
from apps.policies.snapshots import snapshot_loaded
from apps.registry.models import Environment

DAYS_COUNTED: Final = 30

Standing: TypeAlias = Literal["never", "unknown"]
STANDINGS: Final[tuple[Standing, ...]] = ("never", "unknown")

_kept: Kept["Counted"] = Kept(4)


@dataclass(frozen=True, slots=True)
class Counted:
    """What a count found about the rules of a snapshot.

    Attributes:
        never: those that no call matched.
        unknown: those that may have matched calls whose record says too little; nothing surer is known of them.
        idle: how many entries name no tool that there is, so that no call can match them.
        rules: how many there are.
        vague: how many calls leave it open which rules they matched.
    """

    never: tuple[AnyRule, ...]
    unknown: tuple[AnyRule, ...]
    idle: int
    rules: int
    vague: int

    def of(self, standing: Standing) -> tuple[AnyRule, ...]:
        """Return the rules of a standing."""
        return self.never if standing == "never" else self.unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedRule:
    """A rule, and the record of the draft that holds it.

    Attributes:
        record: None where the draft has it no longer.
        field: the list as the record's column is named; empty for a whole record or block.
        path: where it stands in the document.
    """

    entry: str
    path: str
    kind: str = ""
    record: UUID | None = None
    version: int = 0
    field: str = ""


def rule_count_request(environment: Environment, *, by: By, at: datetime) -> Replay:
    """Ask for a count of the rules that the calls of the last month match; a worker does it.

    Raises:
        ReplayInvalidError: nothing is live.
        PermissionDeniedError, AuditUnavailableError: as for `replay_request`.
    """
    live = live_snapshot(environment)
    if live is None:
        message = _("nothing is live yet: there are no rules that a call could have matched")
        raise ReplayInvalidError(message, [{"path": "live", "code": "required", "message": message}])
    return replay_request(environment, live, days=DAYS_COUNTED, by=by, at=at, purpose=Replay.Purpose.RULES)


def rule_count(environment: Environment) -> tuple[Replay | None, Counted | None]:
    """Give the newest count, and what it found once it is done."""
    newest = rule_count_newest(environment)
    if newest is None or not newest.is_done:
        return newest, None
    return newest, _kept.get(newest.pk, lambda: _counted(newest))


def _counted(count: Replay) -> Counted:
    snapshot, tally = snapshot_loaded(count.draft_digest), RuleTally.read(count.tally)
    book = RuleBook(snapshot)
    idle = {rule for rule in book.listed if not can_match(snapshot.engine, rule)}
    left = [(number, rule) for number, rule in enumerate(book.rules) if number not in tally.certain]
    unknown = _folded(rule for number, rule in left if number in tally.possible)
    never = _folded(rule for number, rule in left if number not in tally.possible and rule not in idle)
    return Counted(never, unknown, len(idle), len(book.rules), tally.vague)


def _folded(rules: Any) -> tuple[AnyRule, ...]:
    """Leave out the entries of blocks that are there as a whole."""
    listed = tuple(rules)
    whole = {rule.block for rule in listed if isinstance(rule, Rule) and not rule.member}
    return tuple(rule for rule in listed if isinstance(rule, Command) or not rule.member or rule.block not in whole)


def rules_located(environment: Environment, rules: Sequence[AnyRule]) -> list[LocatedRule]:
    """Find the records of some rules, in a handful of queries."""
    listed = [rule for rule in rules if isinstance(rule, Rule)]
    records = RuleRecords(environment, [rule.block for rule in listed])
    commands = _commands(environment, {rule.pattern for rule in rules if isinstance(rule, Command)})
    found = []
    for rule in rules:
        if isinstance(rule, Command):
            found.append(commands.get(rule.pattern) or LocatedRule(entry=rule.pattern, path=""))
        else:
            found.append(_located(records, rule))
    return found


def _located(records: RuleRecords, rule: Rule) -> LocatedRule:
    record, field = records.of(rule.block), field_of(rule.block, rule.member) if rule.member else ""
    if record is None:
        return LocatedRule(entry=rule.entry, path=_words(rule.block))
    is_there = not field or rule.entry in (getattr(record, field) or ())
    return LocatedRule(
        entry=rule.entry,
        path=records.path_of(rule.block, rule.member),
        kind=kind_of(record),
        record=record.pk if is_there else None,
        version=record.version,
        field=field,
    )


def _words(block: Block) -> str:
    parts = (*block.path, block.agent, block.provider, block.profile, block.sender)
    return show_path(tuple(part for part in parts if part))


def _commands(environment: Environment, patterns: Collection[str]) -> dict[str, LocatedRule]:
    if not patterns:
        return {}
    places = Places(environment)
    rows = AllowlistEntry.objects.filter(environment=environment, pattern__in=patterns).order_by("-position", "id")
    return {row.pattern: _command(places, row) for row in rows}


def _command(places: Places, row: AllowlistEntry) -> LocatedRule:
    path = show_path(places.of(row))
    return LocatedRule(entry=row.pattern, path=path, kind="allowlist", record=row.pk, version=row.version)


def rule_located(environment: Environment, *, kind: str, record: UUID, field: str, entry: str) -> LocatedRule:
    """Find a rule of the draft by its record.

    Args:
        field, entry: of an entry of a list; both empty for the whole rule.
    Raises:
        RecordGoneError: the draft has no such rule.
    """
    found: Any = record_get(environment, kind, record)
    is_entry = bool(field)
    is_rule = kind in ("sender", "group", "allowlist") if not is_entry else field.endswith(("allow", "deny"))
    if found is None or not is_rule or (is_entry and entry not in (getattr(found, field, None) or ())):
        raise RecordGoneError(_("the draft has no such rule any more"))
    if kind == "allowlist":
        return _command(Places(environment), found)
    block = block_at(found, field)
    records = RuleRecords(environment, [block])
    return LocatedRule(
        entry=entry if is_entry else "",
        path=records.path_of(block, member_of(field)),
        kind=kind,
        record=found.pk,
        version=found.version,
        field=field,
    )


def removal_diff(environment: Environment, rule: LocatedRule) -> SnapshotDiff | None:
    """Compare the draft with what it would be without a rule, over all contexts; None for a rule of commands.

    Raises:
        RecordGoneError: the draft has no such rule.
        SnapshotError: the draft has no canonical form.
    """
    if rule.kind == "allowlist" or rule.record is None:
        return None
    found = record_get(environment, rule.kind, rule.record)
    if found is None:
        raise RecordGoneError(_("the draft has no such rule any more"))
    draft, block = draft_snapshot(environment), block_at(found, rule.field)
    if not rule.field:
        return diff_snapshots(draft, Edited(engine_without(draft, block), draft.tool_names))
    policy = next((policy for each, policy in blocks_of(draft.engine) if each == block), None)
    edit = Edit(block, member_of(rule.field), rule.entry, is_added=False)
    return diff_snapshots(draft, Edited(engine_after(draft.engine, {block: edit.apply(policy)}), draft.tool_names))
