"""How tools stand against calls, whatever was published: the words of each state, as agents read them."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from django.db.models import Exists, QuerySet

from apps.registry.models import Tool, ToolState
from apps.registry.selectors import kept_drifts

REFUSALS: Final = {
    ToolState.REGISTERED: ("tool_not_active", "the tool `{name}` is not active"),
    ToolState.INITIALISED: ("tool_not_active", "the tool `{name}` is not active"),
    ToolState.QUARANTINED: ("tool_quarantined", "the tool `{name}` is in quarantine until an admin has looked at it"),
    ToolState.DISABLED: ("tool_disabled", "the tool `{name}` is switched off"),
    ToolState.UNREGISTERED: ("tool_unregistered", "the tool `{name}` is gone"),
}
"""State -> code and words of the refusal."""


@dataclass(frozen=True, slots=True)
class ToolStanding:
    """A tool that is not simply active: `code` of the refusal that calls meet, empty when they go on."""

    tool: str
    code: str
    message: str


def standings() -> dict[str, dict[str, ToolStanding]]:
    """Give every tool that calls cannot simply use, by the slug of its environment and its name."""
    found: dict[str, dict[str, ToolStanding]] = defaultdict(dict)
    for tool in _not_simply_active():
        standing = _standing(tool)
        if standing is not None:
            found[tool.environment.slug][tool.name] = standing
    return dict(found)


def _not_simply_active() -> QuerySet[Tool]:
    rows = Tool.objects.select_related("environment", "plugin", "discovery_source")
    odd = rows.exclude(state=ToolState.ACTIVE) | rows.filter(plugin__is_enabled=False)
    only = ("name", "state", "traits", "environment__slug", "plugin__key", "plugin__is_enabled")
    return odd.only(*only, "discovery_source__on_drift").annotate(is_drifted=Exists(kept_drifts()))


def _standing(tool: Tool) -> ToolStanding | None:
    if tool.plugin is not None and not tool.plugin.is_enabled:
        return ToolStanding(tool.name, "plugin_disabled", f"the plugin `{tool.plugin.key}` is switched off")
    if tool.state == ToolState.DEPRECATED:
        return ToolStanding(tool.name, "", deprecation(tool))
    if tool.state == ToolState.ACTIVE or (tool.state == ToolState.QUARANTINED and _is_kept(tool)):
        return None
    code, words = REFUSALS[ToolState(tool.state)]
    return ToolStanding(tool.name, code, words.format(name=tool.name))


def _is_kept(tool: Tool) -> bool:
    source = tool.discovery_source
    return source is not None and source.on_drift == "keep" and bool(getattr(tool, "is_drifted", False))


def deprecation(tool: Tool) -> str:
    """Say to callers of a deprecated tool what to use in its place."""
    successor = tool.traits.get("successor", "")
    return f"the tool `{tool.name}` is deprecated" + (f": use `{successor}` instead" if successor else "")
