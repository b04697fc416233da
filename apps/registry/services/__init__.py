"""Everything that changes what exists.

Each change is one row of the change log (pghistory, written by triggers) with the actor in its context.
"""

from apps.registry.services.catalogue import registry_fill
from apps.registry.services.environments import (
    DEFAULT_SLUG,
    environment_create,
    environment_default,
    environment_set_dialect,
)
from apps.registry.services.lists import ImportOutcome, tools_import
from apps.registry.services.plugins import plugin_save, plugin_set_enabled
from apps.registry.services.tools import tool_register, tool_save, tool_set_state

__all__ = [
    "DEFAULT_SLUG",
    "ImportOutcome",
    "environment_create",
    "environment_default",
    "environment_set_dialect",
    "plugin_save",
    "plugin_set_enabled",
    "registry_fill",
    "tool_register",
    "tool_save",
    "tool_set_state",
    "tools_import",
]
