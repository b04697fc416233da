"""Warnings about allow lists: entries that name nothing here.

Source: conformance README, "Warnings".
"""

import re
from dataclasses import dataclass
from typing import Final

from apps.firewall.engine.answers import ListWarning
from apps.firewall.engine.compile import Engine
from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import fold, follow_renames
from apps.firewall.engine.opening import Applied
from apps.firewall.engine.policy import profile_policy
from apps.firewall.engine.resolution import Resolution

MCP_PLUGIN: Final = "bundle-mcp"
_UNSAFE: Final = re.compile(r"[^a-z0-9_-]")
_NAMELESS: Final = "mcp"
_SERVER_LETTERS: Final = 30


@dataclass(frozen=True, slots=True)
class Declared:
    """Plugins and servers that are known though none of their tools is loaded."""

    plugin_ids: tuple[str, ...] = ()
    plugin_tools: tuple[str, ...] = ()
    mcp_servers: tuple[str, ...] = ()

    def names(self, entry: str) -> bool:
        """Say whether an entry, by its current name, is one of them."""
        if entry == MCP_PLUGIN and self.mcp_servers:
            return True
        if entry in map(fold, (*self.plugin_ids, *self.plugin_tools)):
            return True
        return any(entry.startswith(f"{server_prefix(server)}__") for server in self.mcp_servers)


def server_prefix(server: str) -> str:
    """Return what the names of a server's tools begin with, before the two underscores."""
    plain = _UNSAFE.sub("-", fold(server)) or _NAMELESS
    return (plain if plain[0].isalpha() else f"{_NAMELESS}-{plain}")[:_SERVER_LETTERS]


def find_warnings(engine: Engine, resolution: Resolution, declared: Declared) -> tuple[ListWarning, ...]:
    """Return the warnings of a context's layers, each once, in the order of the layers."""
    found: dict[ListWarning, None] = {}
    for applied in resolution.layers:
        if applied[0].examined:
            warning = _warning(engine, resolution, applied, declared)
            if warning is not None:
                found[warning] = None
    return tuple(found)


def _warning(engine: Engine, resolution: Resolution, applied: Applied, declared: Declared) -> ListWarning | None:
    layer, label, rules, _ = applied
    dialect, candidates = engine.dialect, resolution.opening.candidates
    names = follow_renames(dialect, rules.policy.allow or ())
    silent = _silent(dialect, resolution, layer.key)
    entries = [
        name
        for name in names
        if name not in silent
        and not candidates.names_core_tool(name)
        and not candidates.names_plugin(name)
        and (dialect.unknown_allowlist_dropped or not declared.names(name))
    ]
    if not entries:
        return None
    if dialect.unknown_allowlist_dropped:
        kinds = () if rules.ignored else ("unknown",)
        return ListWarning(layer.key, label, tuple(entries), kinds, rules.ignored)
    absent = [name for name in entries if _is_core(dialect, name)]
    unknown = [name for name in entries if name not in absent]
    present = (("core_unavailable", absent), ("unknown", unknown))
    return ListWarning(layer.key, label, (*absent, *unknown), tuple(kind for kind, named in present if named), False)


def _silent(dialect: Dialect, resolution: Resolution, layer: str) -> frozenset[str]:
    """Return the entries of a profile itself, where the release names only those that were added to it."""
    profile = {"profile": resolution.opening.profile, "provider_profile": resolution.opening.provider_profile}.get(
        layer
    )
    policy = profile_policy(dialect, profile)
    if dialect.unknown_allowlist_dropped or policy is None:
        return frozenset()
    return frozenset(follow_renames(dialect, policy.allow or ()))


def _is_core(dialect: Dialect, name: str) -> bool:
    return any(name == tool.name for tool in dialect.catalogue)
