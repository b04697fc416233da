"""Words, icons and colours of the catalogue: states of tools, where they come from, what they do."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.firewall.engine.dialect import DIALECTS

if TYPE_CHECKING:
    from apps.registry.models import Environment, Tool


@dataclass(frozen=True, slots=True)
class Word:
    """A label with its icon and colour (`allow`, `ask`, `deny`, `info` or none); `note` says what it means."""

    label: Promise | str
    icon: str
    css: str = ""
    note: Promise | str = ""


STATES: Final[Mapping[str, Word]] = {
    "registered": Word(
        gettext_lazy("Registered"),
        "bookmark",
        "info",
        gettext_lazy("Known, and offered to nobody until it is activated."),
    ),
    "initialised": Word(
        gettext_lazy("Initialised"),
        "loader-2",
        "info",
        gettext_lazy("Ready to run, and offered to nobody until it is activated."),
    ),
    "active": Word(
        gettext_lazy("Active"), "circle-check", "allow", gettext_lazy("Offered to whom the live policy gives it.")
    ),
    "quarantined": Word(
        gettext_lazy("Quarantined"),
        "alert-triangle",
        "ask",
        gettext_lazy("Held back until an administrator has looked at it."),
    ),
    "deprecated": Word(
        gettext_lazy("Deprecated"),
        "clock-x",
        "ask",
        gettext_lazy("Still offered; each answer warns and names the successor."),
    ),
    "disabled": Word(gettext_lazy("Disabled"), "ban", "deny", gettext_lazy("Calls are refused at once.")),
    "unregistered": Word(
        gettext_lazy("Unregistered"),
        "circle-minus",
        "deny",
        gettext_lazy("Gone from the catalogue; its record is kept."),
    ),
}
SOURCES: Final[Mapping[str, Word]] = {
    "core": Word(gettext_lazy("Core"), "stack-2"),
    "plugin": Word(gettext_lazy("Plugin"), "puzzle"),
    "mcp": Word(gettext_lazy("MCP server"), "plug-connected"),
    "client": Word(gettext_lazy("Client"), "devices"),
    "channel": Word(gettext_lazy("Channel"), "messages"),
}
EXECUTORS: Final[Mapping[str, Promise]] = {
    "builtin": gettext_lazy("Built in"),
    "configured": gettext_lazy("Built in, as its source is set"),
    "python": gettext_lazy("Python, in a process of its own"),
    "http": gettext_lazy("HTTP address"),
    "mcp": gettext_lazy("MCP server"),
}
_WRITING: Final = ("write", "create", "update", "delete", "send", "admin", "exec")


def state_word(state: str) -> Word:
    return STATES.get(state) or Word(state, "info-circle")


def source_word(source: str) -> Word:
    return SOURCES.get(source) or Word(source, "tool")


def origin_of(tool: "Tool") -> str:
    """Say where a tool comes from in a few words, with the plugin or server."""
    if tool.plugin is not None:
        return _("Plugin: %(name)s") % {"name": tool.plugin.key}
    if tool.server_name:
        return _("MCP server: %(name)s") % {"name": tool.server_name}
    return str(source_word(tool.source).label)


def section_label(environment: "Environment", section: str) -> str:
    """Name a section as the release does; one of its own is called as it is written."""
    return DIALECTS[environment.dialect].sections.get(section, section)


def marks_of(tool: "Tool") -> list[Word]:
    """List what deserves attention: owner only, network, writing, as the definition says."""
    return list(_marks(tool))


def _marks(tool: "Tool") -> Iterator[Word]:
    traits: Mapping[str, Any] = tool.traits or {}
    if tool.is_optional:
        yield Word(_("Optional"), "square-plus", note=_("Only where an allow list names it."))
    if tool.owner_only:
        yield Word(_("Owner only"), "user-check", "ask")
    sandbox = traits.get("sandbox")
    permissions = [str(each).lower() for each in traits.get("permissions") or ()]
    if (isinstance(sandbox, dict) and sandbox.get("network")) or any(each.startswith("net") for each in permissions):
        yield Word(_("Network"), "world")
    if any(part in each for each in permissions for part in _WRITING):
        yield Word(_("Writes"), "pencil", "ask")
    if traits.get("sensitive") or tool.sensitive_fields:
        yield Word(_("Sensitive params"), "eye-off")
