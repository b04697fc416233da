"""What the pages of plugins and tool groups show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from django.db.models import Count, Q
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.console.changes import KINDS
from apps.console.record_pages import record_url
from apps.console.tool_words import Word, state_word
from apps.firewall.engine.dialect import DIALECTS, PLUGIN_GROUP
from apps.policies.references import Reference, references_counted, references_to
from apps.registry.selectors import groups_of, plugins_of, tools_of

if TYPE_CHECKING:
    from apps.registry.models import Environment, Plugin, Tool, ToolGroup

    PluginRecord: TypeAlias = Plugin

OFFERED: Final = ("active", "deprecated")
FIELDS: Final[dict[str, Promise]] = {
    "allow": gettext_lazy("allow"),
    "also_allow": gettext_lazy("also allow"),
    "deny": gettext_lazy("deny"),
    "profile": gettext_lazy("profile"),
    "sandbox_allow": gettext_lazy("sandbox: allow"),
    "sandbox_also_allow": gettext_lazy("sandbox: also allow"),
    "sandbox_deny": gettext_lazy("sandbox: deny"),
    "subagent_allow": gettext_lazy("sub-agents: allow"),
    "subagent_also_allow": gettext_lazy("sub-agents: also allow"),
    "subagent_deny": gettext_lazy("sub-agents: deny"),
}


@dataclass(frozen=True, slots=True)
class ReferenceShown:
    """One list that names something: where it stands, in words, and the page where it is edited, if there is one."""

    kind: str
    icon: str
    place: str
    field: str
    entry: str
    is_deny: bool
    url: str


def shown_references(references: Sequence[Reference]) -> list[ReferenceShown]:
    """Lay out references for people."""
    shown = []
    for each in references:
        kind, icon = KINDS.get(each.kind, (each.kind, "list-details"))
        url = record_url(each.kind, each.record)
        field = str(FIELDS.get(each.field, each.field))
        shown.append(ReferenceShown(str(kind), icon, each.place, field, each.entry, each.field.endswith("deny"), url))
    return shown


# --- plugins ---


def plugin_rows(environment: "Environment") -> list[Any]:
    """List the plugins with `tool_count`, `offered_count` and `held_count`."""
    is_there = ~Q(tools__state="unregistered")
    return list(
        plugins_of(environment).annotate(
            tool_count=Count("tools", filter=is_there),
            offered_count=Count("tools", filter=Q(tools__state__in=OFFERED)),
            held_count=Count("tools", filter=Q(tools__state="quarantined")),
        )
    )


@dataclass(frozen=True, slots=True)
class PluginTool:
    record: "Tool"
    word: Word


def plugin_tools(environment: "Environment", plugin: "Plugin") -> list[PluginTool]:
    """List the tools of a plugin."""
    return [PluginTool(tool, state_word(tool.state)) for tool in tools_of(environment).filter(plugin=plugin)]


# --- tool groups ---


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One group: its members, how many of them exist here, how many lists of the draft name it."""

    name: str
    members: tuple[str, ...]
    known: int
    references: int
    is_made: bool

    @property
    def missing(self) -> int:
        return len(self.members) - self.known


def group_rows(environment: "Environment") -> list[GroupRow]:
    """List the groups of the release, and the one that every plugin's tools make up."""
    tools = list(tools_of(environment).values_list("name", "plugin__key"))
    names = {name for name, _plugin in tools}
    counts = references_counted(environment)
    rows = [_row(group, names, counts) for group in groups_of(environment)]
    of_plugins = tuple(name for name, plugin in tools if plugin)
    rows.append(GroupRow(PLUGIN_GROUP, of_plugins, len(of_plugins), counts.get(PLUGIN_GROUP, 0), True))
    return rows


def _row(group: "ToolGroup", names: set[str], counts: Mapping[str, int]) -> GroupRow:
    known = sum(member in names for member in group.members)
    return GroupRow(group.name, tuple(group.members), known, counts.get(group.name.lower(), 0), False)


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a group; `record` is None when this installation has no such tool."""

    name: str
    record: "Tool | None"
    word: Word | None


@dataclass(frozen=True, slots=True)
class GroupShown:
    name: str
    is_made: bool
    members: tuple[Member, ...]
    references: list[ReferenceShown]
    profiles: tuple[str, ...]


def group_shown(environment: "Environment", name: str) -> GroupShown | None:
    """Lay out one group; None when there is none of that name."""
    row = next((row for row in group_rows(environment) if row.name == name), None)
    if row is None:
        return None
    records = {tool.name: tool for tool in tools_of(environment).filter(name__in=row.members)}
    members = tuple(_member(each, records.get(each)) for each in row.members)
    built_in = DIALECTS[environment.dialect].profiles
    profiles = tuple(key for key, policy in built_in.items() if name in (policy.allow or ()))
    return GroupShown(name, row.is_made, members, shown_references(references_to(environment, [name])), profiles)


def _member(name: str, record: "Tool | None") -> Member:
    return Member(name, record, None if record is None else state_word(record.state))


def group_note(name: str) -> str:
    """Say where a group comes from."""
    if name == PLUGIN_GROUP:
        return _("Every tool that a plugin brings; it grows with them.")
    return _("Comes with the release; its members are the release's own.")
