"""Reading environments, plugins and tools."""

import uuid
from typing import Any

from django.db.models import QuerySet

from apps.registry.models import OFFERED_STATES, Environment, Plugin, Tool, ToolGroup, ToolState


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
