"""Which key of a document is which column of a record, for reading and for writing alike."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from apps.policies.document.findings import Findings, Path
from apps.policies.document.shapes import (
    Shape,
    flag,
    mapping,
    mapping_of,
    names,
    object_with,
    senders,
    text,
    whole,
    word,
    wrong_type,
)
from apps.policies.models import ElevatedLevel, ExecAsk, ExecHost, ExecMode, ExecSecurity

Keys = tuple[str, ...]

GROUP_MAPS = ("groups", "direct", "guilds", "teams", "channels", "rooms")
KEY_LENGTH = 512
NOT_CHANNELS = frozenset({"defaults", "modelByChannel"})


@dataclass(frozen=True, slots=True)
class Member:
    """One key: where it stands below its record, its column, and what it may hold."""

    path: tuple[str, ...]
    field: str
    shape: Shape


def tool_block(*path: str, prefix: str = "") -> tuple[Member, ...]:
    return (
        Member((*path, "allow"), f"{prefix}allow", names),
        Member((*path, "alsoAllow"), f"{prefix}also_allow", names),
        Member((*path, "deny"), f"{prefix}deny", names),
    )


SCOPE = (
    Member(("tools", "profile"), "profile", text(128)),
    *tool_block("tools"),
    *tool_block("tools", "sandbox", "tools", prefix="sandbox_"),
    Member(("tools", "fs", "workspaceOnly"), "fs_workspace_only", flag),
    Member(("tools", "elevated", "enabled"), "elevated_enabled", flag),
    Member(("tools", "elevated", "allowFrom"), "elevated_allow_from", mapping_of(senders)),
)
GLOBAL = (
    Member(("agents", "ownership"), "ownership", word("explicit")),
    Member(("agents", "defaults", "subagents", "maxSpawnDepth"), "max_spawn_depth", whole(1, 5)),
    Member(("agents", "defaults", "elevatedDefault"), "elevated_default", word(*ElevatedLevel.values)),
    *SCOPE,
    *tool_block("tools", "subagents", "tools", prefix="subagent_"),
    Member(("commands", "ownerAllowFrom"), "owners", senders),
)
AGENT = (Member(("name",), "name", text(200)), *SCOPE)
PROVIDER = (Member(("profile",), "profile", text(128)), *tool_block())
SENDER = tool_block()
GROUP = tool_block("tools")
EXEC = (
    Member(("host",), "host", word(*ExecHost.values)),
    Member(("mode",), "mode", word(*ExecMode.values)),
    Member(("security",), "security", word(*ExecSecurity.values)),
    Member(("ask",), "ask", word(*ExecAsk.values)),
    Member(("node",), "node", text(256)),
    Member(("pathPrepend",), "path_prepend", names),
    Member(("safeBins",), "safe_bins", names),
    Member(("safeBinTrustedDirs",), "safe_bin_trusted_dirs", names),
    Member(
        ("safeBinProfiles",),
        "safe_bin_profiles",
        mapping_of(
            object_with(
                minPositional=whole(0, 1000),
                maxPositional=whole(0, 1000),
                allowedValueFlags=names,
                allowedBooleanFlags=names,
                deniedFlags=names,
            )
        ),
    ),
    Member(("strictInlineEval",), "strict_inline_eval", flag),
    Member(("timeoutSeconds",), "timeout_s", whole(1, 2**31 - 1)),
    Member(("grantExpiryDays",), "grant_expiry_days", whole(1, 3650)),
    Member(("applyPatch", "enabled"), "apply_patch_enabled", flag),
    Member(("applyPatch", "workspaceOnly"), "apply_patch_workspace_only", flag),
    Member(("applyPatch", "allowModels"), "apply_patch_allow_models", names),
)
APPROVAL_WORDS = (
    Member(("security",), "security", word(*ExecSecurity.values)),
    Member(("ask",), "ask", word(*ExecAsk.values)),
    Member(("askFallback",), "ask_fallback", word(*ExecSecurity.values)),
    Member(("autoAllowSkills",), "auto_allow_skills", flag),
)
APPROVALS = tuple(Member(("defaults", *member.path), member.field, member.shape) for member in APPROVAL_WORDS)
ALLOWLIST = (
    Member(("id",), "entry_id", text(64)),
    Member(("pattern",), "pattern", text(1024)),
    Member(("argPattern",), "arg_pattern", text(2048)),
    Member(("source",), "source", text(64)),
)

SCOPE_BLOCKS = (
    ("", ("tools",)),
    ("sandbox_", ("tools", "sandbox", "tools")),
    ("subagent_", ("tools", "subagents", "tools")),
)
"""Prefix of the columns, and where the block stands."""

GLOBAL_MAPS: tuple[Keys, ...] = (
    ("agents", "entries"),
    ("tools", "byProvider"),
    ("tools", "toolsBySender"),
    ("tools", "exec"),
)
AGENT_MAPS: tuple[Keys, ...] = (("tools", "byProvider"), ("tools", "toolsBySender"), ("tools", "exec"))


def take(tree: dict[str, Any], members: Iterable[Member], path: Path, findings: Findings) -> dict[str, Any]:
    """Take the members of a record out of its object; null stays in each place, so that the order is kept.

    Returns:
        Values by column; None for an absent member and for one with a mistake.
    """
    values: dict[str, Any] = {}
    for member in members:
        values[member.field] = None
        holder = _holder(tree, member.path, path, findings)
        key = member.path[-1]
        if holder is None or key not in holder:
            continue
        value, holder[key] = holder[key], None
        if member.shape(value, (*path, *member.path), findings):
            values[member.field] = value
    return values


def take_map(tree: dict[str, Any], where: Keys, path: Path, findings: Findings) -> dict[str, Any]:
    """Take an object of records out of a tree; an empty one stays, for being there may mean something."""
    holder = _holder(tree, where, path, findings)
    key = where[-1]
    if holder is None or key not in holder:
        return {}
    value = holder[key]
    if not mapping(value, (*path, *where), findings):
        holder[key] = None
        return {}
    if value:
        holder[key] = None
    found: dict[str, Any] = value
    return found


def fill(template: Mapping[str, Any], values: Iterable[tuple[Keys, Any]]) -> dict[str, Any]:
    """Write values back into what was kept, each in its old place, new ones at the end; None removes the key."""
    tree: dict[str, Any] = deepcopy(dict(template))
    for path, value in values:
        if value is None:
            _remove(tree, path)
        else:
            _put(tree, path, value)
    return tree


def inside(template: Mapping[str, Any], path: Keys) -> Any:
    """Return what is kept at a place; None where nothing is."""
    found: Any = template
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    return found


def with_kept(template: Mapping[str, Any], path: Keys, value: Any) -> dict[str, Any]:
    """Write one value that is kept as it is; None takes it away, and the objects that only held it."""
    tree: dict[str, Any] = deepcopy(dict(template))
    if value is None and inside(tree, path) is None:
        return tree
    _put(tree, path, value)
    if value is None:
        _remove(tree, path)
    return tree


def values_of(record: Any, members: Iterable[Member]) -> list[tuple[Keys, Any]]:
    """Return the paths and values of a record's members, ready for `fill`."""
    return [(member.path, getattr(record, member.field)) for member in members]


