"""Which keys of `openclaw.json` decide here, of those that touch tools, sandboxes, sessions, sub-agents or commands.

`docs/policy.md` shows the table. An import names what OpenClaw alone enforces, and what is kept only in part.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.firewall.engine.dialect import Dialect
from apps.policies.document.findings import Findings, Path

ANY: Final = "*"
GATEWAY: Final = "gateway"
OF_TOOLS: Final = ("tools", "agents.entries.*.tools")
OF_AGENTS: Final = ("agents.defaults", "agents.entries.*")
_BLOCKS: Final = (*OF_TOOLS, *(f"{holder}.byProvider.*" for holder in OF_TOOLS))


class Enforcement(StrEnum):
    """What this firewall does with a key."""

    ENFORCED = "enforced"
    KEPT = "kept"
    OPENCLAW_ALONE = "kept, OpenClaw alone enforces it"


def _below(holders: tuple[str, ...], **keys: str) -> dict[str, Enforcement]:
    """Read `enforced="key key"` as keys of each of some objects."""
    return {
        f"{holder}.{key}": Enforcement[name.upper()]
        for holder in holders
        for name, listed in keys.items()
        for key in listed.split()
    }


ENFORCEMENT: Final[Mapping[str, Enforcement]] = {
    **_below(
        OF_TOOLS,
        enforced="allow alsoAllow deny profile byProvider toolsBySender exec fs elevated loopDetection sandbox",
        kept="exec.approvalRunningNoticeMs exec.cleanupMs exec.commandHighlighting exec.notifyOnExit"
        " exec.notifyOnExitEmptySuccess exec.reviewer codeMode github swarm",
        openclaw_alone="message",
    ),
    **_below(
        ("tools",),
        enforced="toolSearch subagents",
        kept="links media sessions_spawn updatePlan web",
        openclaw_alone="sessions agentToAgent",
    ),
    **_below(
        OF_AGENTS,
        enforced="sandbox.mode sandbox.workspaceAccess workspace",
        kept="sandbox subagents",
        openclaw_alone="sandbox.sessionToolsVisibility subagents.allowAgents subagents.requireAgentId",
    ),
    **_below(("agents.defaults",), enforced="subagents.maxSpawnDepth elevatedDefault"),
    "session": Enforcement.KEPT,
    **_below(("session",), enforced="mainKey scope", kept="agentToAgent", openclaw_alone="sendPolicy"),
    "commands": Enforcement.KEPT,
    "commands.ownerAllowFrom": Enforcement.ENFORCED,
}
"""By place, `*` for the names of agents; the longest one that a key lies under holds for it."""


def note_unenforced(tree: dict[str, Any], dialect: Dialect, findings: Findings) -> None:
    """Name what a document restricts and OpenClaw alone enforces."""
    _note_updates(tree, dialect, findings)
    for place, enforcement in ENFORCEMENT.items():
        if enforcement is not Enforcement.OPENCLAW_ALONE:
            continue
        for path in _places(tree, tuple(place.split(".")), ()):
            findings.warning(
                path, "not_enforced", _("kept and exported: OpenClaw enforces it, this firewall does not decide by it")
            )


def _note_updates(tree: dict[str, Any], dialect: Dialect, findings: Findings) -> None:
    """Name the profiles that let OpenClaw's tool `gateway` update, and do nothing else."""
    for place in _BLOCKS:
        for path in _places(tree, tuple(place.split(".")), ()):
            block = _at(tree, path)
            name, added = (block.get("profile"), block.get("alsoAllow")) if isinstance(block, dict) else (None, None)
            profile = dialect.profiles.get(name) if isinstance(name, str) else None
            if profile is None or GATEWAY not in (profile.allow or ()):
                continue
            if isinstance(added, list) and GATEWAY in added:
                continue
            message = _(
                "under the profile `%(profile)s` OpenClaw lets `gateway` update and no more; "
                "this firewall allows all of it"
            )
            findings.info((*path, "profile"), "not_enforced", message % {"profile": name})


def _at(tree: Any, path: Path) -> Any:
    for step in path:
        tree = tree[step]
    return tree


def kept_words(place: Path) -> str:
    """Say of an object that is kept as it is what of it decides here all the same."""
    deciding = [steps[-1] for steps in _ENFORCED if len(steps) == len(place) + 1 and _leads_to(steps, place)]
    if deciding:
        names = ", ".join(f"`{name}`" for name in deciding)
        return _("kept as it is; of it, %(names)s decide here") % {"names": names}
    return _("kept as it is, not part of the tool policy")


_ENFORCED: Final = [tuple(each.split(".")) for each, how in ENFORCEMENT.items() if how is Enforcement.ENFORCED]


def _leads_to(steps: tuple[str, ...], place: Path) -> bool:
    return all(step in (ANY, each) for step, each in zip(steps, place, strict=False))


def _places(value: Any, steps: tuple[str, ...], path: Path) -> Iterator[Path]:
    """Find every place of a document that has a key."""
    if not steps:
        if value is not None and value != {}:
            yield path
        return
    step, *rest = steps
    if isinstance(value, dict):
        for key in list(value) if step == ANY else [step] if step in value else []:
            yield from _places(value[key], tuple(rest), (*path, key))
