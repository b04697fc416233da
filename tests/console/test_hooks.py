"""Hooks at the console: the list, one hook with its failures, the form, trying one, the plugin's page."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.firewall.identifiers import new_id
from apps.registry.models import Environment, Hook, Plugin
from apps.registry.selectors import hook_policy
from apps.registry.services import FailureDraft, hook_create, hook_failures_record, hook_save, plugin_save
from apps.registry.source_settings import source_secrets
from tests.firewall.runtime.hook_runners.packages import installed
from tests.wider_pages import post_wider

pytestmark = pytest.mark.django_db
ClientOf = Callable[..., Client]
KEY = "a-key-that-both-sides-know"
WEBHOOK = {"url": "https://hooks.example/ask", "signing": {"algorithm": "hmac-sha256", "key": KEY}}
FORM = {
    "name": "guard",
    "plugin": "acme",
    "event": "before_tool_call",
    "priority": "5",
    "timeout_ms": "",
    "tools": "write\ngit_*",
    "is_enabled": "on",
    "set_url": "https://hooks.example/ask",
    "set_signing_algorithm": "hmac-sha256",
    "set_signing_key": KEY,
}


@pytest.fixture
def plugin(environment: Environment) -> Plugin:
    return plugin_save(environment, key="acme", name="Acme")


@pytest.fixture
def gate(plugin: Plugin) -> Hook:
    return hook_create(plugin, name="gate", event="before_tool_call", kind="webhook", settings=WEBHOOK)


@pytest.fixture
def failed(gate: Hook) -> Hook:
    at = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
    draft = FailureDraft(hook_id=gate.pk, at=at, kind="slow", cause="its server did not answer", call_id=new_id())
    hook_failures_record([draft, FailureDraft(hook_id=gate.pk, at=at, kind="raised", cause="x", said="<b>\u202ehi")])
    return gate


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_them(name: str, client_of: ClientOf, failed: Hook, request: pytest.FixtureRequest) -> None:
    browser = client_of(request.getfixturevalue(name))
    for path in ("/hooks/", "/hooks/gate/", "/plugins/acme/"):
        text = browser.get(path).content.decode()
        assert "Server too slow" in text
        assert "<b>\u202e" not in text
        assert KEY not in text


@pytest.mark.parametrize("path", ["new/", "edit/gate/", "remove/gate/"])
def test_changing_them_takes_the_right_to_publish(path: str, client_of: ClientOf, gate: Hook, operator: Any) -> None:
    browser = client_of(operator)
    assert browser.get(f"/hook/{path}").status_code == 403
    assert browser.post(f"/hook/{path}", {}).status_code == 403
    assert "/hook/new/" not in browser.get("/hooks/").content.decode()


@pytest.mark.parametrize("path", ["enabled/gate/", "trial/gate/"])
def test_get_changes_nothing(path: str, client_of: ClientOf, gate: Hook, admin: Any, operator: Any) -> None:
    assert client_of(admin).get(f"/hook/{path}").status_code == 405
    assert client_of(operator).post(f"/hook/{path}", {}).status_code == 403


def test_what_does_not_exist_is_not_found(client_of: ClientOf, environment: Environment, admin: Any) -> None:
    assert client_of(admin).get("/hooks/nothing/").status_code == 404


def test_without_hooks_it_says_so(client_of: ClientOf, plugin: Plugin, viewer: Any) -> None:
    browser = client_of(viewer)
    assert "No hooks yet" in browser.get("/hooks/").content.decode()
    assert "no call is held up by it" in browser.get("/plugins/acme/").content.decode()


def test_without_a_plugin_the_form_says_what_is_missing(
    client_of: ClientOf, environment: Environment, admin: Any
) -> None:
    assert "No plugin yet" in client_of(admin).get("/hook/new/").content.decode()


def test_a_webhook_is_added_by_the_form(client_of: ClientOf, plugin: Plugin, admin: Any) -> None:
    browser = client_of(admin)
    answer = browser.post("/hook/new/?kind=webhook", FORM)
    assert (answer.status_code, answer["Location"]) == (302, "/hooks/guard/")
    hook = Hook.objects.get(name="guard")
    assert (hook.tools, hook.priority, hook.timeout_ms, hook.plugin) == (["write", "git_*"], 5, None, plugin)
    assert source_secrets(hook) == {"signing.key": KEY}


def test_the_config_of_a_plugin_is_edited_as_json_and_its_secrets_stay(
    client_of: ClientOf, plugin: Plugin, admin: Any
) -> None:
    browser = client_of(admin)
    given = {name: value for name, value in FORM.items() if not name.startswith("set_")}
    given |= {"set_entry_point": "acme-hooks:hooks", "set_config": '{"limit": 3, "token": "made-up"}'}
    wrong = browser.post("/hook/new/?kind=python_hook", given | {"set_config": "{limit: 3}"})
    assert wrong.status_code == 422 and "set_config" in wrong.context["form"].errors
    assert browser.post("/hook/new/?kind=python_hook", given).status_code == 302

    assert "Its code is not pinned." in browser.get("/hooks/guard/").content.decode()
    page = browser.get("/hook/edit/guard/")
    assert "Its code is not pinned." in page.content.decode()
    shown = page.context["form"]["set_config"].value()
    assert json.loads(shown) == {"limit": 3, "token": {"$secret": "config.token"}}
    assert "made-up" not in page.content.decode()
    again = {field.html_name: field.value() or "" for field in page.context["form"] if field.name != "is_enabled"}
    saved = browser.post("/hook/edit/guard/", again | {"set_config": shown.replace("3", "4"), "is_enabled": "on"})
    assert saved.status_code == 302
    hook = Hook.objects.get(name="guard")
    assert (hook.settings["config"]["limit"], source_secrets(hook)) == (4, {"config.token": "made-up"})


def test_mistakes_stand_at_their_fields(client_of: ClientOf, plugin: Plugin, admin: Any) -> None:
    wrong = FORM | {"set_signing_key": "short", "timeout_ms": "9000000", "set_url": "ftp://x"}
    answer = client_of(admin).post("/hook/new/?kind=webhook", wrong)
    assert answer.status_code == 422
    assert not Hook.objects.exists()
    assert answer.context["form"].errors


def test_a_mask_that_stays_keeps_its_secret(client_of: ClientOf, gate: Hook, admin: Any) -> None:
    browser = client_of(admin)
    page = browser.get("/hook/edit/gate/")
    form = page.context["form"]
    given = {field.html_name: field.value() or "" for field in form if field.name != "is_enabled"}
    answer = browser.post("/hook/edit/gate/", given | {"priority": "3", "is_enabled": "on"})
    assert answer.status_code == 302
    gate.refresh_from_db()
    assert (gate.priority, source_secrets(gate)) == (3, {"signing.key": KEY})


def test_a_later_save_is_refused_with_an_older_view(client_of: ClientOf, gate: Hook, admin: Any) -> None:
    hook_save(gate, priority=9)
    given = {name: value for name, value in FORM.items() if name not in {"name", "plugin", "event"}}
    answer = client_of(admin).post("/hook/edit/gate/", given | {"version": "1"})
    assert answer.status_code == 409
    assert Hook.objects.get().priority == 9


def test_it_is_switched_off_and_removed(client_of: ClientOf, gate: Hook, admin: Any) -> None:
    browser = client_of(admin)
    post_wider(browser, "/hook/enabled/gate/", {"enabled": "no", "version": "1"})
    assert not Hook.objects.get().is_enabled
    assert browser.post("/hook/enabled/gate/", {"enabled": "yes", "version": "1"}).status_code == 409
    assert browser.post("/hook/remove/gate/", {"version": "2"}).status_code == 302
    assert not Hook.objects.exists()


@pytest.mark.parametrize("version", ["", "²", "9" * 5000])
def test_without_a_version_that_was_seen_it_stays(client_of: ClientOf, gate: Hook, admin: Any, version: str) -> None:
    assert client_of(admin).post("/hook/remove/gate/", {"version": version}).status_code == 409
    assert Hook.objects.exists()


def test_it_is_tried_with_a_made_up_call(client_of: ClientOf, plugin: Plugin, admin: Any, tmp_path: Path) -> None:
    code = "def before_tool_call(event): return {'block': event['context']['trial'], 'blockReason': event['toolName']}"
    place = installed(tmp_path, code)
    settings = {"entry_point": place.entry_point, "scan_directories": list(place.folders)}
    hook_create(plugin, name="tried", event="before_tool_call", kind="python_hook", settings=settings)
    browser = client_of(admin)

    answer = browser.post("/hook/trial/tried/", {"tool": "read", "params": '{"path": "a"}'})
    assert answer.context["trial"].answer == {"block": True, "blockReason": "read"}
    (tmp_path / "acme_hooks.py").write_text("def before_tool_call(event): raise ValueError('no')")
    assert "Raised an error" in browser.post("/hook/trial/tried/", {"tool": "read", "params": ""}).content.decode()
    assert browser.post("/hook/trial/tried/", {"tool": "read", "params": "["}).status_code == 422


def test_pages_cost_the_same_however_many_there_are(
    client_of: ClientOf, failed: Hook, plugin: Plugin, admin: Any, django_assert_num_queries: Any
) -> None:
    browser = client_of(admin)
    counts = []
    for number in range(2):
        for path in ("/hooks/", "/plugins/acme/"):
            from django.db import connection
            from django.test.utils import CaptureQueriesContext

            with CaptureQueriesContext(connection) as queries:
                browser.get(path)
            counts.append((path, len(queries)))
        for each in range(5):
            name = f"h{number}-{each}"
            made = hook_create(plugin, name=name, event="after_tool_call", kind="webhook", settings=WEBHOOK)
            at = datetime(2026, 11, 20, 13, each, tzinfo=UTC)
            hook_failures_record([FailureDraft(hook_id=made.pk, at=at, kind="slow", cause="late")])
    assert counts[:2] == counts[2:]


def test_the_page_chooses_what_a_failing_hook_does(
    client_of: ClientOf, admin: Any, operator: Any, environment: Environment
) -> None:
    browser = client_of(admin)
    assert browser.post("/hook/policy/", {"version": 1}).status_code == 302
    assert hook_policy(environment).is_strict is False
    stale = browser.post("/hook/policy/", {"version": 1, "is_strict": "on"})
    assert stale.status_code == 409 and "Nothing was saved." in stale.content.decode()
    assert browser.post("/hook/policy/", {"version": "x"}).status_code == 422
    assert "go on when a hook fails" in client_of(operator).get("/hooks/").content.decode()
    assert client_of(operator).post("/hook/policy/", {"version": 2, "is_strict": "on"}).status_code == 403
    assert hook_policy(environment).is_strict is False
