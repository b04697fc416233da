"""What a person's answer is bound to, and what of it has changed by the time it is to run."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, Final

from apps.firewall.engine.document import write_tool
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.call import Action
from apps.firewall.runtime.deciding import decided

NAMES: Final = frozenset(
    {"call_id", "trace_id", "run", "actor", "requester", "snapshot", "warnings", "hook_changes", "filtered"}
)
"""Members of an action that name a call or tell of it. Every other one is bound, also those that are yet to come."""

WORDS: Final[Mapping[str, str]] = {
    "argv": "arguments",
    "executable": "program",
    "cwd": "directory",
    "context": "session",
    "policy": "policy of the tool",
}
MEMBER_BY_MEMBER: Final[Mapping[str, str]] = {"files": "file", "env": "variable", "params": "parameter"}


def changed_parts(approved: Action, now: Action) -> list[str]:
    """Name what differs between what was allowed and what would run, for people; values are shown to nobody."""
    found: list[str] = []
    for member in (each.name for each in fields(Action) if each.name not in NAMES):
        was, would_be = getattr(approved, member), getattr(now, member)
        if member in MEMBER_BY_MEMBER:
            names = sorted(name for name in was.keys() | would_be.keys() if _differ(was, would_be, name))
            found += [f"{MEMBER_BY_MEMBER[member]} {name}" for name in names]
        elif was != would_be:
            found.append(WORDS.get(member, member))
    return found


def policy_digest(snapshot: Snapshot, tool: ToolEntry, agent: str, *, is_command: bool) -> str:
    """Digest what a snapshot says of an action beyond whether it may run, as hex SHA-256.

    Whether the agent may use the tool, and whether a list names the command, is decided again at the run and not part
    of it: publishing something else does not undo an answer.
    """
    said: dict[str, Any] = {"dialect": snapshot.dialect, "tool": write_tool(tool)}
    if is_command:
        settings = asdict(snapshot.exec_settings(agent))
        document = settings.pop("approvals")
        named = [document.get("defaults"), *(document.get("agents", {}).get(name) for name in ("*", agent))]
        said["exec"] = [settings, *(_without_list(each) for each in named)]
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=list).encode()).hexdigest()


def no_longer_as_asked(action: Action, snapshot: Snapshot, *, is_command: bool) -> str:
    """Say why what was asked cannot be answered as it stands under a newer snapshot; empty when it still can."""
    _, tool = decided(snapshot, action.call())
    if tool is None:
        return f"the policy that is live now does not give the agent the tool `{action.tool}`"
    if action.policy and policy_digest(snapshot, tool, action.agent, is_command=is_command) != action.policy:
        return f"what the policy says of the tool `{action.tool}` has changed since it was asked"
    return ""


def _differ(was: Mapping[str, Any], would_be: Mapping[str, Any], name: str) -> bool:
    return (name in was) != (name in would_be) or was.get(name) != would_be.get(name)


def _without_list(settings: Any) -> dict[str, Any]:
    if not isinstance(settings, Mapping):
        return {}
    return {name: value for name, value in settings.items() if name not in {"allowlist", "mcpTools"}}
