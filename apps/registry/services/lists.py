"""Whole lists of tools: what the core catalogue, a plugin, a server or a client brings at once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from apps.events.notices import announce
from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.warn import MCP_PLUGIN
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.executors import ToolExecutor, executor_json
from apps.registry.definitions import Pinned, definition_fields, raise_mistakes
from apps.registry.errors import ToolInvalidError
from apps.registry.models import Environment, Plugin, Tool, ToolSource, ToolState
from apps.registry.services.changing import By, change, write_fields

GONE = "no longer offered"
NO_EXECUTORS: Mapping[str, ToolExecutor | None] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Whose tools they are: a list replaces only what has the same origin. `plugin` is the plugin's key."""

    source: str
    plugin_id: Any = None
    server_name: str = ""
    plugin: str = ""

    @property
    def columns(self) -> dict[str, Any]:
        return {"source": self.source, "plugin_id": self.plugin_id, "server_name": self.server_name}


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    """Names of the tools that an import added, changed, or found gone and unregistered."""

    created: tuple[str, ...]
    updated: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def changed(self) -> int:
        return len(self.created) + len(self.updated) + len(self.removed)


def tools_import(
    environment: Environment,
    definitions: Sequence[Definition],
    *,
    source: str,
    plugin: Plugin | None = None,
    server_name: str = "",
    state: str = ToolState.ACTIVE,
    by: By = None,
) -> ImportOutcome:
    """Take over the whole list of tools that one plugin, server, client or channel brings.

    A known tool keeps its state; one that came back after it was unregistered is new again; one that is no longer
    in the list is unregistered. Who imports a list accepts its definitions.

    Args:
        source: `plugin` (needs `plugin`), `mcp` (needs `server_name`), `client` or `channel`.
        state: of new tools.
    Raises:
        PermissionDeniedError, ToolInvalidError: every mistake of all definitions; nothing is changed.
    """
    if source == ToolSource.CORE or source not in ToolSource.values:
        raise ToolInvalidError(_("tools cannot be imported as `%(source)s`") % {"source": source})
    if (source == ToolSource.PLUGIN) != (plugin is not None) or (source == ToolSource.MCP) != bool(server_name):
        raise ToolInvalidError(_("plugin tools need their plugin, MCP tools their server, others neither"))
    raise_mistakes(definitions)
    origin = Origin(
        source=source,
        plugin_id=plugin.pk if plugin else None,
        server_name=server_name,
        plugin=plugin.key if plugin else "",
    )
    with change(by):
        outcome = list_save(environment, definitions, origin, state=state)
        if outcome.changed:
            announce("registry.changed", id=environment.pk, environment=environment.slug)
    return outcome


def list_save(
    environment: Environment,
    definitions: Sequence[Definition],
    origin: Origin,
    *,
    state: str,
    executors: Mapping[str, ToolExecutor | None] = NO_EXECUTORS,
) -> ImportOutcome:
    """Write a checked list; the caller holds the transaction.

    Raises:
        ToolInvalidError: names that others have.
    """
    Environment.objects.select_for_update(no_key=True).get(pk=environment.pk)  # no name is given twice at once
    tools = Tool.objects.select_for_update().filter(environment=environment)
    plan = list_plan(environment, definitions, origin, tools=tools, state=state, executors=executors)
    updated = [tool.name for tool, fields in plan.known if write_fields(tool, fields)]
    Tool.objects.bulk_create(plan.new)
    for tool in plan.gone:
        write_fields(tool, {"state": ToolState.UNREGISTERED, "state_reason": GONE})
    return ImportOutcome(
        tuple(tool.name for tool in plan.new), tuple(updated), tuple(sorted(tool.name for tool in plan.gone))
    )


@dataclass(frozen=True, slots=True)
class ListPlan:
    """What a list would do: the tools that come, the known ones with their fields, those that it does not name."""

    new: list[Tool]
    known: list[tuple[Tool, dict[str, Any]]]
    gone: list[Tool]


