"""A token that is bound to agents, at every door: nothing of another agent is told to it, and nothing is changed by it.

Which paths it reaches at all stands in doors.py (`BOUND`); whatever has no line there is refused to it.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.access import OF_AGENTS, Permission, permissions_of
from apps.accounts.models import ApiToken
from apps.approvals.drafts import GrantScope
from apps.approvals.models import Approval, Grant
from apps.approvals.services import approval_resolve
from apps.audit.exporting import export_run
from apps.audit.models import Export
from apps.halts.models import Halt
from apps.halts.services import halt_place
from apps.sessions.models import Session
from tests.console.conftest import ask, called  # noqa: F401 - fixtures
from tests.doors import ANYBODY, API, BOUND, COMMON, THEIRS
from tests.runs.making import run_made
from tests.seeded import Seeded, seed
from tests.sessions.conftest import take_step

STRANGER = "ghost-writer"
OTHERS = ("main", "bot", "clerk", "ops-runner")
# What is sent where a path takes a body, about somebody else's.
BODIES: dict[str, Any] = {
    "api-explain": {"tool": "exec", "context": {"agent_id": "main"}},
    "api-halts": {"scope": "agent", "name": "main", "reason": "not mine"},
    "api-approval-resolve": {"decision": "deny", "reason": "not mine"},
    "api-grant-narrow": {"arg_pattern": "^x$"},
    "api-session-budgets": {"max_calls": 1},
    "api-session-end": {"reason": "not mine"},
}
QUESTIONS = {"api-halt-effect": "?scope=agent&name=main", "api-approval-coverage": "?agents=every"}


@pytest.fixture
def seeded(request: pytest.FixtureRequest) -> Seeded:
    return seed(request)


def ask_as(secret: str, method: str, path: str, body: Any = None) -> Any:
    text = "" if body is None else json.dumps(body)
    headers = {"Authorization": f"Bearer {secret}"}
    return Client(raise_request_exception=False).generic(method, path, text, "application/json", headers=headers)


def texts_of(answer: Any) -> str:
    if answer.streaming:
        return b"".join(answer.streaming_content).decode()
    return str(answer.content.decode())


def values_in(text: str) -> Iterator[str]:
    """Give each text in the lines of JSON of an answer, whatever is around it."""
    for line in text.splitlines() or [text]:
        try:
            yield from _leaves(json.loads(line))
        except ValueError:
            yield from line.split(",")


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    elif isinstance(value, str):
        yield value


def leaks(answer: Any) -> list[str]:
    """Name what an answer tells of agents that are not the token's."""
    return [value for value in values_in(texts_of(answer)) if value in OTHERS or value.startswith("agent:")]


def every_row() -> tuple[Any, ...]:
    """Say how everything stands that such a token might change."""
    return (
        list(Approval.objects.order_by("pk").values_list("pk", "state")),
        list(Grant.objects.order_by("pk").values_list("pk", "revoked_at")),
        list(Halt.objects.order_by("pk").values_list("pk", "state")),
        list(Session.objects.order_by("pk").values_list("pk", "ended_at", "max_calls")),
        list(Export.objects.exclude(requested_token=None).order_by("pk").values_list("pk", "state")),
    )


def test_a_token_bound_to_agents_learns_nothing_of_others_and_changes_nothing_at_any_path(
    seeded: Seeded, token: Callable[..., Any], request: pytest.FixtureRequest
) -> None:
    seeded.own["api-approval"] = {"approval_id": request.getfixturevalue("ask")(agent="clerk").pk}
    row, secret = token(*OF_AGENTS)
    ApiToken.objects.filter(pk=row.pk).update(agents=[STRANGER], scopes=sorted(Permission), rate_per_minute=10**6)
    seeded.arguments.setdefault("agent", "main")
    before, wrong = every_row(), {}
    for name, table in API.items():
        for method, need in table.items():
            path = seeded.path(name).partition("?")[0] + QUESTIONS.get(name, "")
            if name == "api-audit-exports" and method == "POST":
                continue  # what it exports is looked at below
            body = BODIES.get(name, {"ids": [str(seeded.arguments["approval_id"])], "decision": "deny"})
            answer = ask_as(secret, method, path, None if method == "GET" else body)
            entry = BOUND.get((name, method))
            if answer.status_code >= 500:
                wrong[name, method] = "broken"
            elif entry is None and need != ANYBODY and answer.status_code != 403:
                wrong[name, method] = f"{answer.status_code}, but it has no line in BOUND"
            elif entry == THEIRS and (answer.status_code == 429 or leaks(answer)):
                wrong[name, method] = f"{answer.status_code} {leaks(answer)[:3]}"
            elif entry == COMMON and answer.status_code != 200:
                wrong[name, method] = f"{answer.status_code}, though it belongs to no agent"
    assert wrong == {}
    assert every_row() == before


def test_each_path_that_a_bound_token_reaches_is_one_that_there_is() -> None:
    assert [each for each in BOUND if each[0] not in API or each[1] not in API[each[0]]] == []


