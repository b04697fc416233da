"""Everything that changes what exists.

Each change is one row of the change log (pghistory, written by triggers) with the actor in its context.
"""

from apps.registry.services.catalogue import registry_fill
from apps.registry.services.discovery import (
    run_finish,
    run_start,
    run_take,
    runs_close_orphaned,
    source_look,
    sources_due,
)
from apps.registry.services.drift import drift_accept, drift_dismiss
from apps.registry.services.environments import (
    DEFAULT_SLUG,
    environment_create,
    environment_default,
    environment_set_dialect,
)
from apps.registry.services.failures import ToolFailureDraft, tool_failure_record, tool_failures_forget
from apps.registry.services.hook_policies import hook_policy_save
from apps.registry.services.hooks import (
    FailureDraft,
    environment_plugin,
    hook_create,
    hook_delete,
    hook_failures_record,
    hook_save,
    hook_tallies_add,
)
from apps.registry.services.lists import ImportOutcome, tools_import
from apps.registry.services.plugins import plugin_save, plugin_set_enabled
from apps.registry.services.sources import source_create, source_delete, source_save
from apps.registry.services.tools import tool_register, tool_restate, tool_save, tool_set_state

__all__ = [
    "DEFAULT_SLUG",
    "FailureDraft",
    "ImportOutcome",
    "ToolFailureDraft",
    "drift_accept",
    "drift_dismiss",
    "environment_create",
    "environment_default",
    "environment_plugin",
    "environment_set_dialect",
    "hook_create",
    "hook_delete",
    "hook_failures_record",
    "hook_policy_save",
    "hook_save",
    "hook_tallies_add",
    "plugin_save",
    "plugin_set_enabled",
    "registry_fill",
    "run_finish",
    "run_start",
    "run_take",
    "runs_close_orphaned",
    "source_create",
    "source_delete",
    "source_look",
    "source_save",
    "sources_due",
    "tool_failure_record",
    "tool_failures_forget",
    "tool_register",
    "tool_restate",
    "tool_save",
    "tool_set_state",
    "tools_import",
]
