"""Paths of the people's door."""

from allauth.account import views as allauth
from django.conf.urls.i18n import urlpatterns as language_urls
from django.urls import URLPattern, URLResolver, path

import apps.accounts.converters  # noqa: F401 - registers user_id, approval_id, call_id, …
from apps.accounts.secret_links import INVITATION_ROUTE, PASSWORD_RESET_ROUTE
from apps.console.catalogue_urls import catalogue
from apps.console.policy_urls import exploring, policies
from apps.console.views import (
    accounts,
    answering,
    approvals,
    async_calls,
    audit,
    call_news,
    exports,
    gateways,
    grants,
    halts,
    overview,
    publish,
    sandbox,
    sessions,
    settings,
    snapshots,
    start,
    tokens,
    users,
)

access: list[URLPattern | URLResolver] = [
    path("sign-in/", allauth.login, name="account_login"),
    path("sign-out/", allauth.logout, name="account_logout"),
    path("sign-up/", allauth.signup, name="account_signup"),
    path("inactive/", allauth.account_inactive, name="account_inactive"),
    path("password/", accounts.password, name="account_change_password"),
    path(INVITATION_ROUTE, accounts.invitation, name="invitation"),
    path(PASSWORD_RESET_ROUTE, accounts.reset, name="password-reset"),
    path("settings/", settings.settings, name="settings"),
    path("settings/sessions/end/", settings.session_close, name="settings-session-close"),
    path("environment/", settings.environment_choose, name="environment-choose"),
    path("users/", users.people, name="users"),
    path("users/<user_id:user_id>/", users.person, name="user"),
    path("users/<user_id:user_id>/role/", users.role, name="user-role"),
    path("users/<user_id:user_id>/active/", users.active, name="user-active"),
    path("users/<user_id:user_id>/reset/", users.reset_link, name="user-reset-link"),
    path("users/<user_id:user_id>/sessions/end/", users.session_close, name="user-session-close"),
    path("invitations/<invitation_id:invitation_id>/withdraw/", users.invitation_withdraw, name="invitation-withdraw"),
    path("tokens/", tokens.token_list, name="tokens"),
    path("tokens/<token_id:token_id>/revoke/", tokens.revoke, name="token-revoke"),
    *language_urls,
]

approving: list[URLPattern | URLResolver] = [
    path("approvals/", approvals.approvals, name="approvals"),
    path("approvals/answering/", answering.answering, name="answering"),
    path("approvals/answering/rules/add/", answering.rule_add, name="answering-rule-add"),
    path("approvals/answering/rules/remove/", answering.rule_remove, name="answering-rule-remove"),
    path("approvals/answering/deputies/add/", answering.deputy_add, name="answering-deputy-add"),
    path("approvals/answering/deputies/remove/", answering.deputy_remove, name="answering-deputy-remove"),
    path("approvals/queue/", approvals.queue, name="approvals-queue"),
    path("approvals/status/", approvals.status, name="approvals-status"),
    path("approvals/<approval_id:approval_id>/card/", approvals.card, name="approval-card"),
    path("approvals/<approval_id:approval_id>/recent/", approvals.recent_item, name="approval-recent"),
    path("approvals/<approval_id:approval_id>/coverage/", approvals.coverage, name="approval-coverage"),
    path("approvals/<approval_id:approval_id>/resolve/", approvals.resolve, name="approval-resolve"),
]

working: list[URLPattern | URLResolver] = [
    path("sessions/", sessions.sessions, name="sessions"),
    path("sessions/<session_id:session_id>/", sessions.session, name="session"),
    path("sessions/<session_id:session_id>/end/", sessions.end, name="session-end"),
    path("sessions/<session_id:session_id>/reopen/", sessions.reopen, name="session-reopen"),
    path(
        "sessions/<session_id:session_id>/commands/<command_id:command_id>/kill/",
        sessions.command_end,
        name="session-command-end",
    ),
    path("sessions/<session_id:session_id>/budgets/", sessions.budgets, name="session-budgets"),
]

auditing: list[URLPattern | URLResolver] = [
    path("grants/", grants.grants, name="grants"),
    path("grants/<grant_id:grant_id>/", grants.grant, name="grant"),
    path("grants/<grant_id:grant_id>/revoke/", grants.revoke, name="grant-revoke"),
    path("grants/<grant_id:grant_id>/narrow/", grants.narrow, name="grant-narrow"),
    path("halts/", halts.halts, name="halts"),
    path("halts/banner/", halts.banner, name="halt-banner"),
    path("halts/consequence/", halts.consequence, name="halt-consequence"),
    path("halts/place/", halts.place, name="halt-place"),
    path("halts/<halt_id:halt_id>/ask/", halts.ask, name="halt-ask"),
    path("halts/<halt_id:halt_id>/lift/", halts.lift, name="halt-lift"),
    path("gateways/", gateways.gateways, name="gateways"),
    path("gateways/enrol/", gateways.enrol, name="gateway-enrol"),
    path("gateways/<gateway_id:gateway_id>/", gateways.gateway, name="gateway"),
    path("gateways/<gateway_id:gateway_id>/revoke/", gateways.revoke, name="gateway-revoke"),
    path("gateways/alarms/<alarm_id:alarm_id>/clear/", gateways.alarm_seen, name="gateway-alarm-clear"),
    path("sandbox/", sandbox.sandbox, name="sandbox"),
    path("audit/", audit.audit, name="audit"),
    path("audit/rows/", audit.audit, name="audit-rows"),
    path("audit/new/", audit.new, name="audit-new"),
    path("audit/calls/<call_id:call_id>/", audit.call, name="audit-call"),
    path("audit/calls/<call_id:call_id>/news/", call_news.news, name="audit-call-news"),
    path("async-calls/", async_calls.calls, name="async-calls"),
    path("async-calls/<call_id:call_id>/", async_calls.call, name="async-call"),
    path("calls/<call_id:call_id>/cancel/", async_calls.cancel, name="call-cancel"),
    path("exports/", exports.exports, name="exports"),
    path("exports/<uuid:export_id>/", exports.export, name="export"),
    path("exports/<uuid:export_id>/file/", exports.export_file, name="export-file"),
]

releasing: list[URLPattern | URLResolver] = [
    path("", overview.overview, name="overview"),
    path("overview/figures/", overview.figures, name="overview-figures"),
    path("overview/calls/", overview.calls, name="overview-calls"),
    path("start/", start.start, name="start"),
    path("start/demo/", start.demo, name="start-demo"),
    path("start/empty/", start.empty, name="start-empty"),
    path("import/", start.import_documents, name="import"),
    path("publish/", publish.publish, name="publish"),
    path("publish/blast/", publish.blast, name="publish-blast"),
    path("publish/discard/", publish.discard, name="publish-discard"),
    path("snapshots/", snapshots.snapshots, name="snapshots"),
    path("snapshots/<publication_id:publication_id>/", snapshots.snapshot, name="snapshot"),
    path("snapshots/<publication_id:publication_id>/difference/", snapshots.difference, name="snapshot-difference"),
    path("snapshots/<publication_id:publication_id>/rollback/", snapshots.rollback, name="snapshot-rollback"),
    path("snapshots/<publication_id:publication_id>/draft/", snapshots.reset_draft, name="snapshot-reset-draft"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    *access,
    *approving,
    *working,
    *auditing,
    *releasing,
    *policies,
    *catalogue,
    *exploring,
]
