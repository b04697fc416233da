"""Reading environments, plugins and tools."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.apps import apps
from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from apps.audit.masking import Masker
from apps.registry.differences import Difference, json_differences
from apps.registry.models import (
    OFFERED_STATES,
    DefinitionDrift,
    DiscoveryRun,
    DiscoverySource,
    DriftState,
    Environment,
    Hook,
    HookFailure,
    HookPolicy,
    OnDrift,
    Plugin,
    Tool,
    ToolCode,
    ToolFailure,
    ToolGroup,
    ToolState,
)
from apps.registry.probing import PROBES
from apps.remembered import remembered

SHOWN_IN_HISTORY = ("label", "description", "params_schema", "owner_only", "state", "state_reason", "version")


def environments() -> QuerySet[Environment]:
    """Every environment that people use, the default one first."""
    return Environment.objects.exclude(slug=PROBES).order_by("position", "slug")


def environment_find(slug: str) -> Environment | None:
    """Find an environment by slug."""
    return Environment.objects.filter(slug=slug).first()


def tools_of(environment: Environment) -> QuerySet[Tool]:
    """Every tool that is not unregistered, in the order of the catalogue, with its plugin."""
    return (
        Tool.objects.select_related("plugin")
        .filter(environment=environment)
        .exclude(state=ToolState.UNREGISTERED)
        .order_by("position", "name")
    )


@remembered
def tool_names(environment: str) -> list[str]:
    """Name the tools of the environment with a slug, of all where it is empty; not those that are unregistered."""
    rows = Tool.objects.exclude(state=ToolState.UNREGISTERED).order_by("name")
    if environment:
        rows = rows.filter(environment__slug=environment)
    return list(rows.values_list("name", flat=True).distinct())


def tools_offered(environment: Environment) -> QuerySet[Tool]:
    """The tools that policies decide about: active or deprecated ones of enabled plugins.

    One whose changed definition waits for an admin stays with the accepted one where its source says so.
    """
    offered = Q(state__in=OFFERED_STATES) | Q(
        Exists(kept_drifts()), state=ToolState.QUARANTINED, discovery_source__on_drift=OnDrift.KEEP
    )
    return tools_of(environment).filter(offered).exclude(plugin__is_enabled=False)


def sandbox_tools(environment: Environment) -> QuerySet[Tool]:
    """Tools whose definitions state what they need of their sandbox."""
    return tools_of(environment).filter(traits__has_key="sandbox").order_by("name")


def kept_drifts() -> QuerySet[DefinitionDrift]:
    """The changes that took a tool from being offered into quarantine."""
    return DefinitionDrift.objects.filter(tool=OuterRef("pk"), state=DriftState.PENDING, tool_state__in=OFFERED_STATES)


def tool_find(environment: Environment, name: str) -> Tool | None:
    """Find a tool by name, in any case."""
    return Tool.objects.select_related("plugin").filter(environment=environment, name__iexact=name).first()


def tool_get(environment: Environment, tool_id: uuid.UUID) -> Tool | None:
    """Find a tool of an environment by id."""
    return Tool.objects.select_related("plugin", "environment").filter(environment=environment, pk=tool_id).first()


@dataclass(frozen=True, slots=True)
class ToolChange:
    """One row of a tool's change log: `kind` is insert, update or delete, `fields` the record after it."""

    kind: str
    actor: str
    at: datetime
    fields: dict[str, Any]


def tool_history(tool: Tool, *, limit: int = 50) -> list[ToolChange]:
    """The last changes of a tool, newest first."""
    rows = apps.get_model("registry", "ToolEvent").objects.select_related("pgh_context").filter(pgh_obj_id=tool.pk)
    return [
        ToolChange(
            kind=row.pgh_label,
            actor=(row.pgh_context.metadata if row.pgh_context else {}).get("actor", ""),
            at=row.pgh_created_at,
            fields={field: getattr(row, field) for field in SHOWN_IN_HISTORY},
        )
        for row in rows.order_by("-pgh_id")[:limit]
    ]


def params_schemas(environment: Environment) -> dict[str, dict[str, Any]]:
    """The JSON Schema of each offered tool's parameters, by name."""
    return dict(tools_offered(environment).values_list("name", "params_schema"))


def plugins_of(environment: Environment) -> QuerySet[Plugin]:
    """Every plugin of an environment."""
    return Plugin.objects.filter(environment=environment).order_by("key")


def plugin_find(environment: Environment, key: str) -> Plugin | None:
    """Find a plugin by the id that policies name, in any case."""
    return Plugin.objects.filter(environment=environment, key__iexact=key).first()


def hooks_of(environment: Environment, *, plugin: Plugin | None = None) -> QuerySet[Hook]:
    """Every hook of an environment, or of one plugin, with what came of it: by event, then as they are asked."""
    rows = Hook.objects.select_related("plugin", "tally", "environment").filter(environment=environment)
    found = rows if plugin is None else rows.filter(plugin=plugin)
    return found.order_by("-event", "-priority", "created_at", "id")


def hook_policy(environment: Environment) -> HookPolicy:
    """Give how an environment takes hooks that fail, also where nobody has said so yet."""
    return HookPolicy.objects.filter(environment=environment).first() or HookPolicy(environment=environment)