def test_an_export_of_a_bound_token_holds_what_is_its_agents_alone(
    seeded: Seeded, token: Callable[..., Any], request: pytest.FixtureRequest
) -> None:
    mine = request.getfixturevalue("called")(agent="own-one")
    secret = token("audit_read", "audit_export", agents=["Own-One"])[1]

    made = ask_as(secret, "POST", "/api/v1/audit/exports", {"format": "jsonl", "filters": {}})
    export = Export.objects.get(requested_token__isnull=False)
    export_run(export.pk, at=timezone.now())
    taken = ask_as(secret, "GET", f"/api/v1/audit/exports/{made.json()['id']}/file")
    streamed = ask_as(secret, "GET", "/api/v1/audit/export")
    asked = ask_as(secret, "POST", "/api/v1/audit/exports", {"format": "jsonl", "filters": {"agent": "main"}})

    for answer in (taken, streamed):
        lines = [json.loads(line) for line in texts_of(answer).splitlines()]
        assert {line["agent"] for line in lines} == {"own-one"}
        assert {line.get("call_id") for line in lines if line.get("call_id")}
    assert (made.status_code, asked.status_code) == (202, 403)
    assert mine


def test_a_bound_token_sees_and_changes_what_is_its_agents_own(
    environment: Any,
    token: Callable[..., Any],
    operator: Any,
    ask: Callable[..., Any],  # noqa: F811
    called: Callable[..., Any],  # noqa: F811
) -> None:
    at = timezone.now()
    grant = Grant.objects.get(
        approval=approval_resolve(ask(agent="bot"), decision="allow-always", by=operator, at=at, scope=GrantScope())
    )
    waiting, run = ask(agent="bot", command="ls"), run_made(environment, agent="bot")
    take_step(environment.slug, "main", run="turn-7", at=at, channel="telegram")
    session, call_id = Session.objects.get(key="agent:bot:main"), called(agent="bot")
    row, secret = token(*OF_AGENTS)
    ApiToken.objects.filter(pk=row.pk).update(agents=["Bot"])  # as an earlier version stored it

    def found(path: str) -> Any:
        answer = ask_as(secret, "GET", f"/api/v1/{path}")
        assert answer.status_code == 200, (path, answer.content)
        return answer.json()

    assert [each["agent"] for each in found("approvals")] == ["bot"]
    assert [each["agent"] for each in found("grants")] == ["bot"]
    assert [each["agent"] for each in found("sessions")["rows"]] == ["bot"]
    assert {each["agent"] for each in found("audit/calls")["rows"]} == {"bot"}
    assert [each["id"] for each in found("tool-search/runs")["rows"]] == [run.shown_id]
    assert {each["agent"] for each in found("audit/entries")["rows"]} == {"bot"}
    assert found("halts/names") == {"agent": ["bot"], "channel": [], "tool": []}
    assert call_id and session
    placed = ask_as(secret, "POST", "/api/v1/halts", {"scope": "agent", "name": "bot", "reason": "mine"})
    lifted = ask_as(secret, "POST", f"/api/v1/halts/{placed.json()['id']}/lift", {})
    revoked = ask_as(secret, "POST", f"/api/v1/grants/{grant.shown_id}/revoke", {})
    answered = ask_as(secret, "POST", f"/api/v1/approvals/{waiting.shown_id}/resolve", {"decision": "deny"})
    assert [each.status_code for each in (placed, lifted, revoked, answered)] == [201, 200, 200, 200]


@pytest.mark.parametrize(
    "wanted",
    [
        {"scope": "environment"},
        {"scope": "tool", "name": "exec"},
        {"scope": "channel", "name": "telegram"},
        {"scope": "agent", "name": "main"},
    ],
)
def test_a_bound_token_stops_no_more_than_its_agents(
    environment: Any, token: Callable[..., Any], wanted: dict[str, str]
) -> None:
    secret = token("calls_stop", agents=["bot"])[1]

    assert ask_as(secret, "POST", "/api/v1/halts", {**wanted, "reason": "all"}).status_code == 403
    assert not Halt.objects.exists()


def test_a_bound_token_allows_nothing_for_every_agent(
    environment: Any,
    token: Callable[..., Any],
    ask: Callable[..., Any],  # noqa: F811
) -> None:
    secret = token("approvals_read", "approvals_resolve", agents=["bot"])[1]
    waiting = ask(agent="bot")

    scope = {"arg_pattern": "", "every_agent": True}
    answer = ask_as(
        secret, "POST", f"/api/v1/approvals/{waiting.shown_id}/resolve", {"decision": "allow-always", "scope": scope}
    )

    assert (answer.status_code, Grant.objects.count()) == (403, 0)


def test_a_stop_that_somebody_else_placed_is_lifted_by_no_bound_token(environment: Any, token: Any, admin: Any) -> None:
    halt = halt_place(environment, scope="environment", reason="all", by=admin, at=timezone.now())
    secret = token("calls_stop", agents=["bot"])[1]

    for step in ("ask", "lift"):
        assert ask_as(secret, "POST", f"/api/v1/halts/{halt.shown_id}/{step}", {}).status_code == 404


def test_a_bound_token_has_no_permission_that_concerns_every_agent(token: Callable[..., Any]) -> None:
    row = token("policy_read")[0]
    row.agents, row.scopes = ["bot"], sorted(Permission)

    assert permissions_of(row) == OF_AGENTS
    row.agents = ["!!!"]  # no agent can have this name: bound all the same
    assert permissions_of(row) == OF_AGENTS
