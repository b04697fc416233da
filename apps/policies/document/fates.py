"""What becomes of each key of `openclaw.json` that touches tools, sandboxes, sessions, sub-agents or commands.

`docs/policy.md` shows the table, and an import says what OpenClaw alone enforces.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.policies.document.findings import Findings, Path

ANY: Final = "*"


class Fate(StrEnum):
    """What this firewall does with a key."""

    ENFORCED = "enforced"
    KEPT = "kept"
    OPENCLAW_ALONE = "kept, OpenClaw alone enforces it"


def _everywhere(**fates: str) -> dict[str, Fate]:
    """Read `fate="key key"` as keys of the tools of everybody and of each agent."""
    return {
        f"{holder}.{key}": Fate[fate.upper()]
        for holder in ("tools", "agents.entries.*.tools")
        for fate, keys in fates.items()
        for key in keys.split()
    }


def _of_agents(**fates: str) -> dict[str, Fate]:
    """Read `fate="key key"` as keys of the defaults of agents and of each agent."""
    return {
        f"{holder}.{key}": Fate[fate.upper()]
        for holder in ("agents.defaults", "agents.entries.*")
        for fate, keys in fates.items()
        for key in keys.split()
    }


FATES: Final[Mapping[str, Fate]] = {
    **_everywhere(
        enforced="allow alsoAllow deny profile byProvider toolsBySender exec fs elevated loopDetection sandbox",
        kept="exec.approvalRunningNoticeMs exec.cleanupMs exec.commandHighlighting exec.notifyOnExit"
        " exec.notifyOnExitEmptySuccess exec.reviewer codeMode github swarm",
        openclaw_alone="message",
    ),
    "tools.toolSearch": Fate.ENFORCED,
    "tools.subagents": Fate.ENFORCED,
    **dict.fromkeys(("tools.links", "tools.media", "tools.sessions_spawn", "tools.updatePlan", "tools.web"), Fate.KEPT),
    "tools.sessions": Fate.OPENCLAW_ALONE,
    "tools.agentToAgent": Fate.OPENCLAW_ALONE,
    **_of_agents(
        enforced="sandbox.mode sandbox.workspaceAccess",
        kept="sandbox subagents",
        openclaw_alone="sandbox.sessionToolsVisibility subagents.allowAgents subagents.requireAgentId",
    ),
    "agents.defaults.subagents.maxSpawnDepth": Fate.ENFORCED,
    "agents.defaults.elevatedDefault": Fate.ENFORCED,
    "agents.defaults.workspace": Fate.ENFORCED,
    "agents.entries.*.workspace": Fate.ENFORCED,
    "session": Fate.KEPT,
    "session.mainKey": Fate.ENFORCED,
    "session.scope": Fate.ENFORCED,
    "session.sendPolicy": Fate.OPENCLAW_ALONE,
    "session.agentToAgent": Fate.KEPT,
    "commands": Fate.KEPT,
    "commands.ownerAllowFrom": Fate.ENFORCED,
}
"""By place; the longest one that a key lies under holds for it."""
ROOTS: Final = ("tools", "session", "commands", "agents.defaults", "agents.entries.*")
TOUCHING: Final = frozenset({"tools", "sandbox", "subagents", "workspace", "elevatedDefault"})
"""Of what belongs to agents, the keys that this is about."""


def fate_of(place: str) -> Fate | None:
    """Return what becomes of a key; None for one that this is not about."""
    steps = place.split(".")
    for length in range(len(steps), 0, -1):
        found = FATES.get(".".join(steps[:length]))
        if found is not None:
            return found
    return None


def note_unenforced(tree: dict[str, Any], findings: Findings) -> None:
    """Name what a document restricts and OpenClaw alone enforces."""
    for place, fate in FATES.items():
        if fate is not Fate.OPENCLAW_ALONE:
            continue
        for path in _present(tree, tuple(place.split(".")), ()):
            findings.warning(
                path, "not_enforced", _("kept and exported: OpenClaw enforces it, this firewall does not decide by it")
            )


def _present(value: Any, steps: tuple[str, ...], path: Path) -> Iterator[Path]:
    """Find every place of a document that has a key."""
    if not steps:
        if value is not None and value != {}:
            yield path
        return
    step, *rest = steps
    if isinstance(value, dict):
        for key in list(value) if step == ANY else [step] if step in value else []:
            yield from _present(value[key], tuple(rest), (*path, key))
