"""Whether an agent has a tool, also one that no snapshot holds: a control of tool search, or a tool of its caller."""

import json
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Final

from apps.firewall.engine.answers import Decision
from apps.firewall.engine.decide import decide
from apps.firewall.engine.document import write_tool
from apps.firewall.engine.snapshot import Snapshot, load_snapshot
from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.bridge import CLIENT, JsonObject
from apps.firewall.runtime.call import Call
from apps.firewall.runtime.hosted import decided_at_host
from apps.firewall.tools.definition import schema_digest
from apps.firewall.tools.executors import ClientExecutor, SearchExecutor
from apps.firewall.tools.search.controls import CONTROLS, controls_of
from apps.firewall.tools.search.settings import BLOCK, read_tool_search

KEPT: Final = 8
LAYER: Final = "tool_search"
ABSENT_REASON: Final = (
    "the run does not offer the tool in this way: it is not in its catalogue, or hidden behind search"
)
CONTROL_REASON: Final = "a control of tool search: what it finds and calls is decided for each tool"

_extended: OrderedDict[tuple[str, str], Snapshot] = OrderedDict()
_lock = Lock()
CONTROL_ENTRIES: Final = {
    each.name: ToolEntry(
        name=each.name,
        label=each.label,
        description=each.description,
        section=each.section,
        params=each.parameters,
        traits={"execution_mode": each.execution_mode, "result_limit": each.result_limit},
        executor={"kind": SearchExecutor.kind},
    )
    for each in CONTROLS.values()
}


def decided(snapshot: Snapshot, call: Call) -> tuple[Decision, ToolEntry | None]:
    """Decide a call, and give its tool where the agent has it."""
    bridge = call.bridge
    control = _control(snapshot, call)
    if control is not None:
        return Decision(control.name, True, None, None, None, CONTROL_REASON), control
    if bridge is not None and bridge.offered:
        snapshot = with_client_tools(snapshot, bridge.offered)
    decision = decided_at_host(snapshot, call, decide(snapshot, call.context, call.tool))
    if decision.allowed and bridge is not None and bridge.is_absent:
        return Decision(decision.tool, False, LAYER, None, None, ABSENT_REASON), None
    return decision, snapshot.tool(decision.tool) if decision.allowed else None


def _control(snapshot: Snapshot, call: Call) -> ToolEntry | None:
    """Give the control that a call is of: one of a run, or one of another machine's own search.

    What such a machine finds asks for itself, and its controls are those of the mode that is published, unless a tool
    was registered under the name.
    """
    entry = CONTROL_ENTRIES.get(call.tool)
    if entry is None or call.bridge is not None:
        return entry if call.bridge is not None and call.bridge.is_control else None
    if call.host is None or snapshot.engine.canonical_name(call.tool) is not None:
        return None
    mode = read_tool_search(snapshot.engine.settings.get(BLOCK), snapshot.dialect).mode
    return entry if any(each.name == call.tool for each in controls_of(mode)) else None


def with_client_tools(snapshot: Snapshot, offered: Sequence[JsonObject]) -> Snapshot:
    """Extend a snapshot by the tools that a run's caller runs itself, so that its whole policy speaks about them.

    They belong to the plugin `client`: lists allow and deny them by their names, by `client`, or as every plugin's. The
    few that were used last are kept. A name that the snapshot has already stays the snapshot's.

    Args:
        offered: objects with `name`, `description` and `parameters`.
    """
    key = (snapshot.digest, schema_digest({"tools": list(offered)}))
    with _lock:
        known = _extended.get(key)
        if known is not None:
            _extended.move_to_end(key)
            return known
    document = snapshot.document
    added = [client_entry(each) for each in offered if snapshot.engine.canonical_name(each["name"]) is None]
    document["tools"] += [write_tool(each) for each in added]
    made = load_snapshot(json.dumps(document).encode())
    with _lock:
        _extended[key] = made
        while len(_extended) > KEPT:
            _extended.popitem(last=False)
    return made


def client_entry(offered: JsonObject) -> ToolEntry:
    """Make the entry of a tool that its caller runs."""
    return ToolEntry(
        name=offered["name"],
        plugin=CLIENT,
        description=offered.get("description", ""),
        source=CLIENT,
        params=offered.get("parameters"),
        executor={"kind": ClientExecutor.kind},
    )
