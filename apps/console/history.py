"""What was written to an agent and to what belongs to it: who, when, before, after."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from apps.console.agents import label_of
from apps.policies.selectors import exec_settings, provider_policies, record_history
from apps.policies.undoable import is_undoable

if TYPE_CHECKING:
    from uuid import UUID

    from apps.accounts.access import Principal
    from apps.policies.changes import LogEntry
    from apps.policies.models import Agent
    from apps.policies.models.base import PolicyRecord

LIMIT = 50
RULES_LIMIT = 20


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field before and after; lists are given as what left and what joined."""

    label: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One write; `undo` is its id when whoever looks may take it back."""

    action: str
    place: str
    version: int
    actor: str
    at: datetime
    fields: tuple[FieldChange, ...]
    undo: "UUID | None" = None


def history_of(record: "Agent", *, by: "Principal | None" = None) -> list[Change]:
    """List the writes to an agent, its command settings and its rules by provider, the newest first."""
    environment = record.environment
    entries = changes_of(record, by=by)
    settings = exec_settings(environment, record)
    if settings is not None:
        entries += changes_of(settings, "exec", by=by)
    for rule in provider_policies(environment, record)[:RULES_LIMIT]:
        entries += changes_of(rule, f"byProvider.{rule.key}", by=by)
    return sorted(entries, key=lambda change: change.at, reverse=True)[:LIMIT]


def changes_of(record: "PolicyRecord", place: str = "", *, by: "Principal | None" = None) -> list[Change]:
    """List the writes to one record, the newest first.

    Args:
        place: where it stands below the page's subject.
        by: who may change it; they may undo its newest change when it is their own.
    """
    entries = record_history(record, limit=LIMIT)
    undo = entries[0].change if by is not None and entries and is_undoable(entries[0], by) else None
    return [_change(place, entry, None if number else undo) for number, entry in enumerate(entries)]


def _change(place: str, entry: "LogEntry", undo: "UUID | None") -> Change:
    actions = {"insert": _("created"), "update": _("changed"), "delete": _("deleted")}
    kind, _colon, name = entry.actor.partition(":")
    return Change(
        action=actions.get(entry.action, entry.action),
        place=place,
        version=entry.version,
        actor=name or kind,
        at=entry.at,
        fields=tuple(_field(field, *sides) for field, sides in entry.fields.items()),
        undo=undo,
    )


def _field(name: str, before: Any, after: Any) -> FieldChange:
    old, new = _words(before), _words(after)
    if isinstance(before, list) and isinstance(after, list):
        old, new = tuple(n for n in old if n not in new), tuple(n for n in new if n not in old)
    return FieldChange(label_of(name), old, new)


def _words(value: Any) -> tuple[str, ...]:
    if value is None or value in ([], {}, ""):
        return ()
    if isinstance(value, list):
        return tuple(map(str, value))
    return (str(value),)
