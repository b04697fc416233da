"""Paths of the catalogue: tools, plugins, hooks, tool groups, discovery. A tool's name may hold slashes: what is done
with one stands before its name."""

from django.urls import URLPattern, URLResolver, path

import apps.accounts.converters  # noqa: F401 - registers call_id
from apps.console.views import hooks, plugins, sources, tool_drift, tool_groups, tool_trials, tools

catalogue: list[URLPattern | URLResolver] = [
    path("tools/", tools.tools, name="tools"),
    path("tools/<path:name>/", tools.tool, name="tool"),
    path("tool/state/<path:name>/", tools.tool_state, name="tool-state"),
    path("tool/schema/<path:name>/", tools.tool_schema, name="tool-schema"),
    path("tool/try/<path:name>/", tool_trials.tool_try, name="tool-try"),
    path("tool/call/<call_id:call_id>/", tool_trials.tool_call, name="tool-call"),
    path("tool/drift/<path:name>/", tool_drift.tool_drift, name="tool-drift"),
    path("plugins/", plugins.plugins, name="plugins"),
    path("plugins/<path:key>/", plugins.plugin, name="plugin"),
    path("plugin/enabled/<path:key>/", plugins.plugin_enabled, name="plugin-enabled"),
    path("hooks/", hooks.hooks, name="hooks"),
    path("hooks/<slug:name>/", hooks.hook, name="hook"),
    path("hook/policy/", hooks.hook_policy_change, name="hook-policy"),
    path("hook/new/", hooks.hook_new, name="hook-new"),
    path("hook/edit/<slug:name>/", hooks.hook_edit, name="hook-edit"),
    path("hook/enabled/<slug:name>/", hooks.hook_enabled, name="hook-enabled"),
    path("hook/remove/<slug:name>/", hooks.hook_remove, name="hook-remove"),
    path("hook/trial/<slug:name>/", hooks.hook_trial, name="hook-trial"),
    path("tool-groups/", tool_groups.tool_groups, name="tool-groups"),
    path("tool-groups/<path:name>/", tool_groups.tool_group, name="tool-group"),
    path("sources/", sources.sources, name="sources"),
    path("sources/<slug:key>/", sources.source, name="source"),
    path("source/new/", sources.source_new, name="source-new"),
    path("source/looks/<slug:key>/", sources.source_looks, name="source-looks"),
    path("source/look/<slug:key>/", sources.source_look, name="source-look"),
    path("source/edit/<slug:key>/", sources.source_edit, name="source-edit"),
    path("source/remove/<slug:key>/", sources.source_remove, name="source-remove"),
]
