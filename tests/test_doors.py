"""Who may open which door: every path of every door, asked by everybody. A path without a line in a table fails.

A new page needs one line in CONSOLE: its URL's name, and what a GET and a POST take.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx
import pytest
from channels.testing import WebsocketCommunicator
from django.db import connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from apps.accounts.access import PERMISSIONS, Permission
from apps.api.serializers.records import RECORD_KINDS
from apps.audit.exports import export_request
from apps.audit.filters import EntryFilters
from apps.firewall.identifiers import new_id
from apps.gateway.runtime_api.app import ROUTES
from openclaw_admin import sockets
from tests.api.conftest import draft, published  # noqa: F401 - fixtures
from tests.console.conftest import ask, called  # noqa: F401 - fixtures
from tests.gateway.conftest import holder, server  # noqa: F401 - fixtures

ANYBODY, SIGNED_IN, NOBODY = "anybody", "signed in", "nobody"
P = Permission
Need = Permission | str

# Name of the URL: who may GET it, who may POST to it. NOBODY: it does not know the method.
CONSOLE: dict[str, tuple[Need, Need]] = {
    "account_login": (ANYBODY, ANYBODY),
    "account_logout": (ANYBODY, ANYBODY),
    "account_signup": (ANYBODY, ANYBODY),
    "account_inactive": (ANYBODY, NOBODY),
    "account_change_password": (SIGNED_IN, SIGNED_IN),
    "invitation": (ANYBODY, ANYBODY),
    "password-reset": (ANYBODY, ANYBODY),
    "set_language": (ANYBODY, ANYBODY),
    "settings": (SIGNED_IN, SIGNED_IN),
    "settings-session-close": (NOBODY, SIGNED_IN),
    "environment-choose": (NOBODY, SIGNED_IN),
    "notifications": (SIGNED_IN, SIGNED_IN),
    "notification-worker": (ANYBODY, NOBODY),
    "notifications-test": (NOBODY, SIGNED_IN),
    "notifications-tried": (SIGNED_IN, NOBODY),
    "notification-browser-add": (NOBODY, SIGNED_IN),
    "notification-browser-remove": (NOBODY, SIGNED_IN),
    "notification-webhook-add": (NOBODY, P.POLICY_WRITE),
    "notification-webhook": (P.POLICY_WRITE, P.POLICY_WRITE),
    "notification-webhook-remove": (NOBODY, P.POLICY_WRITE),
    "overview": (P.POLICY_READ, NOBODY),
    "overview-figures": (P.POLICY_READ, NOBODY),
    "overview-calls": (P.AUDIT_READ, NOBODY),
    "users": (P.USERS_MANAGE, P.USERS_MANAGE),
    "user": (P.USERS_MANAGE, NOBODY),
    "user-role": (NOBODY, P.USERS_MANAGE),
    "user-active": (NOBODY, P.USERS_MANAGE),
    "user-reset-link": (NOBODY, P.USERS_MANAGE),
    "user-session-close": (NOBODY, P.USERS_MANAGE),
    "invitation-withdraw": (NOBODY, P.USERS_MANAGE),
    "tokens": (P.TOKENS_MANAGE, P.TOKENS_MANAGE),
    "token-revoke": (NOBODY, P.TOKENS_MANAGE),
    "approvals": (P.APPROVALS_READ, NOBODY),
    "answering": (P.APPROVALS_READ, P.POLICY_WRITE),
    "answering-storm": (NOBODY, P.POLICY_WRITE),
    "answering-rule-add": (NOBODY, P.POLICY_WRITE),
    "answering-rule-remove": (NOBODY, P.POLICY_WRITE),
    "answering-rule": (P.POLICY_WRITE, P.POLICY_WRITE),
    "answering-rule-move": (NOBODY, P.POLICY_WRITE),
    "answering-team-add": (NOBODY, P.POLICY_WRITE),
    "answering-team": (P.POLICY_WRITE, P.POLICY_WRITE),
    "answering-team-remove": (NOBODY, P.POLICY_WRITE),
    "answering-deputy-add": (NOBODY, P.APPROVALS_RESOLVE),
    "answering-deputy-remove": (NOBODY, P.APPROVALS_RESOLVE),
    "approvals-fatigue": (P.AUDIT_READ, NOBODY),
    "approvals-waiting": (P.APPROVALS_READ, NOBODY),
    "approvals-batch": (NOBODY, P.APPROVALS_RESOLVE),
    "approvals-history": (P.APPROVALS_READ, NOBODY),
    "approvals-queue": (P.APPROVALS_READ, NOBODY),
    "approvals-watchers": (P.APPROVALS_READ, NOBODY),
    "approvals-status": (P.APPROVALS_READ, NOBODY),
    "approval-card": (P.APPROVALS_READ, NOBODY),
    "approval-recent": (P.APPROVALS_READ, NOBODY),
    "approval-whole": (P.APPROVALS_READ, NOBODY),
    "approval-coverage": (P.APPROVALS_READ, NOBODY),
    "approval-resolve": (NOBODY, P.APPROVALS_RESOLVE),
    "sandbox": (P.POLICY_READ, NOBODY),
    "gateways": (P.POLICY_READ, NOBODY),
    "gateway-enrol": (NOBODY, P.GATEWAYS_MANAGE),
    "gateway": (P.POLICY_READ, NOBODY),
    "gateway-revoke": (NOBODY, P.GATEWAYS_MANAGE),
    "gateway-alarm-clear": (NOBODY, P.GATEWAYS_MANAGE),
    "grants": (P.APPROVALS_READ, NOBODY),
    "grant": (P.APPROVALS_READ, NOBODY),
    "grant-revoke": (NOBODY, P.APPROVALS_RESOLVE),
    "grant-narrow": (NOBODY, P.APPROVALS_RESOLVE),
    "halts": (P.POLICY_READ, NOBODY),
    "halt-banner": (P.POLICY_READ, NOBODY),
    "halt-consequence": (P.CALLS_STOP, NOBODY),
    "halt-place": (NOBODY, P.CALLS_STOP),
    "halt-ask": (NOBODY, P.CALLS_STOP),
    "halt-lift": (NOBODY, P.CALLS_STOP),
    "audit": (P.AUDIT_READ, NOBODY),
    "audit-rows": (P.AUDIT_READ, NOBODY),
    "audit-new": (P.AUDIT_READ, NOBODY),
    "audit-call": (P.AUDIT_READ, NOBODY),
    "audit-call-news": (P.AUDIT_READ, NOBODY),
    "async-calls": (P.AUDIT_READ, NOBODY),
    "async-call": (P.AUDIT_READ, NOBODY),
    "call-cancel": (NOBODY, P.CALLS_MAKE),
    "sessions": (P.AUDIT_READ, NOBODY),
    "session": (P.AUDIT_READ, NOBODY),
    "session-end": (NOBODY, P.SESSIONS_MANAGE),
    "session-reopen": (NOBODY, P.SESSIONS_MANAGE),
    "session-budgets": (NOBODY, P.SESSIONS_MANAGE),
    "session-command-end": (NOBODY, P.SESSIONS_MANAGE),
    "exports": (NOBODY, P.AUDIT_EXPORT),
    "export": (P.AUDIT_EXPORT, NOBODY),
    "export-file": (P.AUDIT_EXPORT, NOBODY),
    "start": (P.POLICY_READ, NOBODY),
    "start-demo": (NOBODY, P.POLICY_WRITE),
    "start-empty": (NOBODY, P.POLICY_WRITE),
    "import": (P.POLICY_WRITE, P.POLICY_WRITE),
    "publish": (P.POLICY_READ, P.PUBLISH),
    "publish-blast": (P.POLICY_READ, NOBODY),
    "publish-discard": (P.POLICY_WRITE, P.POLICY_WRITE),
    "snapshots": (P.POLICY_READ, NOBODY),
    "snapshot": (P.POLICY_READ, NOBODY),
    "snapshot-difference": (P.POLICY_READ, NOBODY),
    "snapshot-rollback": (NOBODY, P.PUBLISH),
    "snapshot-reset-draft": (NOBODY, P.POLICY_WRITE),
    "agents": (P.POLICY_READ, P.POLICY_WRITE),
    "agent": (P.POLICY_READ, P.POLICY_WRITE),
    "agent-preview": (NOBODY, P.POLICY_READ),
    "agent-discard": (NOBODY, P.POLICY_WRITE),
    "agent-exec": (P.POLICY_READ, P.POLICY_WRITE),
    "exec-rules": (P.POLICY_READ, P.POLICY_WRITE),
    "agent-sandbox": (P.POLICY_READ, P.POLICY_WRITE),
    "agent-history": (P.POLICY_READ, NOBODY),
    "agent-provider-new": (P.POLICY_WRITE, P.POLICY_WRITE),
    "agent-provider": (P.POLICY_WRITE, P.POLICY_WRITE),
    "agent-provider-delete": (NOBODY, P.POLICY_WRITE),
    "draft-pill": (P.POLICY_READ, NOBODY),
    "limits": (P.POLICY_READ, NOBODY),
    "limit-new": (P.POLICY_WRITE, P.POLICY_WRITE),
    "limit-edit": (P.POLICY_WRITE, P.POLICY_WRITE),
    "limit-remove": (NOBODY, P.POLICY_WRITE),
    "limit-breaker": (NOBODY, P.POLICY_WRITE),
    "limit-breaker-close": (NOBODY, P.POLICY_WRITE),
    # whoever reads may try a rule on what they type; saving one takes more, as tests of its page show
    "permissions": (P.POLICY_READ, NOBODY),
    "permission": (P.POLICY_READ, P.POLICY_READ),
    "permission-new": (P.POLICY_WRITE, P.POLICY_WRITE),
    "permission-delete": (NOBODY, P.POLICY_WRITE),
    "filters": (P.POLICY_READ, P.POLICY_READ),
    "filter": (P.POLICY_READ, P.POLICY_READ),
    "filter-new": (P.POLICY_WRITE, P.POLICY_WRITE),
    "filter-delete": (NOBODY, P.POLICY_WRITE),
    "tools": (P.POLICY_READ, NOBODY),
    "tool": (P.POLICY_READ, NOBODY),
    "tool-state": (P.POLICY_WRITE, P.POLICY_WRITE),
    "tool-schema": (P.POLICY_READ, NOBODY),
    "tool-try": (NOBODY, P.EXPLAIN),
    "tool-call": (P.AUDIT_READ, NOBODY),
    "tool-drift": (P.POLICY_READ, P.PUBLISH),
    "plugins": (P.POLICY_READ, NOBODY),
    "plugin": (P.POLICY_READ, NOBODY),
    "plugin-enabled": (P.POLICY_WRITE, P.POLICY_WRITE),
    "hooks": (P.POLICY_READ, NOBODY),
    "hook": (P.POLICY_READ, NOBODY),
    "hook-policy": (NOBODY, P.PUBLISH),
    "hook-new": (P.PUBLISH, P.PUBLISH),
    "hook-edit": (P.PUBLISH, P.PUBLISH),
    "hook-enabled": (NOBODY, P.PUBLISH),
    "hook-remove": (P.PUBLISH, P.PUBLISH),
    "hook-trial": (NOBODY, P.PUBLISH),
    "tool-groups": (P.POLICY_READ, NOBODY),
    "tool-group": (P.POLICY_READ, NOBODY),
    "sources": (P.POLICY_READ, NOBODY),
    "source": (P.POLICY_READ, NOBODY),
    "source-new": (P.POLICY_WRITE, P.POLICY_WRITE),
    "source-looks": (P.POLICY_READ, NOBODY),
    "source-look": (NOBODY, P.POLICY_WRITE),
    "source-edit": (P.POLICY_WRITE, P.POLICY_WRITE),
    "source-remove": (P.POLICY_WRITE, P.POLICY_WRITE),
    "explorer": (P.EXPLAIN, NOBODY),
    "explorer-result": (P.EXPLAIN, NOBODY),
    "explorer-export": (P.EXPLAIN, NOBODY),
}
READ_WRITE: dict[str, Need] = {"GET": P.POLICY_READ, "PATCH": P.POLICY_WRITE, "DELETE": P.POLICY_WRITE}
API: dict[str, dict[str, Need]] = {
    "openapi": {"GET": ANYBODY},
    "api-environments": {"GET": P.POLICY_READ},
    "api-tools": {"GET": P.POLICY_READ, "POST": P.POLICY_WRITE},
    "api-plugins": {"GET": P.POLICY_READ, "POST": P.POLICY_WRITE},
    "api-plugin": {"GET": P.POLICY_READ, "PATCH": P.POLICY_WRITE},
    "api-tool": {"GET": P.POLICY_READ, "PATCH": P.POLICY_WRITE},
    "api-tool-state": {"POST": P.POLICY_WRITE},
    "api-tool-use": {"GET": P.AUDIT_READ},
    "api-tool-previews": {"GET": P.POLICY_READ},
    "api-tool-history": {"GET": P.POLICY_READ},
    "api-tool-groups": {"GET": P.POLICY_READ},
    "api-sources": {"GET": P.POLICY_READ, "POST": P.POLICY_WRITE},
    "api-source": READ_WRITE,
    "api-source-look": {"POST": P.POLICY_WRITE},
    "api-source-runs": {"GET": P.POLICY_READ},
    "api-run": {"GET": P.POLICY_READ},
    "api-drifts": {"GET": P.POLICY_READ},
    "api-drift": {"GET": P.POLICY_READ},
    "api-drift-accept": {"POST": P.PUBLISH},
    "api-drift-dismiss": {"POST": P.PUBLISH},
    "api-hooks": {"GET": P.POLICY_READ, "POST": P.PUBLISH},
    "api-hook": {"GET": P.POLICY_READ, "PATCH": P.PUBLISH, "DELETE": P.PUBLISH},
    "api-hook-failures": {"GET": P.POLICY_READ},
    "api-hook-try": {"POST": P.PUBLISH},
    "api-hook-policy": {"GET": P.POLICY_READ, "PATCH": P.PUBLISH},
    "api-installed-hooks": {"GET": P.POLICY_READ},
    "api-grants": {"GET": P.APPROVALS_READ},
    "api-grant": {"GET": P.APPROVALS_READ},
    "api-grant-revoke": {"POST": P.APPROVALS_RESOLVE},
    "api-grant-narrow": {"POST": P.APPROVALS_RESOLVE},
    "api-halts": {"GET": P.POLICY_READ, "POST": P.CALLS_STOP},
    "api-halt-ask": {"POST": P.CALLS_STOP},
    "api-halt-lift": {"POST": P.CALLS_STOP},
    "api-rate-limits": {"GET": P.POLICY_READ, "POST": P.POLICY_WRITE},
    "api-rate-limit": READ_WRITE,
    "api-rate-use": {"GET": P.AUDIT_READ},
    "api-breaker": {"GET": P.POLICY_READ, "PATCH": P.POLICY_WRITE},
    "api-tool-breakers": {"GET": P.POLICY_READ},
    "api-tool-breaker-close": {"POST": P.POLICY_WRITE},
    "api-sessions": {"GET": P.AUDIT_READ},
    "api-session": {"GET": P.AUDIT_READ},
    "api-session-end": {"POST": P.SESSIONS_MANAGE},
    "api-session-reopen": {"POST": P.SESSIONS_MANAGE},
    "api-session-budgets": {"PUT": P.SESSIONS_MANAGE},
    "api-session-commands": {"GET": P.AUDIT_READ},
    "api-session-command-kill": {"POST": P.SESSIONS_MANAGE},
    "api-async-calls": {"GET": P.AUDIT_READ},
    "api-async-call": {"GET": P.AUDIT_READ},
    "api-call-cancel": {"POST": P.CALLS_MAKE},
    "api-callback-key": {"GET": P.CALLS_MAKE},
    "api-gateways": {"GET": P.POLICY_READ},
    "api-gateway-enrolments": {"POST": P.GATEWAYS_MANAGE},
    "api-gateway": {"GET": P.POLICY_READ, "DELETE": P.GATEWAYS_MANAGE},
    "api-gateway-alarm": {"POST": P.GATEWAYS_MANAGE},
    "api-explain": {"POST": P.EXPLAIN},
    "api-document": {"GET": P.POLICY_READ, "PUT": P.POLICY_WRITE},
    "api-draft-changes": {"GET": P.POLICY_READ},
    "api-draft-lint": {"GET": P.POLICY_READ},
    "api-snapshot": {"GET": P.POLICY_READ},
    "api-publications": {"GET": P.POLICY_READ, "POST": P.PUBLISH},
    "api-rollback": {"POST": P.PUBLISH},
    "api-answering": {"GET": P.APPROVALS_READ, "PATCH": P.POLICY_WRITE},
    "api-storm": {"GET": P.APPROVALS_READ, "PATCH": P.POLICY_WRITE},
    "api-answer-rules": {"GET": P.APPROVALS_READ, "POST": P.POLICY_WRITE},
    "api-answer-rule": {"GET": P.APPROVALS_READ, "PATCH": P.POLICY_WRITE, "DELETE": P.POLICY_WRITE},
    "api-answer-rule-move": {"POST": P.POLICY_WRITE},
    "api-teams": {"GET": P.APPROVALS_READ, "POST": P.POLICY_WRITE},
    "api-team": {"GET": P.APPROVALS_READ, "PATCH": P.POLICY_WRITE, "DELETE": P.POLICY_WRITE},
    "api-deputies": {"GET": P.APPROVALS_READ, "POST": P.APPROVALS_RESOLVE},
    "api-deputy": {"DELETE": P.APPROVALS_RESOLVE},
    "api-approvals-fatigue": {"GET": P.AUDIT_READ},
    "api-approvals-history": {"GET": P.APPROVALS_READ},
    "api-approval-coverage": {"GET": P.APPROVALS_READ},
    "api-approvals-similar": {"GET": P.APPROVALS_READ},
    "api-approvals-batch": {"POST": P.APPROVALS_RESOLVE},
    "api-webhooks": {"GET": P.POLICY_READ, "POST": P.POLICY_WRITE},
    "api-webhook": READ_WRITE,
    "api-deliveries": {"GET": P.APPROVALS_READ},
    "api-approvals": {"GET": P.APPROVALS_READ},
    "api-approval": {"GET": P.APPROVALS_READ},
    "api-approval-resolve": {"POST": P.APPROVALS_RESOLVE},
    "api-audit-calls": {"GET": P.AUDIT_READ},
    "api-audit-call": {"GET": P.AUDIT_READ},
    "api-audit-entries": {"GET": P.AUDIT_READ},
    "api-audit-export": {"GET": P.AUDIT_EXPORT},
}
for kind in RECORD_KINDS:
    API[f"api-{kind.path}"] = {"GET": P.POLICY_READ, **({"POST": P.POLICY_WRITE} if kind.create else {})}
    API[f"api-{kind.path}-detail"] = READ_WRITE
# Agents' door: method and path, and the scope it takes; None: what may be seen is the question of the object.
AGENTS: dict[tuple[str, str], Permission | None] = {
    ("POST", "/api/v1/decisions"): P.DECISIONS_ASK,
    ("POST", "/api/v1/calls"): P.CALLS_MAKE,
    ("GET", "/api/v1/calls/{id}"): P.CALLS_MAKE,
    ("DELETE", "/api/v1/calls/{id}"): P.CALLS_MAKE,
    ("GET", "/api/v1/tools"): P.DECISIONS_ASK,
    ("POST", "/api/v1/turns"): P.CALLS_MAKE,
    ("GET", "/api/v1/approvals/{id}/wait"): None,
    ("POST", "/api/v1/openclaw/calls"): P.GATEWAY_CALLS,
    ("GET", "/api/v1/openclaw/calls/{id}"): P.GATEWAY_CALLS,
    ("DELETE", "/api/v1/openclaw/calls/{id}"): P.GATEWAY_CALLS,
    ("POST", "/api/v1/openclaw/calls/{id}/outcome"): P.GATEWAY_CALLS,
    ("POST", "/api/v1/openclaw/ungoverned"): P.GATEWAY_CALLS,
    ("POST", "/api/v1/openclaw/heartbeat"): P.GATEWAY_CALLS,
    ("POST", "/api/v1/rpc/exec.approval.request"): P.CALLS_MAKE,
    ("POST", "/api/v1/rpc/exec.approval.waitDecision"): None,
    ("POST", "/api/v1/rpc/exec.approval.resolve"): None,
    ("POST", "/api/v1/rpc/exec.approval.list"): None,
    ("POST", "/api/v1/rpc/exec.approval.get"): None,
}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
ROLES = ("admin", "operator", "auditor", "viewer", "outsider")
# Rows that asking alone may touch: when somebody was last seen.
SEEN = {"accounts_session", "accounts_apitoken"}

pytestmark = pytest.mark.django_db


def patterns(found: list[Any]) -> Iterator[URLPattern]:
    for entry in found:
        if isinstance(entry, URLResolver):
            yield from patterns(entry.url_patterns)
        else:
            yield entry


@dataclass
class World:
    """One object of each kind, and the way to each path."""

    arguments: dict[str, Any]

    def path(self, name: str) -> str:
        (pattern,) = {entry.pattern for entry in patterns(get_resolver().url_patterns) if entry.name == name}
        wanted = pattern.regex.groupindex
        return reverse(name, kwargs={part: self.arguments[part] for part in wanted})


@pytest.fixture
def world(
    published: Any,  # noqa: F811 - a fixture
    ask: Callable[..., Any],  # noqa: F811
    called: Callable[..., Any],  # noqa: F811
    admin: Any,
    make_user: Callable[..., Any],
    token: Callable[..., Any],
) -> World:
    from apps.accounts.services import user_invite

    invitation, secret = user_invite(role="viewer", by=admin, at=timezone.now())
    filters = EntryFilters(environment=published.environment.slug)
    export = export_request(admin, filters=filters, format_name="csv", at=timezone.now())
    return World(
        {
            "user_id": make_user("bystander", role="viewer").pk,
            "token_id": token("policy_read")[0].pk,
            "invitation_id": invitation.pk,
            "secret": secret,
            "approval_id": ask().pk,
            "call_id": called(),
            "publication_id": published.pk,
            "export_id": export.pk,
            "record_id": new_id(),
            "tool_id": new_id(),
            "source_id": new_id(),
            "run_id": new_id(),
            "drift_id": new_id(),
            "session_id": new_id(),
            "rate_id": new_id(),
            "grant_id": new_id(),
            "halt_id": new_id(),
            "command_id": new_id(),
            "gateway_id": new_id(),
            "alarm_id": new_id(),
            "rule_id": 1,
            "team_id": 1,
            "deputy_id": 1,
            "webhook_id": 1,
            "subscription_id": new_id(),
            "key": "main",
            "name": "exec",
            "at": "live",
        }
    )


def changed_rows() -> dict[str, int]:
    """Count what this test's transaction has written so far, by table."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_xact_user_tables")
        return {name: count for name, count in cursor.fetchall() if count and name not in SEEN}


