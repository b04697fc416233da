"""Suggestions from use: what is called unused was not called, and what is proposed allows each recorded call."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.audit.agent_tools import AgentTools
from apps.audit.following import follow_near
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.contexts import classes_of, context_classes, context_of
from apps.firewall.engine.decide import allowed_tools
from apps.policies.models import Agent
from apps.policies.selectors import draft_snapshot
from apps.policies.suggesting import CALLS_LEAST, _use, narrower, uses

ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}
PAGE = "/suggestions/main/"


@pytest.fixture
def busy(published: Any, called: Any, empty_ledger: None) -> Any:
    """An environment whose agent `main` reads and writes, and `ops-runner` has called once."""
    for number in range(CALLS_LEAST):
        called(agent="main", tool="write" if number % 3 else "read")
    called(agent="ops-runner", tool="read")
    follow_near()
    return published


def use_of(environment: Any, key: str, days: int = 30, ahead: int = 0) -> Any:
    agent = Agent.objects.select_related("environment").get(environment=environment, key=key)
    return uses(environment, [agent], days=days, at=timezone.now() + timedelta(days=ahead))[0]


def test_what_is_unused_is_allowed_and_was_not_called(busy: Any) -> None:
    use = use_of(busy, "main")
    assert (set(use.used), use.calls) == ({"read", "write"}, CALLS_LEAST)
    allowed = allowed_tools(draft_snapshot(busy), CallContext(agent_id="main"))
    assert set(use.unused) == set(allowed) - {"read", "write"}


def test_calls_of_another_agent_environment_or_time_do_not_count(busy: Any, called: Any) -> None:
    called(agent="main", tool="edit", environment="elsewhere")
    assert "edit" in use_of(busy, "main").unused
    assert set(use_of(busy, "ops-runner").used) == {"read"}
    assert use_of(busy, "main", days=7, ahead=8).used == {}


def test_a_tool_that_was_called_once_is_not_unused(busy: Any, called: Any) -> None:
    assert "edit" in use_of(busy, "main").unused
    called(agent="main", tool="edit")
    assert "edit" not in use_of(busy, "main").unused


def test_with_few_calls_nothing_is_suggested(busy: Any, client_of: ClientOf, auditor: Any) -> None:
    use = use_of(busy, "ops-runner")
    assert (use.is_enough, narrower(use)) == (False, None)
    assert "Not enough calls to say." in client_of(auditor).get("/suggestions/ops-runner/").content.decode()


NAMES = ["read", "write", "edit", "exec", "process", "message", "web_fetch", "gateway", "cron"]
ENTRIES = ["read", "write", "group:fs", "exec", "message", "*", "web_*"]
TOOLS = st.sets(st.sampled_from(NAMES))
LISTS = st.none() | st.lists(st.sampled_from(ENTRIES), max_size=3)


@given(called_tools=TOOLS, allow=LISTS, also=LISTS, deny=LISTS, profile=st.sampled_from([None, "coding", "minimal"]))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.slow
def test_each_recorded_call_stays_allowed_as_before_and_nothing_opens(
    draft: Any, called_tools: set[str], allow: Any, also: Any, deny: Any, profile: str | None
) -> None:
    agent = Agent.objects.select_related("environment").get(environment=draft, key="main")
    agent.allow, agent.also_allow, agent.deny, agent.profile = allow, None if allow else also, deny, profile
    agent.save()
    now = timezone.now()
    use = _use(draft_snapshot(draft), agent, [AgentTools(CALLS_LEAST, dict.fromkeys(called_tools, now))])
    found = narrower(use)
    if found is None:
        return
    assert found.lost
    taken: set[str] = set()
    for each in context_classes(classes_of(found.before, found.after)):
        context = context_of(each)
        before, after = set(allowed_tools(found.before, context)), set(allowed_tools(found.after, context))
        assert after <= before
        assert before & called_tools == after & called_tools
        taken |= before - after
    assert taken == set(found.lost)
    setattr(agent, found.member, list(found.entries))
    agent.save()
    assert draft_snapshot(draft).digest == found.after.digest


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer", "outsider"])
def test_who_reads_the_ledger_sees_them(
    name: str, busy: Any, client_of: ClientOf, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    wanted = 200 if name in {"admin", "operator", "auditor"} else 403
    for path in ("/suggestions/", PAGE, f"{PAGE}effect/"):
        assert browser.get(path).status_code == wanted
    text = browser.get(f"{PAGE}effect/", headers=HTMX).content.decode()
    assert ("Put into the draft" in text) is (name == "admin")


def test_the_list_names_what_is_never_called(busy: Any, client_of: ClientOf, auditor: Any) -> None:
    rows = {row.use.agent.key: row for row in client_of(auditor).get("/suggestions/").context["rows"]}
    assert rows["main"].names == use_of(busy, "main").unused[:6]
    assert not rows["ops-runner"].use.is_enough


def test_one_looks_back_7_30_or_90_days(busy: Any, client_of: ClientOf, auditor: Any) -> None:
    browser = client_of(auditor)
    found = [browser.get(f"/suggestions/?days={days}").context["days"] for days in ("7", "30", "90", "8", "x", "")]
    assert found == [7, 30, 90, 30, 30, 30]
    assert browser.get("/suggestions/?page=99").context["page"] == 1


def test_a_suggestion_is_put_into_the_draft_as_it_was_shown(busy: Any, client_of: ClientOf, admin: Any) -> None:
    browser = client_of(admin)
    shown = browser.get(f"{PAGE}effect/", headers=HTMX)
    suggestion = shown.context["suggestion"]
    assert 'id="suggestion"' in shown.content.decode()
    agent = Agent.objects.get(key="main")
    sent = {"version": agent.version, "days": "30", "suggestion": suggestion.key}
    assert browser.post(f"{PAGE}take/", sent).headers["Location"] == "/agents/main/"
    agent.refresh_from_db()
    assert getattr(agent, suggestion.member) == list(suggestion.entries)
    left = set(allowed_tools(draft_snapshot(busy), CallContext(agent_id="main")))
    assert left == {"read", "write"}


def test_calls_that_came_since_make_it_a_conflict(busy: Any, called: Any, client_of: ClientOf, admin: Any) -> None:
    browser = client_of(admin)
    suggestion = browser.get(f"{PAGE}effect/", headers=HTMX).context["suggestion"]
    called(agent="main", tool="edit")
    agent = Agent.objects.get(key="main")
    answer = browser.post(f"{PAGE}take/", {"version": agent.version, "days": "30", "suggestion": suggestion.key})
    assert answer.status_code == 409
    assert "nothing was saved" in answer.content.decode()
    agent.refresh_from_db()
    assert agent.version == 1


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_nobody_else_takes_one(name: str, busy: Any, client_of: ClientOf, request: pytest.FixtureRequest) -> None:
    browser = client_of(request.getfixturevalue(name))
    assert browser.post(f"{PAGE}take/", {"version": "1"}).status_code == 403
    assert client_of(request.getfixturevalue(name)).get(f"{PAGE}take/").status_code == 405


def test_an_agent_that_is_not_there_has_none(busy: Any, client_of: ClientOf, auditor: Any) -> None:
    assert client_of(auditor).get("/suggestions/nobody/").status_code == 404


def test_the_pages_ask_few_questions(
    busy: Any, client_of: ClientOf, auditor: Any, django_assert_max_num_queries: Any
) -> None:
    Agent.objects.bulk_create(Agent(environment=busy, key=f"many-{number}", position=9) for number in range(200))
    browser = client_of(auditor)
    browser.get("/suggestions/")
    for path in ("/suggestions/", PAGE):
        with django_assert_max_num_queries(25):
            assert browser.get(path).status_code == 200


def test_programs_read_them(busy: Any, token: Any) -> None:
    _row, secret = token("audit_read", "policy_read")
    headers = {"Authorization": f"Bearer {secret}"}
    page = Client().get("/api/v1/suggestions?days=7", headers=headers).json()
    rows = {row["agent"]: row for row in page["results"]}
    assert (page["next"], page["previous"]) == (None, None)
    use = use_of(busy, "main")
    assert rows["main"]["unused"] == list(use.unused)
    one = Client().get("/api/v1/suggestions/main", headers=headers).json()
    found = narrower(use)
    assert found is not None
    assert one["narrower"] == {"list": found.member, "entries": list(found.entries), "lost": list(found.lost)}
    assert Client().get("/api/v1/suggestions/ops-runner", headers=headers).json()["narrower"] is None
    assert Client().get("/api/v1/suggestions/nobody", headers=headers).status_code == 404
    first = Client().get("/api/v1/suggestions?limit=1", headers=headers).json()
    assert [row["agent"] for row in first["results"]] == list(rows)[:1]
    behind = Client().get(first["next"], headers=headers).json()["results"]
    assert [row["agent"] for row in behind] == list(rows)[1:2]
    assert Client().get("/api/v1/suggestions?days=5", headers=headers).status_code in {400, 422}
    _row, secret = token("policy_read", "explain")
    refused = Client().get("/api/v1/suggestions", headers={"Authorization": f"Bearer {secret}"})
    assert refused.status_code == 403
