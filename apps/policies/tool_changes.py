"""How the catalogue of a draft differs from the live one: tools are no records of the draft, and go live with it."""

from collections import OrderedDict
from threading import Lock
from typing import Any, Final

from apps.firewall.engine.diff_guards import ToolDifference, tool_differences
from apps.firewall.engine.document import write_tool
from apps.firewall.engine.snapshot import Snapshot
from apps.policies.changes import Action, DraftChange, tools_mark
from apps.policies.compiler import tool_entries
from apps.policies.kinds import event_model
from apps.registry.models import Environment, Tool

KIND: Final = "tool"
KEPT: Final = 16
_ACTIONS: Final[dict[str, Action]] = {"added": "created", "changed": "changed", "removed": "deleted"}
_kept: OrderedDict[Any, tuple[ToolDifference, ...]] = OrderedDict()
_lock = Lock()


def catalogue_differences(environment: Environment, live: Snapshot) -> tuple[ToolDifference, ...]:
    """Compare the tools that a publication would offer with those of what is live; the last answers are kept."""
    key = (environment.pk, environment.dialect, live.digest, tools_mark())
    with _lock:
        found = _kept.get(key)
    if found is None:
        offered = [write_tool(entry) for entry in tool_entries(environment)]
        found = tool_differences(live.document["tools"], offered)
    with _lock:
        _kept[key] = found
        _kept.move_to_end(key)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return found


def catalogue_changes(environment: Environment, differences: tuple[ToolDifference, ...]) -> list[DraftChange]:
    """Write differences as changes of the draft, member by member; who and when are those of a tool's last write."""
    names = [each.name for each in differences]
    log = event_model(Tool).objects.filter(environment=environment, name__in=names).select_related("pgh_context")
    last = {event.name: event for event in log.order_by("name", "-pgh_id").distinct("name")}
    return [change for each in differences if each.name in last for change in _changes(each, last[each.name])]


def _changes(difference: ToolDifference, event: Any) -> list[DraftChange]:
    metadata = event.pgh_context.metadata if event.pgh_context is not None else {}
    before, after = difference.before, difference.after
    whole = [("", before, after)]
    members = [(name, (before or {}).get(name), (after or {}).get(name)) for name in difference.members]
    return [
        DraftChange(
            action=_ACTIONS[difference.action],
            kind=KIND,
            record=event.pgh_obj_id,
            label=difference.name,
            field=field,
            before=was,
            after=now,
            actor=metadata.get("actor", "system"),
            at=event.pgh_created_at,
        )
        for field, was, now in members or whole
    ]
