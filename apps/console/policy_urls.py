"""Paths of agents, profiles, explorer and draft. A key may hold slashes, so a record's own page comes last."""

from django.urls import URLPattern, URLResolver, path

from apps.console.channel_urls import of_agents, of_everybody, of_groups
from apps.console.guard_urls import guarding
from apps.console.guardrail_urls import railing
from apps.console.policy_test_urls import testing
from apps.console.views import (
    agent_parts,
    agents,
    bulk_edits,
    draft,
    explorer,
    fixes,
    limits,
    profiles,
    record_pages,
    suggestions,
    unmatched,
)

policies: list[URLPattern | URLResolver] = [
    path("agents/", agents.agents, name="agents"),
    *of_agents,
    path("agents/<path:key>/preview/", agents.agent_preview, name="agent-preview"),
    path("agents/<path:key>/discard/", agents.agent_discard, name="agent-discard"),
    path("agents/<path:key>/exec/", agent_parts.agent_exec, name="agent-exec"),
    path("agents/<path:key>/sandbox/", agent_parts.agent_sandbox, name="agent-sandbox"),
    path("agents/<path:key>/history/", agent_parts.agent_history, name="agent-history"),
    path("agents/<path:key>/providers/new/", agent_parts.agent_provider_new, name="agent-provider-new"),
    path("agents/<path:key>/providers/<uuid:record_id>/", agent_parts.agent_provider, name="agent-provider"),
    path(
        "agents/<path:key>/providers/<uuid:record_id>/delete/",
        agent_parts.agent_provider_delete,
        name="agent-provider-delete",
    ),
    path("agents/<path:key>/", agents.agent, name="agent"),
    path("profiles/", profiles.profiles, name="profiles"),
    path("profiles/<path:key>/preview/", profiles.profile_preview, name="profile-preview"),
    path("profiles/<path:key>/discard/", profiles.profile_discard, name="profile-discard"),
    path("profiles/<path:key>/delete/", profiles.profile_delete, name="profile-delete"),
    path("profiles/<path:key>/history/", profiles.profile_history, name="profile-history"),
    path("profiles/<path:key>/", profiles.profile, name="profile"),
    path("records/<slug:kind>/<uuid:record_id>/", record_pages.record_page, name="record-page"),
    *of_groups,
    *of_everybody,
    path("exec-rules/", agent_parts.exec_rules_of_all, name="exec-rules"),
    path("limits/", limits.limits, name="limits"),
    path("limits/new/", limits.limit_new, name="limit-new"),
    path("limits/breaker/", limits.limit_breaker, name="limit-breaker"),
    path("limits/breaker/close/", limits.limit_breaker_close, name="limit-breaker-close"),
    path("limits/<rate_id:rate_id>/", limits.limit_edit, name="limit-edit"),
    path("limits/<rate_id:rate_id>/remove/", limits.limit_remove, name="limit-remove"),
    path("bulk-edits/", bulk_edits.bulk_list, name="bulk-edits"),
    path("bulk-edits/preview/", bulk_edits.bulk_preview, name="bulk-preview"),
    path("bulk-edits/start/", bulk_edits.bulk_start, name="bulk-start"),
    path("bulk-edits/<uuid:edit_id>/", bulk_edits.bulk_edit, name="bulk-edit"),
    path("suggestions/", suggestions.suggestions, name="suggestions"),
    path("suggestions/<path:key>/effect/", suggestions.suggestion_effect, name="suggestion-effect"),
    path("suggestions/<path:key>/take/", suggestions.suggestion_take, name="suggestion-take"),
    path("suggestions/<path:key>/", suggestions.suggestion, name="suggestion"),
    path("unmatched-rules/", unmatched.unmatched_rules, name="unmatched-rules"),
    path("unmatched-rules/count/", unmatched.unmatched_count, name="unmatched-count"),
    path("unmatched-rules/effect/", unmatched.unmatched_effect, name="unmatched-effect"),
    path("unmatched-rules/remove/", unmatched.unmatched_remove, name="unmatched-remove"),
    path("draft/pill/", draft.draft_pill, name="draft-pill"),
    path("draft/undo/", draft.draft_undo, name="draft-undo"),
    *guarding,
    *railing,
    *testing,
]

exploring: list[URLPattern | URLResolver] = [
    path("explorer/", explorer.explorer, name="explorer"),
    path("explorer/result/", explorer.explorer, name="explorer-result"),
    path("explorer/fix/", fixes.explorer_fix, name="explorer-fix"),
    path("explorer/fix/effects/", fixes.explorer_fix_effects, name="explorer-fix-effects"),
    path("explorer/export/", explorer.explorer_export, name="explorer-export"),
]
