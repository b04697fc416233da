"""Reading environments, plugins and tools."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.apps import apps
from django.db.models import QuerySet

from apps.registry.models import OFFERED_STATES, Environment, Plugin, Tool, ToolGroup, ToolState

SHOWN_IN_HISTORY = ("label", "description", "params_schema", "owner_only", "state", "state_reason", "version")


def environments() -> QuerySet[Environment]:
    """Every environment, the default one first."""
    return Environment.objects.order_by("position", "slug")


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


def tools_offered(environment: Environment) -> QuerySet[Tool]:
    """The tools that policies decide about: active or deprecated ones of enabled plugins."""
    return tools_of(environment).filter(state__in=OFFERED_STATES).exclude(plugin__is_enabled=False)


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


def groups_of(environment: Environment) -> QuerySet[ToolGroup]:
    """The core groups of an environment, in the order of its release."""
    return ToolGroup.objects.filter(environment=environment).order_by("position", "name")