def without_places(template: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a record keeps verbatim, without the places of what it models."""
    return {
        key: kept
        for key, value in template.items()
        if (kept := without_places(value) if isinstance(value, dict) and value else value) not in (None, {})
        or value == {}
    }


def _holder(tree: dict[str, Any], where: Keys, path: Path, findings: Findings) -> dict[str, Any] | None:
    holder = tree
    for depth, step in enumerate(where[:-1], 1):
        if step not in holder:
            return None
        inner = holder[step]
        if not isinstance(inner, dict):
            wrong_type(inner, _("an object"), (*path, *where[:depth]), findings)
            holder[step] = {}  # reported once
            return None
        holder = inner
    return holder


def _put(tree: dict[str, Any], path: Keys, value: Any) -> None:
    for step in path[:-1]:
        inner = tree.get(step)
        if inner is None:
            inner = tree[step] = {}
        tree = inner
    tree[path[-1]] = value


def _remove(tree: dict[str, Any], path: Keys) -> None:
    """Remove the place of a value, and the objects that only held it."""
    holders = [tree]
    for step in path[:-1]:
        inner = holders[-1].get(step)
        if not isinstance(inner, dict):
            return
        holders.append(inner)
    if path[-1] not in holders[-1] or holders[-1][path[-1]] is not None:
        return  # never written, or an empty object that stays
    del holders[-1][path[-1]]
    for holder, step in zip(reversed(holders[:-1]), reversed(path[:-1]), strict=True):
        if holder[step]:
            return
        del holder[step]
