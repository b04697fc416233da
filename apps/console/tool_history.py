"""What happened to a tool: who changed what, before and after."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.console.changes import Line
from apps.console.schema_diff import diff_of
from apps.console.tool_words import Word, state_word
from apps.registry.selectors import ToolChange, tool_history

if TYPE_CHECKING:
    from apps.registry.models import Tool

LIMIT: Final = 30
LABELS: Final[dict[str, Promise]] = {
    "label": gettext_lazy("Label"),
    "description": gettext_lazy("Description"),
    "params_schema": gettext_lazy("Parameters"),
    "owner_only": gettext_lazy("Owner only"),
    "state": gettext_lazy("State"),
    "state_reason": gettext_lazy("Reason"),
    "section": gettext_lazy("Section"),
    "traits": gettext_lazy("Definition"),
    "executor": gettext_lazy("What runs it"),
}
LONG: Final = frozenset({"params_schema", "traits", "executor"})


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field: short ones as two words, long ones as lines."""

    label: str
    before: str
    after: str
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """One write. `state` is set when it moved the tool there."""

    actor: str
    at: datetime
    version: int
    action: str
    state: Word | None
    reason: str
    fields: tuple[FieldChange, ...]


def history_of_tool(record: "Tool") -> list[Change]:
    """List the last writes to a tool, the newest first."""
    rows = tool_history(record, limit=LIMIT + 1)
    older: list[ToolChange | None] = [*rows[1:], None]
    shown = [_change(row, before) for row, before in zip(rows, older, strict=False)]
    return [change for change in shown[:LIMIT] if change.state or change.fields or change.action != _("changed")]


def _change(row: ToolChange, before: ToolChange | None) -> Change:
    actions = {"insert": _("added"), "update": _("changed"), "delete": _("removed")}
    old = before.fields if before is not None else {}
    is_moved = row.fields["state"] != old.get("state")
    kind, _colon, name = row.actor.partition(":")
    return Change(
        actor=name or kind,
        at=row.at,
        version=row.fields["version"],
        action=actions.get(row.kind, row.kind),
        state=state_word(row.fields["state"]) if is_moved else None,
        reason=row.fields["state_reason"] if is_moved else "",
        fields=tuple(_fields(row.fields, old)) if old else (),
    )


def _fields(new: dict[str, Any], old: dict[str, Any]) -> Iterator[FieldChange]:
    for name, value in new.items():
        if name in {"version", "state", "state_reason"} or name not in old or old[name] == value:
            continue
        label = str(LABELS.get(name, name))
        if name in LONG:
            yield FieldChange(label, "", "", tuple(diff_of(old[name], value)))
        else:
            yield FieldChange(label, _text(old[name]), _text(value))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