def hook_find(environment: Environment, name: str) -> Hook | None:
    """Find a hook by name."""
    return (
        Hook.objects.select_related("plugin", "tally", "environment").filter(environment=environment, name=name).first()
    )


def hook_failures(hook: Hook, *, limit: int = 100) -> QuerySet[HookFailure]:
    """The newest failures of a hook."""
    return HookFailure.objects.filter(hook=hook).order_by("-at", "-id")[:limit]


def hooks_failures(environment: Environment, *, plugin: Plugin | None = None, limit: int = 50) -> QuerySet[HookFailure]:
    """The newest failures of the hooks of an environment, or of one plugin, with their hooks."""
    rows = HookFailure.objects.select_related("hook", "hook__plugin").filter(hook__environment=environment)
    found = rows if plugin is None else rows.filter(hook__plugin=plugin)
    return found.order_by("-at", "-id")[:limit]


def tool_failures(tool: Tool, *, limit: int = 20) -> QuerySet[ToolFailure]:
    """The newest failures of a tool."""
    return ToolFailure.objects.filter(tool=tool).order_by("-at", "-id")[:limit]


def groups_of(environment: Environment) -> QuerySet[ToolGroup]:
    """The core groups of an environment, in the order of its release."""
    return ToolGroup.objects.filter(environment=environment).order_by("position", "name")


def sources_of(environment: Environment) -> QuerySet[DiscoverySource]:
    """Every discovery source of an environment; `runs_seen` holds its last look, when there was one."""
    newest = DiscoveryRun.objects.order_by("source_id", "-started_at", "-id").distinct("source_id").defer("findings")
    return (
        DiscoverySource.objects.filter(environment=environment)
        .order_by("key")
        .prefetch_related(Prefetch("runs", queryset=newest, to_attr="runs_seen"))
    )


def source_find(environment: Environment, key: str) -> DiscoverySource | None:
    """Find a source by key."""
    rows = DiscoverySource.objects.select_related("environment")
    return rows.filter(environment=environment, key=key).first()


def source_get(environment: Environment, source_id: uuid.UUID) -> DiscoverySource | None:
    """Find a source of an environment by id."""
    rows = DiscoverySource.objects.select_related("environment")
    return rows.filter(environment=environment, pk=source_id).first()


def source_tools(source: DiscoverySource) -> QuerySet[Tool]:
    """The tools that a source has brought, those that are gone too."""
    return Tool.objects.select_related("plugin").filter(discovery_source=source).order_by("position", "name")


def runs_of(source: DiscoverySource) -> QuerySet[DiscoveryRun]:
    """The looks at a source, the newest first, without their findings."""
    return DiscoveryRun.objects.filter(source=source).select_related("source").defer("findings")


def run_get(environment: Environment, run_id: uuid.UUID) -> DiscoveryRun | None:
    """Find a look by id."""
    rows = DiscoveryRun.objects.select_related("source", "source__environment")
    return rows.filter(source__environment=environment, pk=run_id).first()


def drifts_of(environment: Environment, *, state: str = "") -> QuerySet[DefinitionDrift]:
    """Changed definitions, the newest first, with their tools and sources; of one state or all."""
    rows = DefinitionDrift.objects.select_related("tool", "tool__discovery_source", "run")
    found = rows.filter(tool__environment=environment)
    return found.filter(state=state) if state else found


def drift_get(environment: Environment, drift_id: uuid.UUID) -> DefinitionDrift | None:
    """Find a changed definition by id."""
    return drifts_of(environment).filter(pk=drift_id).first()


def drift_pending(tool: Tool) -> DefinitionDrift | None:
    """The change of a tool's definition that waits for an admin."""
    return DefinitionDrift.objects.filter(tool=tool, state=DriftState.PENDING).first()


def drift_changes(drift: DefinitionDrift) -> tuple[Difference, ...]:
    """Show a changed definition place by place, and changed code file by file (`code.<file>`)."""
    return (*json_differences(drift.pinned, drift.found), *(each.difference for each in code_changes(drift)))


@dataclass(frozen=True, slots=True)
class CodeChange:
    """One file of a tool's code that changed; a text is None where there was, or is, no such file."""

    path: str
    before: str | None
    after: str | None

    @property
    def difference(self) -> Difference:
        kind = "added" if self.before is None else "removed" if self.after is None else "changed"
        return Difference(f"code.{self.path}", kind, self.before, self.after)


def code_changes(drift: DefinitionDrift) -> tuple[CodeChange, ...]:
    """List the files of a tool's code that its source has changed, with secrets in them masked."""
    digests = [side.get("executor", {}).get("code", "") for side in (drift.pinned, drift.found)]
    if digests[0] == digests[1]:
        return ()
    rows = dict(ToolCode.objects.filter(digest__in=digests).values_list("digest", "files"))
    before, after = (rows.get(digest, {}) for digest in digests)
    masker = Masker()
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    return tuple(
        CodeChange(path, _shown(masker, before.get(path)), _shown(masker, after.get(path))) for path in changed
    )


def _shown(masker: Masker, text: str | None) -> str | None:
    return None if text is None else masker.text(text)
