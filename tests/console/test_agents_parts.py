"""An agent's commands, sandbox, rules by provider, history."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.policies.models import Agent, ExecSettings, ProviderPolicy
from apps.policies.services import allowlist_entry_create, record_update

ClientOf = Callable[..., Client]
PAGES = ("exec", "sandbox", "history")


@pytest.mark.parametrize("part", PAGES)
@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_them(
    name: str, part: str, client_of: ClientOf, published: Any, request: pytest.FixtureRequest
) -> None:
    assert client_of(request.getfixturevalue(name)).get(f"/agents/ops-runner/{part}/").status_code == 200


@pytest.mark.parametrize("part", PAGES)
def test_an_outsider_does_not(part: str, client_of: ClientOf, published: Any, outsider: Any) -> None:
    assert client_of(outsider).get(f"/agents/ops-runner/{part}/").status_code == 403


def test_exec_shows_the_list_of_this_agent_and_of_all(
    client_of: ClientOf, published: Any, viewer: Any, admin: Any
) -> None:
    for agent, pattern in (("ops-runner", "/usr/bin/git"), ("*", "/bin/ls"), ("main", "/bin/rm")):
        allowlist_entry_create(published, agent, pattern, by=admin)
    text = client_of(viewer).get("/agents/ops-runner/exec/").content.decode()
    assert "/usr/bin/git" in text
    assert "/bin/ls" in text
    assert "/bin/rm" not in text


def test_exec_changes_the_settings(client_of: ClientOf, published: Any, admin: Any) -> None:
    answer = client_of(admin).post(
        "/agents/ops-runner/exec/", {"version": "1", "mode": "", "security": "allowlist", "ask": "always"}
    )
    assert answer.status_code == 302
    settings = ExecSettings.objects.get(agent__key="ops-runner")
    assert (settings.mode, settings.security, settings.ask) == (None, "allowlist", "always")


def test_exec_makes_settings_where_there_were_none(client_of: ClientOf, published: Any, admin: Any) -> None:
    client_of(admin).post("/agents/main/exec/", {"version": "0", "mode": "deny", "security": "", "ask": ""})
    assert ExecSettings.objects.get(agent__key="main").mode == "deny"


def test_a_mode_beside_its_pair_is_refused(client_of: ClientOf, published: Any, admin: Any) -> None:
    values = {"version": "1", "mode": "ask", "security": "full", "ask": ""}
    assert client_of(admin).post("/agents/ops-runner/exec/", values).status_code == 422
    assert ExecSettings.objects.get(agent__key="ops-runner").security is None


def test_a_stale_change_of_the_settings_shows_both_sides(client_of: ClientOf, published: Any, admin: Any) -> None:
    record_update(ExecSettings.objects.get(agent__key="ops-runner"), {"mode": "deny"}, by=None, expected_version=1)
    values = {"version": "1", "mode": "full", "security": "", "ask": ""}
    answer = client_of(admin).post("/agents/ops-runner/exec/", values)
    assert answer.status_code == 409
    assert "Take theirs" in answer.content.decode()


def test_the_sandbox_lists_are_saved(client_of: ClientOf, published: Any, admin: Any, viewer: Any) -> None:
    values = {"version": "1", "sandbox_allow": "read", "sandbox_also_allow": "", "sandbox_deny": "exec\nwrite"}
    assert client_of(viewer).post("/agents/ops-runner/sandbox/", values).status_code == 403
    assert client_of(admin).post("/agents/ops-runner/sandbox/", values).status_code == 302
    agent = Agent.objects.get(key="ops-runner")
    assert (agent.sandbox_allow, agent.sandbox_also_allow, agent.sandbox_deny) == (["read"], None, ["exec", "write"])


def test_a_stale_sandbox_shows_both_sides(client_of: ClientOf, published: Any, admin: Any) -> None:
    record_update(Agent.objects.get(key="ops-runner"), {"sandbox_deny": ["nodes"]}, by=None, expected_version=1)
    answer = client_of(admin).post("/agents/ops-runner/sandbox/", {"version": "1", "sandbox_deny": "exec"})
    assert answer.status_code == 409


def test_a_rule_by_provider_is_added_changed_and_deleted(client_of: ClientOf, published: Any, admin: Any) -> None:
    browser = client_of(admin)
    browser.post("/agents/main/providers/new/", {"key": "openai/gpt-5", "profile": "*inherit", "deny": "exec"})
    rule = ProviderPolicy.objects.get(key="openai/gpt-5")
    assert (rule.agent and rule.agent.key, rule.deny, rule.allow) == ("main", ["exec"], None)
    page = f"/agents/main/providers/{rule.pk}/"
    assert "openai/gpt-5" in browser.get(page).content.decode()
    browser.post(page, {"version": "1", "key": "openai/gpt-5", "profile": "minimal", "also_allow": "read"})
    rule.refresh_from_db()
    assert (rule.profile, rule.also_allow, rule.deny) == ("minimal", ["read"], None)
    assert browser.post(page, {"version": "1", "key": "openai", "deny": "exec"}).status_code == 409
    assert browser.get(f"{page}delete/").status_code == 405
    browser.post(f"{page}delete/", {"version": "2"})
    assert not ProviderPolicy.objects.filter(pk=rule.pk).exists()


def test_a_second_rule_for_one_provider_is_refused(client_of: ClientOf, published: Any, admin: Any) -> None:
    answer = client_of(admin).post("/agents/ops-runner/providers/new/", {"key": "openai", "deny": "exec"})
    assert answer.status_code == 422
    assert ProviderPolicy.objects.count() == 1


def test_a_rule_is_reached_through_its_own_agent_only(client_of: ClientOf, published: Any, admin: Any) -> None:
    rule = ProviderPolicy.objects.get()
    assert client_of(admin).get(f"/agents/main/providers/{rule.pk}/").status_code == 404


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_nobody_else_changes_rules(
    name: str, client_of: ClientOf, published: Any, request: pytest.FixtureRequest
) -> None:
    browser, rule = client_of(request.getfixturevalue(name)), ProviderPolicy.objects.get()
    page = f"/agents/ops-runner/providers/{rule.pk}/"
    asked = [browser.post(each, {"key": "x"}) for each in ("/agents/main/providers/new/", page, f"{page}delete/")]
    assert {answer.status_code for answer in asked} == {403}


def test_history_says_who_changed_what(client_of: ClientOf, published: Any, admin: Any, viewer: Any) -> None:
    agent = Agent.objects.get(key="ops-runner")
    record_update(agent, {"deny": ["browser", "<b>"]}, by=admin, expected_version=1)
    answer = client_of(viewer).get("/agents/ops-runner/history/")
    entry = answer.context["entries"][0]
    assert (entry.actor, entry.version) == ("admin", 2)
    assert [(change.before, change.after) for change in entry.fields] == [(("group:media",), ("<b>",))]
    assert "<b></span>" not in answer.content.decode()
    assert "&lt;b&gt;" in answer.content.decode()