def may(role: str, need: Need) -> bool:
    return need in {ANYBODY, SIGNED_IN} or need in PERMISSIONS.get(role, frozenset())


def verdict(answer: Any) -> str:
    if answer.status_code == 302 and answer["Location"].startswith("/sign-in/?next="):
        return "sign in"
    return {401: "sign in", 403: "refused", 405: "no such method"}.get(answer.status_code, "in")


def test_every_path_has_a_line_in_a_table() -> None:
    names = [entry.name for entry in patterns(get_resolver().url_patterns)]
    assert set(names) == set(CONSOLE) | set(API)
    assert len(names) == len(set(names))


def test_every_path_of_the_agents_door_has_a_line_in_a_table() -> None:
    assert {(method, route.path) for route in ROUTES for method in route.methods} == set(AGENTS)


@pytest.mark.parametrize("name", CONSOLE)
def test_a_page_opens_for_those_who_may_and_for_nobody_else(
    name: str, world: World, request: pytest.FixtureRequest
) -> None:
    path = world.path(name)
    for method, need in zip(("GET", "POST"), CONSOLE[name], strict=True):
        found, wanted = {}, {}
        for role in ("", *ROLES):
            answer = browser_of(request, role).generic(method, path)
            assert answer.status_code < 500, (role, answer.content[:500])
            found[role], wanted[role] = verdict(answer), expected(role, need)
        assert found == wanted, method


