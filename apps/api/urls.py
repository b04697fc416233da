"""Paths of the programs' door, below /api/v1/."""

from django.urls import path
from drf_spectacular.views import SpectacularJSONAPIView

import apps.accounts.converters  # noqa: F401 - registers <approval_id:…> and its like
from apps.api.views import approvals, async_calls, audit, draft, environments, explain, limits, sessions, snapshots
from apps.api.views.records import RECORD_VIEWS
from apps.api.views.registry import hooks, plugins, sources, tools

urlpatterns = [
    path("openapi.json", SpectacularJSONAPIView.as_view(), name="openapi"),
    path("environments", environments.Environments.as_view(), name="api-environments"),
    path("registry/tools", tools.Tools.as_view(), name="api-tools"),
    path("registry/tools/<tool_id:tool_id>", tools.ToolDetail.as_view(), name="api-tool"),
    path("registry/tools/<tool_id:tool_id>/state", tools.ToolState.as_view(), name="api-tool-state"),
    path("registry/tools/<tool_id:tool_id>/use", tools.ToolUse.as_view(), name="api-tool-use"),
    path("registry/tools/<tool_id:tool_id>/previews", tools.ToolPreviews.as_view(), name="api-tool-previews"),
    path("registry/tools/<tool_id:tool_id>/history", tools.ToolHistory.as_view(), name="api-tool-history"),
    path("registry/plugins", plugins.Plugins.as_view(), name="api-plugins"),
    path("registry/plugins/<str:key>", plugins.PluginDetail.as_view(), name="api-plugin"),
    path("registry/hooks", hooks.Hooks.as_view(), name="api-hooks"),
    path("registry/hooks/<slug:name>", hooks.HookDetail.as_view(), name="api-hook"),
    path("registry/hooks/<slug:name>/failures", hooks.HookFailures.as_view(), name="api-hook-failures"),
    path("registry/hooks/<slug:name>/try", hooks.HookTry.as_view(), name="api-hook-try"),
    path("registry/installed-hooks", hooks.InstalledHooks.as_view(), name="api-installed-hooks"),
    path("registry/groups", plugins.Groups.as_view(), name="api-tool-groups"),
    path("registry/sources", sources.Sources.as_view(), name="api-sources"),
    path("registry/sources/<source_id:source_id>", sources.SourceDetail.as_view(), name="api-source"),
    path("registry/sources/<source_id:source_id>/look", sources.SourceLook.as_view(), name="api-source-look"),
    path("registry/sources/<source_id:source_id>/runs", sources.SourceRuns.as_view(), name="api-source-runs"),
    path("registry/runs/<run_id:run_id>", sources.RunDetail.as_view(), name="api-run"),
    path("registry/drifts", sources.Drifts.as_view(), name="api-drifts"),
    path("registry/drifts/<drift_id:drift_id>", sources.DriftDetail.as_view(), name="api-drift"),
    path("registry/drifts/<drift_id:drift_id>/accept", sources.DriftAccept.as_view(), name="api-drift-accept"),
    path("registry/drifts/<drift_id:drift_id>/dismiss", sources.DriftDismiss.as_view(), name="api-drift-dismiss"),
    path("limits/rates", limits.RateLimits.as_view(), name="api-rate-limits"),
    path("limits/rates/<rate_id:rate_id>", limits.RateLimitDetail.as_view(), name="api-rate-limit"),
    path("limits/use", limits.RateUse.as_view(), name="api-rate-use"),
    path("limits/breaker", limits.Breaker.as_view(), name="api-breaker"),
    path("limits/breakers", limits.ToolBreakers.as_view(), name="api-tool-breakers"),
    path("limits/breakers/close", limits.ToolBreakerClose.as_view(), name="api-tool-breaker-close"),
    path("explain", explain.Explain.as_view(), name="api-explain"),
    path("document", draft.Document.as_view(), name="api-document"),
    path("draft/changes", draft.Changes.as_view(), name="api-draft-changes"),
    path("draft/lint", draft.Lint.as_view(), name="api-draft-lint"),
    path("snapshots/<str:at>", snapshots.Snapshot.as_view(), name="api-snapshot"),
    path("publications", snapshots.Publications.as_view(), name="api-publications"),
    path("publications/rollback", snapshots.Rollback.as_view(), name="api-rollback"),
    path("approvals", approvals.Approvals.as_view(), name="api-approvals"),
    path("approvals/<approval_id:approval_id>", approvals.ApprovalDetail.as_view(), name="api-approval"),
    path(
        "approvals/<approval_id:approval_id>/resolve", approvals.ApprovalResolve.as_view(), name="api-approval-resolve"
    ),
    path("sessions", sessions.Sessions.as_view(), name="api-sessions"),
    path("sessions/<session_id:session_id>", sessions.SessionDetail.as_view(), name="api-session"),
    path("sessions/<session_id:session_id>/end", sessions.SessionEnd.as_view(), name="api-session-end"),
    path("sessions/<session_id:session_id>/reopen", sessions.SessionReopen.as_view(), name="api-session-reopen"),
    path("sessions/<session_id:session_id>/budgets", sessions.SessionBudgets.as_view(), name="api-session-budgets"),
    path("audit/calls", audit.Calls.as_view(), name="api-audit-calls"),
    path("audit/calls/<call_id:call_id>", audit.CallDetail.as_view(), name="api-audit-call"),
    path("audit/calls/<call_id:call_id>/cancel", async_calls.CallCancel.as_view(), name="api-call-cancel"),
    path("async-calls", async_calls.AsyncCalls.as_view(), name="api-async-calls"),
    path("async-calls/<call_id:call_id>", async_calls.AsyncCallDetail.as_view(), name="api-async-call"),
    path("callback-key", async_calls.CallbackKey.as_view(), name="api-callback-key"),
    path("audit/entries", audit.Entries.as_view(), name="api-audit-entries"),
    path("audit/export", audit.Export.as_view(), name="api-audit-export"),
]
for stem, (listing, detail) in RECORD_VIEWS.items():
    urlpatterns += [
        path(stem, listing.as_view(), name=f"api-{stem}"),
        path(f"{stem}/<record_id:record_id>", detail.as_view(), name=f"api-{stem}-detail"),
    ]
