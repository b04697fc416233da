"""Where a record of the draft stands in the rules of a snapshot."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from apps.policies.document.findings import Path

Keys: TypeAlias = tuple[str, ...]
Rule: TypeAlias = tuple[Keys, frozenset[Keys]]
"""A path, and what below it belongs to other records."""

_ALL: Final[frozenset[Keys]] = frozenset()
_MAPS: Final = frozenset({("by_provider",), ("by_sender",)})
_SCOPE: Final = _MAPS | {("settings", "exec")}
_GROUP: Final = frozenset({("by_sender",), ("channels",)})
_GLOBAL: Final[tuple[Rule, ...]] = (
    (("global",), _MAPS),
    (("agent_defaults",), _ALL),
    (("owners",), _ALL),
    (("settings",), frozenset({("exec",)})),
)


def rules_of(kind: str, place: Path) -> tuple[Rule, ...]:
    """Name the rules of a record; none for a kind that decides nothing by itself.

    Args:
        place: in the document, as `apps.policies.places` finds it.
    """
    if kind == "global":
        return _GLOBAL
    found = _RULES.get(kind)
    return () if found is None else (found(tuple(map(str, place))),)


def block_of(kind: str, place: Path, field: str) -> tuple[Keys, str]:
    """Name the block, and the list in it, that a column of a record holds."""
    path = rules_of(kind, place)[0][0]
    prefix = next((each for each in ("subagent", "sandbox") if field.startswith(f"{each}_")), "")
    member = field.removeprefix(f"{prefix}_")
    if prefix == "subagent":
        return ("global", "subagents"), member
    if prefix == "sandbox":
        return (*path, "sandbox"), member
    inner = {"global": ("policy",), "agent": ("policy",), "group": ("tools",)}.get(kind, ())
    return (*path, *inner), member


def _scope(place: Keys) -> Keys:
    """Return what is above `tools`: an agent, or every agent."""
    return ("agents", place[2]) if place[0] == "agents" else ()


def _provider(place: Keys) -> Rule:
    return (*(_scope(place) or ("global",)), "by_provider", place[-1]), _ALL


def _exec(place: Keys) -> Rule:
    return (*_scope(place), "settings", "exec"), _ALL


def _group_path(place: Keys) -> Keys:
    holder, way = place[:2], place[2:]
    if way[0] == "accounts" and len(way) > 2:
        holder, way = (*holder, *way[:2]), way[2:]
    return (*holder, "maps", *way)


def _sender(place: Keys) -> Rule:
    if place[0] == "channels":
        return (*_group_path(place[:-2]), "by_sender", place[-1]), _ALL
    return (*(_scope(place) or ("global",)), "by_sender", place[-1]), _ALL


_RULES: Final[Mapping[str, Callable[[Keys], Rule]]] = {
    "profile": lambda place: (("profiles", place[-1]), _ALL),
    "agent": lambda place: (("agents", place[-1]), _SCOPE),
    "provider": _provider,
    "exec": _exec,
    "group": lambda place: (_group_path(place), _GROUP),
    "sender": _sender,
    "approvals": lambda _place: (("exec_approvals",), frozenset({("agents",)})),
    "approvals_agent": lambda place: (("exec_approvals", "agents", place[-1]), frozenset({("allowlist",)})),
    "allowlist": lambda place: (("exec_approvals", "agents", place[2], "allowlist"), _ALL),
    "permission_grant": lambda place: (("grants", place[-1]), _ALL),
}
WATCHED: Final = frozenset({"global", *_RULES})
"""Kinds of records that can be watched. Channels and accounts decide nothing; what a filter finds is not on record."""