def expected(role: str, need: Need) -> str:
    if need == NOBODY:
        return "no such method"
    if not role:
        return "in" if need == ANYBODY else "sign in"
    return "in" if may(role, need) else "refused"


def browser_of(request: pytest.FixtureRequest, role: str) -> Client:
    browser = Client(raise_request_exception=False)
    if role:
        browser.force_login(request.getfixturevalue(role))
    return browser


def test_a_form_from_another_site_is_refused(world: World, admin: Any) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(admin)
    elsewhere = {"Origin": "https://elsewhere.example"}
    found = {name: browser.post(world.path(name), headers=elsewhere).status_code for name in CONSOLE}
    assert found == dict.fromkeys(CONSOLE, 403)


def test_looking_changes_nothing(world: World, admin: Any) -> None:
    browser = Client(raise_request_exception=False)
    browser.force_login(admin)
    for name in sorted({*CONSOLE, *API} - {"account_logout"}):
        before = changed_rows()
        browser.get(world.path(name))
        assert changed_rows() == before, name


def test_a_program_needs_the_scope_of_the_path_and_no_other(world: World, token: Callable[..., Any]) -> None:
    holding = cache(lambda *scopes: token(*scopes)[1])
    for name, table in API.items():
        path = world.path(name)
        for method, need in [(method, table.get(method, NOBODY)) for method in METHODS]:
            others = [str(scope) for scope in Permission if scope != need]
            if need != ANYBODY:
                refused = _as_program(method, path, holding(*others))
                assert verdict(refused) in {"refused", "no such method"}, (name, method)
            if need == NOBODY:
                continue  # not even a program with every scope
            stranger = Client().generic(method, path, content_type="application/json")
            if need == ANYBODY:
                assert verdict(stranger) == "in", (name, method)
            else:
                assert verdict(stranger) in {"sign in", "no such method"}, (name, method)
                assert verdict(_as_program(method, path, holding(str(need)))) == "in", (name, method)


