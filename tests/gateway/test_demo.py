"""Removing the demo: what it brought and its scripted agents left goes, and nothing that people made theirs."""

from io import StringIO
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.utils import timezone

from apps.accounts.errors import PermissionDeniedError
from apps.accounts.models import ApiToken
from apps.approvals.selectors import approvals_pending
from apps.audit.models import Entry
from apps.gateway.demo import AGENTS_NAME, demo_found, demo_remove
from apps.policies.models import DRAFT_MODELS
from apps.policies.selectors import agent_get, agents, groups, live_publication
from apps.policies.services import demo_import, publish, record_update, sender_rule_create
from apps.registry.models import Plugin, Tool
from apps.registry.selectors import plugin_find
from apps.registry.services import environment_default, plugin_set_enabled
from apps.runs.models import ToolRun
from apps.sessions.models import Session
from tests.gateway.server import Server


def left(environment: Any) -> int:
    return sum(model._default_manager.filter(environment=environment).count() for model in DRAFT_MODELS)


def test_all_of_an_untouched_demo_goes(environment: Any, admin: Any) -> None:
    core = Tool.objects.filter(environment=environment).count()
    demo_import(environment, by=admin)

    gone = demo_remove(environment, by=admin, at=timezone.now())

    assert gone.goes["agent"] >= 6 and gone.goes["tool"] >= 10 and gone.stays == ()
    assert left(environment) == 0
    assert Tool.objects.filter(environment=environment).count() == core
    assert not Plugin.objects.filter(environment=environment).exists()


def test_what_was_changed_stays_with_what_it_stands_in(environment: Any, admin: Any) -> None:
    demo_import(environment, by=admin)
    inner = groups(environment).exclude(parent=None).first() or groups(environment).first()
    assert inner is not None
    record_update(inner, {"deny": ["browser"]}, by=admin, expected_version=inner.version)

    gone = demo_remove(environment, by=admin, at=timezone.now())

    kept = {(each.kind, each.why) for each in gone.stays}
    assert ("group", "changed") in kept and ("channel", "holds") in kept
    assert [record.pk for record in groups(environment) if record.pk == inner.pk]
    assert not agents(environment).exists()


def test_what_somebody_added_keeps_its_agent(environment: Any, admin: Any) -> None:
    demo_import(environment, by=admin)
    sender_rule_create(environment, "id:mine", by=admin, agent=agent_get(environment, "main"), deny=["exec"])

    gone = demo_remove(environment, by=admin, at=timezone.now())

    assert [agent.key for agent in agents(environment)] == ["main"]
    assert ("agent", "holds") in {(each.kind, each.why) for each in gone.stays}


def test_a_plugin_that_was_switched_off_stays(environment: Any, admin: Any) -> None:
    demo_import(environment, by=admin)
    plugin = plugin_find(environment, "freight-board")
    assert plugin is not None
    plugin_set_enabled(plugin, is_enabled=False, by=admin)

    demo_remove(environment, by=admin, at=timezone.now())

    assert [each.key for each in Plugin.objects.filter(environment=environment)] == ["freight-board"]


def test_publications_and_the_ledger_stay_and_are_named(environment: Any, admin: Any) -> None:
    demo_import(environment, by=admin)
    publish(environment, by=admin, message="the demo", expected_live="")
    before = Entry.objects.filter(environment=environment.slug).count()

    gone = demo_remove(environment, by=admin, at=timezone.now())

    assert gone.live == "v1"
    assert live_publication(environment) is not None
    entries = Entry.objects.filter(environment=environment.slug)
    assert entries.count() == before + 1
    told = entries.order_by("-at", "-id").first()
    assert told is not None and told.changes is not None
    assert (told.changes["action"], told.changes["kind"]) == ("remove", "demo")


def test_a_second_time_changes_and_tells_nothing(environment: Any, admin: Any) -> None:
    demo_import(environment, by=admin)
    demo_remove(environment, by=admin, at=timezone.now())
    before = Entry.objects.filter(environment=environment.slug).count()

    assert not demo_remove(environment, by=admin, at=timezone.now()).is_here
    assert Entry.objects.filter(environment=environment.slug).count() == before


def test_who_may_not_change_policies_removes_nothing(environment: Any, admin: Any, operator: Any) -> None:
    demo_import(environment, by=admin)
    with pytest.raises(PermissionDeniedError):
        demo_remove(environment, by=operator, at=timezone.now())
    assert agents(environment).exists()


@pytest.mark.slow
def test_what_the_scripted_agents_left_goes_and_their_token_opens_nothing(server: Server) -> None:
    call_command(
        "demo_agent", "--url", server.url, "--agent", "bot", "--pause", "0", "--patience", "0", stdout=StringIO()
    )
    environment = environment_default()
    found = demo_found(environment)
    assert found.goes["token"] == 1 and found.goes["run"] >= 1 and found.goes["waiting"] >= 1
    calls = Entry.objects.filter(environment=environment.slug, call_id__isnull=False).count()

    out = StringIO()
    call_command("demo", "remove", stdout=out)

    assert "removed: " in out.getvalue() and "1 token" in out.getvalue()
    assert not ApiToken.objects.filter(name=AGENTS_NAME).exists()
    assert not ToolRun.objects.exists() and not approvals_pending(environment).exists()
    assert not Session.objects.filter(key="agent:bot:main").exists()
    assert Entry.objects.filter(environment=environment.slug, call_id__isnull=False).count() >= calls


@pytest.mark.slow
def test_sessions_in_which_others_called_stay(server: Server, agent: httpx.Client) -> None:
    call_command(
        "demo_agent", "--url", server.url, "--agent", "bot", "--pause", "0", "--patience", "0", stdout=StringIO()
    )
    body = {"agent": "bot", "session": "agent:bot:main", "tool": "read", "params": {"path": "notes/today.md"}}
    agent.post("/api/v1/calls", json=body)

    demo_remove(environment_default(), by=None, at=timezone.now())

    assert Session.objects.filter(key="agent:bot:main").exists()


def test_programs_see_it_and_remove_it(client: Any, token: Any, environment: Any, admin: Any) -> None:
    demo_import(environment, by=admin)
    _, secret = token("policy_read", "policy_write")
    headers = {"authorization": f"Bearer {secret}"}
    assert client.get("/api/v1/demo", headers=headers).json()["goes"]["agent"] >= 6
    assert client.delete("/api/v1/demo", headers=headers).json()["goes"]["agent"] >= 6
    assert client.get("/api/v1/demo", headers=headers).json() == {"goes": {}, "stays": [], "live": ""}


def test_the_command_says_what_it_would_do(environment: Any, admin: Any) -> None:
    demo_import(environment, by=admin)
    out = StringIO()
    call_command("demo", "show", stdout=out)
    assert out.getvalue().startswith("goes: ")
    assert agents(environment).exists()
