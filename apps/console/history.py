"""What was written to an agent and to what belongs to it: who, when, before, after."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from apps.console.agents import label_of
from apps.policies.selectors import exec_settings, provider_policies, record_history

if TYPE_CHECKING:
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
    """One write."""

    action: str
    place: str
    version: int
    actor: str
    at: datetime
    fields: tuple[FieldChange, ...]


def history_of(record: "Agent") -> list[Change]:
    """List the writes to an agent, its command settings and its rules by provider, the newest first."""
    environment = record.environment
    entries = changes_of(record)
    settings = exec_settings(environment, record)
    if settings is not None:
        entries += changes_of(settings, "exec")
    for rule in provider_policies(environment, record)[:RULES_LIMIT]:
        entries += changes_of(rule, f"byProvider.{rule.key}")
    return sorted(entries, key=lambda change: change.at, reverse=True)[:LIMIT]


def changes_of(record: "PolicyRecord", place: str = "") -> list[Change]:
    """List the writes to one record, the newest first; `place` says where it stands below the page's subject."""
    return [_change(place, entry) for entry in record_history(record, limit=LIMIT)]


def _change(place: str, entry: "LogEntry") -> Change:
    actions = {"insert": _("created"), "update": _("changed"), "delete": _("deleted")}
    kind, _colon, name = entry.actor.partition(":")
    return Change(
        action=actions.get(entry.action, entry.action),
        place=place,
        version=entry.version,
        actor=name or kind,
        at=entry.at,
        fields=tuple(_field(field, *sides) for field, sides in entry.fields.items()),
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