def test_a_token_of_another_environment_finds_nothing_here(
    world: World, token: Callable[..., Any], environment: Any
) -> None:
    _, secret = token(*map(str, Permission), environment="elsewhere")
    for name, table in API.items():
        for method, need in table.items():
            answer = _as_program(method, f"{world.path(name)}?environment={environment.slug}", secret)
            if name == "api-environments":
                assert answer.json() == []
            elif need != ANYBODY:  # mistakes in what is sent come first
                assert answer.status_code in ({404} if method == "GET" else {400, 404}), (name, method)


@pytest.mark.parametrize("role", ROLES)
def test_a_signed_in_person_has_the_rights_of_the_role_there(
    role: str, world: World, request: pytest.FixtureRequest
) -> None:
    browser = browser_of(request, role)
    for name, table in API.items():
        for method, need in table.items():
            answer = browser.generic(method, world.path(name), content_type="application/json")
            assert answer.status_code < 500, (name, method)
            assert verdict(answer) == ("in" if may(role, need) else "refused"), (name, method)


def _as_program(method: str, path: str, secret: str) -> Any:
    headers = {"Authorization": f"Bearer {secret}"}
    return Client().generic(method, path, content_type="application/json", headers=headers)


@pytest.mark.django_db(transaction=True)
def test_an_agent_needs_the_scope_of_the_path_and_no_other(
    server: Any,  # noqa: F811 - a fixture
    token: Callable[..., Any],
) -> None:
    body = {"agent": "bot", "tool": "nothing", "params": {}}
    for (method, route), need in AGENTS.items():
        path = route.replace("{id}", "nothing")
        assert _as_agent(server, None, method, path, body) == 401, route
        assert _as_agent(server, "oca_x_wrong", method, path, body) == 401, route
        if need is not None:
            others = [str(scope) for scope in Permission if scope != need]
            assert _as_agent(server, token(*others)[1], method, path, body) == 403, route
            let_in = _as_agent(server, token(str(need))[1], method, path, body)
            assert let_in in {200, 404, 422}, route  # mistakes in what is sent come later
        for wrong in {"PUT", "DELETE", "PATCH"} - {taken for taken, other in AGENTS if other == route}:
            assert _as_agent(server, None, wrong, path, body) == 405, route