def list_plan(
    environment: Environment,
    definitions: Sequence[Definition],
    origin: Origin,
    *,
    tools: Iterable[Tool],
    state: str,
    executors: Mapping[str, ToolExecutor | None] = NO_EXECUTORS,
) -> ListPlan:
    """Hold a list against the tools that are there; nothing is written.

    Raises:
        ToolInvalidError: names that others have.
    """
    everything = {tool.name.lower(): tool for tool in tools}
    ours = origin.columns
    known = {name: tool for name, tool in everything.items() if all(getattr(tool, k) == v for k, v in ours.items())}
    is_core = origin.source == ToolSource.CORE
    _check_names(environment, definitions, taken=everything.keys() - known.keys(), is_core=is_core)
    # Core tools keep the order of the catalogue; what others bring follows, in the order it came.
    start = 0 if is_core else max((tool.position for tool in everything.values()), default=-1) + 1
    plan = ListPlan([], [], [])
    for offset, definition in enumerate(definitions):
        tool = known.pop(definition.name.lower(), None)
        fields = row_fields(definition, executors.get(definition.name), plugin=origin.plugin)
        if tool is not None and tool.digest == fields["digest"]:
            fields = {}  # what people have changed of the same definition stays
        if tool is None:
            plan.new.append(Tool(environment=environment, state=state, position=start + offset, **ours, **fields))
            continue
        if is_core:
            fields["position"] = offset
        if tool.state == ToolState.UNREGISTERED:
            fields |= {"state": state, "state_reason": ""}
        plan.known.append((tool, fields))
    plan.gone.extend(tool for tool in known.values() if tool.state != ToolState.UNREGISTERED)
    return plan


def row_fields(definition: Definition, executor: ToolExecutor | None, *, plugin: str = "") -> dict[str, Any]:
    """Give the columns of a definition, of what runs it, and the digest of both."""
    runs = {} if executor is None else executor_json(executor)
    digest = Pinned(definition=definition, executor=runs, plugin=plugin).digest
    return definition_fields(definition) | {"executor": runs, "digest": digest}


def name_problem(environment: Environment, name: str, *, taken: set[str]) -> dict[str, str] | None:
    """Say why a tool that is not of the core cannot have a name: another has it, or it means a core tool."""
    aliases = dialect_named(environment.dialect).aliases
    if name.lower() in taken:
        message = _("another tool is named `%(name)s`: %(origin)s") % {
            "name": name,
            "origin": _origin(environment, name),
        }
        return {"path": "name", "code": "taken", "message": message}
    if name.lower() in aliases:
        message = _("`%(name)s` is another name of the core tool `%(tool)s`") % {
            "name": name,
            "tool": aliases[name.lower()],
        }
        return {"path": "name", "code": "alias", "message": message}
    if is_policy_word(environment, name, names=False):
        message = _("`%(name)s` means other tools in policies") % {"name": name}
        return {"path": "name", "code": "policy_word", "message": message}
    return None


def _origin(environment: Environment, name: str) -> str:
    """Say where the tool of a name comes from."""
    rows = Tool.objects.select_related("discovery_source", "plugin")
    tool = rows.filter(environment=environment, name__iexact=name).first()
    if tool is None:
        return "-"
    if tool.discovery_source is not None:
        return _("source `%(key)s`") % {"key": tool.discovery_source.key}
    return _("plugin `%(key)s`") % {"key": tool.plugin.key} if tool.plugin else str(tool.get_source_display())


def is_policy_word(environment: Environment, word: str, *, names: bool = True) -> bool:
    """Say whether policies mean something else by a word: a group, an old name, or with `names` other tools.

    A plugin of such an id would take the word over: a list that denies `exec` would deny the plugin's tools instead.
    """
    dialect = dialect_named(environment.dialect)
    folded = word.strip().lower()
    if folded.startswith("group:") or folded in {*dialect.groups, *dialect.renames}:
        return True
    core = {MCP_PLUGIN, *dialect.aliases, *(tool.name for tool in dialect.catalogue)}
    return names and folded in core


def _check_names(
    environment: Environment, definitions: Sequence[Definition], *, taken: set[str], is_core: bool
) -> None:
    problems = [name_problem(environment, definition.name, taken=taken) for definition in definitions]
    details = [problem for problem in problems if problem is not None and not (is_core and problem["code"] != "taken")]
    if details:
        raise ToolInvalidError(_("some tools cannot have their names: see details"), details)
