"""Who may open which door: every path of every door, asked by everybody. A path without a line in a table fails.

The tables stand in doors.py.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx
import pytest
from django.db import connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from apps.accounts.access import PERMISSIONS, Permission
from apps.audit.exports import export_request
from apps.audit.filters import EntryFilters
from apps.firewall.identifiers import new_id
from apps.gateway.mcp import door as mcp
from apps.gateway.runtime_api.app import ROUTES
from tests.api.conftest import draft, published  # noqa: F401 - fixtures
from tests.console.conftest import ask, called  # noqa: F401 - fixtures
from tests.doors import AGENTS, ANYBODY, API, CONSOLE, NOBODY, SIGNED_IN, TWINS, Need
from tests.gateway.conftest import holder, server  # noqa: F401 - fixtures
from tests.seeded import seed

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
ROLES = ("admin", "operator", "auditor", "viewer", "outsider")
# Rows that asking alone may touch: when somebody was last seen, and figures that catch up with what was recorded.
SEEN = {"accounts_session", "accounts_apitoken", "audit_follow", "audit_tally"}
WORDS = "audit_words_"
FRAGMENTS_FOR = {"", "admin"}
# Libraries answer any other method here as if somebody asked for the empty form.
OF_LIBRARIES = {"account_login", "account_signup", "set_language"}
# What a token that belongs to another environment is shown all the same: lists of its own, empty here.
ITS_OWN: dict[tuple[str, str], Any] = {
    ("api-environments", "GET"): [],
    ("api-audit-exports", "GET"): {"rows": [], "older": None},
}

pytestmark = [pytest.mark.django_db, pytest.mark.unhurried]  # long: it begins first


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
            "reset_id": new_id(),
            "secret": secret,
            "approval_id": ask().pk,
            "call_id": called(),
            "publication_id": published.pk,
            "request_id": new_id(),
            "export_id": export.pk,
            "stream_id": new_id(),
            "record_id": new_id(),
            "group_id": new_id(),
            "kind": "agent",
            "tool_id": new_id(),
            "source_id": new_id(),
            "run_id": new_id(),
            "label_id": new_id(),
            "drift_id": new_id(),
            "session_id": new_id(),
            "rate_id": new_id(),
            "test_id": new_id(),
            "guardrail_id": new_id(),
            "grant_id": new_id(),
            "halt_id": new_id(),
            "command_id": new_id(),
            "gateway_id": new_id(),
            "alarm_id": new_id(),
            "rule_id": 1,
            "team_id": 1,
            "deputy_id": 1,
            "webhook_id": 1,
            "number": 1,
            "edit_id": new_id(),
            "hold_id": new_id(),
            "replay_id": new_id(),
            "shadow_id": new_id(),
            "erasure_id": new_id(),
            "filter_id": new_id(),
            "table": "agents",
            "subscription_id": new_id(),
            "key": "main",
            "agent": "main",
            "name": "exec",
            "at": "live",
        }
    )


def changed_rows() -> dict[str, int]:
    """Count what this test's transaction has written so far, by table."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_xact_user_tables")
        found = cursor.fetchall()
    return {name: count for name, count in found if count and name not in SEEN and not name.startswith(WORDS)}


def may(role: str, need: Need) -> bool:
    return need in {ANYBODY, SIGNED_IN} or need in PERMISSIONS.get(role, frozenset())


def verdict(answer: Any) -> str:
    if answer.status_code == 302 and answer["Location"].startswith("/sign-in/?next="):
        return "sign in"
    return {401: "sign in", 403: "refused", 405: "no such method"}.get(answer.status_code, "in")


def test_every_path_has_a_line_in_a_table() -> None:
    names = [entry.name for entry in patterns(get_resolver().url_patterns)]
    known = {*CONSOLE, *API}
    assert [name for name in names if name not in known] == [], "say in tests/doors.py who may open these"
    assert [name for name in known if name not in names] == [], "these paths are gone; take their lines out"
    assert len(names) == len(set(names))


def test_every_path_of_the_agents_door_has_a_line_in_a_table() -> None:
    routes = {(method, route.path) for route in ROUTES for method in route.methods}
    assert routes | {(method, mcp.PATH) for method in mcp.METHODS} == set(AGENTS)


@pytest.mark.parametrize("role", ("", *ROLES))
def test_pages_and_their_fragments_open_for_those_who_may_and_for_nobody_else(
    role: str, request: pytest.FixtureRequest
) -> None:
    seeded = seed(request)
    browser, wrong = browser_of(request, role), {}
    for name, needs in CONSOLE.items():
        for method, need in zip(("GET", "POST"), needs, strict=True):
            wanted = expected(role, need)
            for headers in ({}, {"HX-Request": "true"}):
                if headers and wanted == "in" and role not in FRAGMENTS_FOR:
                    continue  # the same code as for the others who may, and costly
                answer = browser.generic(method, seeded.path(name), headers=headers)
                found = "broken" if answer.status_code >= 500 else verdict(answer)
                if found != wanted:
                    wrong[name, method, *headers] = f"{found}, not {wanted}"
        if name == "account_logout":
            browser = browser_of(request, role)
    assert wrong == {}


@pytest.mark.parametrize("role", ("", "admin"))
def test_pages_know_no_other_method(role: str, world: World, request: pytest.FixtureRequest) -> None:
    browser = browser_of(request, role)
    wrong = {}
    for name in sorted(set(CONSOLE) - OF_LIBRARIES):
        for method in ("PUT", "PATCH", "DELETE"):
            answer = browser.generic(method, world.path(name))
            if verdict(answer) != "no such method":
                wrong[name, method] = answer.status_code
    assert wrong == {}


def test_what_people_and_programs_do_alike_takes_the_same() -> None:
    alike = {
        (name, method): (name.removeprefix("api-"), "GET" if method == "GET" else "POST")
        for name, table in API.items()
        for method in table
    } | TWINS
    differing = {}
    for (name, method), (page, page_method) in alike.items():
        need = CONSOLE.get(page, (NOBODY, NOBODY))[page_method == "POST"]
        if need != NOBODY and API[name][method] != need:
            differing[name, method] = (page, page_method, API[name][method], need)
    assert differing == {}


def test_each_twin_exists() -> None:
    assert {name for name, _ in TWINS} <= set(API)
    assert [page for page, method in TWINS.values() if CONSOLE[page][method == "POST"] == NOBODY] == []


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
    open_doors = []
    for name, table in API.items():
        for method, need in table.items():
            answer = _as_program(method, f"{world.path(name)}?environment={environment.slug}", secret)
            if answer.status_code == 422 and b"`environment` is not part" in answer.content:  # its path takes none
                answer = _as_program(method, world.path(name), secret)
            if (name, method) in ITS_OWN:
                assert answer.json() == ITS_OWN[name, method]
            elif name == "api-notification-choices":  # a person's, in every environment: no bound token has any
                assert answer.status_code == 422
            # Mistakes in what is sent come first.
            elif need != ANYBODY and answer.status_code not in ({404} if method == "GET" else {400, 404}):
                open_doors.append((name, method, answer.status_code))
    assert open_doors == []


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
            assert let_in in {200, 400, 404, 422}, route  # mistakes in what is sent come later
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