@pytest.mark.django_db(transaction=True)
def test_an_agents_token_speaks_for_its_own_agents_and_environment_only(
    server: Any,  # noqa: F811 - a fixture
    token: Callable[..., Any],
) -> None:
    body = {"agent": "bot", "tool": "nothing", "params": {}}
    scopes = ("calls_make", "decisions_ask")
    for path in ("/api/v1/decisions", "/api/v1/calls"):
        of_another_agent = token(*scopes, agents=["clerk"])[1]
        of_another_place = token(*scopes, environment="elsewhere")[1]
        assert _as_agent(server, of_another_agent, "POST", path, body) == 403
        assert _as_agent(server, of_another_place, "POST", path, body) == 422  # its own, which does not exist
        assert _as_agent(server, of_another_place, "POST", path, body | {"environment": "production"}) == 403


def _as_agent(server: Any, secret: str | None, method: str, path: str, body: Any) -> int:  # noqa: F811
    with server.client(secret) as client:
        answer: httpx.Response = client.request(method, path, json=body if method == "POST" else None)
    return answer.status_code


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("role", "origin", "path", "code"),
    [
        ("", "http://testserver", "/ws/console/", 4401),
        ("outsider", "http://testserver", "/ws/console/", 4403),
        ("admin", "http://elsewhere.example", "/ws/console/", 4403),
        ("admin", "https://testserver", "/ws/console", 4404),
        ("admin", "http://testserver", "/ws/other/", 4404),
        ("admin", "", "/ws/console/", 4403),
        *((role, "http://testserver", "/ws/console/", None) for role in ("viewer", "auditor", "operator", "admin")),
    ],
)
async def test_the_socket_opens_for_a_session_of_this_origin_only(
    role: str, origin: str, path: str, code: int | None, request: pytest.FixtureRequest, environment: Any
) -> None:
    from asgiref.sync import sync_to_async

    cookie = await sync_to_async(_cookie)(request, role) if role else ""
    headers = [(b"host", b"testserver"), (b"origin", origin.encode()), (b"cookie", cookie.encode())]
    communicator = WebsocketCommunicator(sockets.application, path, headers)
    connected, answered = await communicator.connect()
    if code is None:
        assert connected
        assert "hello" in await communicator.receive_from()
        await communicator.disconnect()
    elif connected:  # accepted first, so that the browser hears the code
        assert (await communicator.receive_output())["code"] == code
    else:
        assert answered == code


def _cookie(request: pytest.FixtureRequest, role: str) -> str:
    browser = Client()
    browser.force_login(request.getfixturevalue(role))
    return f"sessionid={browser.cookies['sessionid'].value}"
