"""What an import makes of a document: its secrets, its old spellings, its change log."""

import json
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from apps.policies.errors import DocumentInvalidError
from apps.policies.models import Agent, ExecSettings, GlobalPolicy, SenderRule
from apps.policies.selectors import approvals_export, document_export, record_history, unmodelled
from apps.policies.services import ImportReport, agent_create, document_import, draft_start

pytestmark = pytest.mark.django_db

TOKEN = "123456:made-up-token-of-a-bot"


def load(environment: Any, document: Any, **options: Any) -> ImportReport:
    return document_import(environment, json.dumps(document), by=options.pop("by", None), **options)


def codes(report: ImportReport) -> dict[str, str]:
    return {item.path: item.code for item in report.diagnostics}


# --- secrets ---

SECRETS = {
    "gateway": {"auth": {"mode": "token", "token": TOKEN}},
    "channels": {"telegram": {"botToken": TOKEN, "enabled": True}},
    "env": {"vars": {"REGION": "eu"}},
    "secrets": {"store": {"a": "b"}},
    "mcp": {"servers": {"x": {"args": ["--api-key", "made-up-key", "run"], "env": {"A": "1"}}}},
    "models": {"providers": {"p": {"apiKey": "k", "baseUrl": "https://u:hunter2@host.example/"}}},
    "hooks": {"token": {"source": "env", "id": "HOOK"}, "maxTokens": 5, "password": 1234},
    "plugins": {"entries": {"p": {"config": {"apiKey": "${PLUGIN_KEY}"}}}},
}


def test_secrets_are_stored_sealed_only(environment: Any) -> None:
    load(environment, SECRETS)
    stored = json.dumps([list(model.objects.values_list("extra", flat=True)) for model in (GlobalPolicy,)])
    for secret in (TOKEN, "made-up-key", "hunter2", "1234", '"b"', '"eu"'):
        assert secret not in stored
    for kept in ('"mode": "token"', "${PLUGIN_KEY}", '"HOOK"', '"maxTokens": 5', '"run"'):
        assert kept in stored


def test_secrets_come_back_for_those_who_open_them(environment: Any) -> None:
    load(environment, SECRETS)
    assert document_export(environment, secrets="open") == SECRETS


def test_secrets_are_shown_by_length_and_hash(environment: Any) -> None:
    load(environment, SECRETS)
    shown = unmodelled(GlobalPolicy.objects.get())["gateway"]["auth"]["token"]
    assert shown["length"] == len(TOKEN) and len(shown["hash"]) == 8


def test_a_masked_export_can_be_imported_again_without_loss(environment: Any) -> None:
    load(environment, SECRETS)
    masked = document_export(environment)
    assert masked["gateway"]["auth"]["token"] == "__OPENCLAW_REDACTED__"
    report = load(environment, masked)
    assert report.counts["changed"] == 0
    assert document_export(environment, secrets="open") == SECRETS


def test_a_mask_without_a_known_secret_is_named(environment: Any) -> None:
    report = load(environment, {"gateway": {"auth": {"token": "__OPENCLAW_REDACTED__"}}})
    assert codes(report)["gateway.auth.token"] == "secret_unknown"


def test_a_changed_secret_is_a_change_that_the_log_masks(environment: Any) -> None:
    load(environment, {"gateway": {"auth": {"token": TOKEN}}})
    load(environment, {"gateway": {"auth": {"token": TOKEN + "2"}}})
    newest = record_history(GlobalPolicy.objects.get())[0]
    before, after = newest.fields["extra"]
    assert after["gateway"]["auth"]["token"]["length"] == before["gateway"]["auth"]["token"]["length"] + 1
    assert TOKEN not in json.dumps([before, after])


def test_the_socket_of_the_approvals_document_is_sealed(environment: Any) -> None:
    approvals = {"version": 1, "socket": {"path": "/run/x.sock", "token": TOKEN}}
    document_import(environment, None, approvals=json.dumps(approvals), by=None)
    assert approvals_export(environment) != approvals
    assert approvals_export(environment, secrets="open") == approvals


# --- the current form ---


def test_a_list_of_agents_becomes_entries(environment: Any) -> None:
    report = load(environment, {"agents": {"list": [{"id": "main", "default": True}, {"id": "ops", "model": "x"}]}})
    agents = document_export(environment)["agents"]
    assert (agents["ownership"], agents["entries"]) == ("explicit", {"main": {}, "ops": {"model": "x"}})
    assert {"retired_agent_list", "retired_default_marker", "default_agent_named"} <= set(codes(report).values())


def test_an_exec_pair_becomes_its_mode(environment: Any) -> None:
    pairs = {"a": ("deny", "off"), "b": ("allowlist", "off"), "c": ("allowlist", "on-miss"), "d": ("full", "off")}
    entries = {key: {"tools": {"exec": {"security": s, "ask": a}}} for key, (s, a) in pairs.items()}
    load(environment, {"agents": {"ownership": "explicit", "entries": entries}})
    modes = ExecSettings.objects.order_by("agent__key").values_list("mode", "security", "ask")
    assert list(modes) == [(mode, None, None) for mode in ("deny", "allowlist", "ask", "full")]


@pytest.mark.parametrize("settings", [{"security": "full", "ask": "always"}, {"security": "allowlist"}, {"ask": "off"}])
def test_a_pair_without_a_mode_stays(environment: Any, settings: dict[str, str]) -> None:
    document = {"tools": {"exec": settings}}
    load(environment, document)
    assert document_export(environment) == document


def test_the_older_release_keeps_its_own_form(environment: Any) -> None:
    environment.dialect = "2026.2"
    environment.save(update_fields=["dialect"])
    document = {
        "agents": {"list": [{"id": "main", "default": True}, {"id": "ops"}]},
        "tools": {"exec": {"security": "allowlist", "ask": "on-miss"}},
    }
    load(environment, document)
    assert json.dumps(document_export(environment)) == json.dumps(document)


def test_comments_and_includes_are_named(environment: Any) -> None:
    report = document_import(environment, '{ // why\n "$include": "./more.json5", agents: { entries: {} } }', by=None)
    assert {item.code for item in report.diagnostics} >= {"comments_dropped", "include_not_read"}
    assert document_export(environment)["$include"] == "./more.json5"


def test_each_key_that_is_kept_but_not_modelled_is_named(environment: Any) -> None:
    report = load(
        environment,
        {
            "session": {"dmScope": "main"},
            "agents": {"entries": {"main": {"model": "x", "tools": {"media": {"x": False}}}}},
            "channels": {
                "defaults": {"groupPolicy": "open"},
                "telegram": {"groups": {"-1": {"topics": {}, "skills": ["a"]}}},
            },
        },
    )
    assert set(codes(report)) == {
        "session",
        "agents.entries.main.model",
        "agents.entries.main.tools.media",
        "channels.defaults",
        "channels.telegram.groups.-1.skills",
    }


def test_who_may_be_elevated_is_of_the_scopes_and_comes_back(environment: Any) -> None:
    document = {
        "agents": {
            "defaults": {"elevatedDefault": "ask"},
            "entries": {"main": {"tools": {"elevated": {"enabled": False, "allowFrom": {"slack": []}}}}},
        },
        "tools": {"elevated": {"allowFrom": {"telegram": [42, "name:Ann"]}, "enabled": True, "note": "kept"}},
    }
    report = load(environment, document)
    policy, agent = GlobalPolicy.objects.get(), Agent.objects.get()
    assert (policy.elevated_enabled, policy.elevated_default) == (True, "ask")
    assert policy.elevated_allow_from == {"telegram": [42, "name:Ann"]}
    assert (agent.elevated_enabled, agent.elevated_allow_from) == (False, {"slack": []})
    assert set(codes(report)) == {"tools.elevated.note"}
    assert json.dumps(document_export(environment)) == json.dumps(document)


@pytest.mark.parametrize(
    "document",
    [
        {"agents": {"defaults": {"elevatedDefault": "sometimes"}}},
        {"tools": {"elevated": {"enabled": "yes"}}},
        {"tools": {"elevated": {"allowFrom": ["42"]}}},
        {"tools": {"exec": {"ask": "sometimes"}}},
        {"tools": {"exec": {"mode": "bogus"}}},
        {"tools": {"exec": {"host": "docker"}}},
    ],
)
def test_a_word_that_means_nothing_is_a_mistake_with_its_place(environment: Any, document: dict[str, Any]) -> None:
    with pytest.raises(DocumentInvalidError) as caught:
        load(environment, document)
    (detail,) = caught.value.details
    assert detail["path"].startswith(("tools.", "agents.defaults.elevatedDefault"))


def test_what_was_kept_verbatim_moves_into_its_columns_and_back(environment: Any) -> None:
    document = {
        "tools": {"elevated": {"allowFrom": {"telegram": ["1"]}, "enabled": True}},
        "agents": {"defaults": {"elevatedDefault": "on"}, "entries": {"main": {"tools": {"elevated": {"enabled": 5}}}}},
    }
    moving = import_module("apps.policies.migrations.0006_elevated_out_of_the_rest")
    schema = SimpleNamespace(connection=connection)
    policy = draft_start(environment, by=None)
    GlobalPolicy.objects.update(extra=document | {"agents": {"defaults": {"elevatedDefault": "on"}, "entries": None}})
    agent = agent_create(environment, "main", by=None)
    Agent.objects.update(extra={"tools": {"elevated": {"enabled": 5}}})
    moving.fill(apps, schema)
    policy.refresh_from_db()
    agent.refresh_from_db()
    assert (policy.elevated_enabled, policy.elevated_default) == (True, "on")
    assert policy.extra["tools"] == {"elevated": {"allowFrom": None, "enabled": None}}
    assert (agent.elevated_enabled, agent.extra) == (None, {"tools": {"elevated": {"enabled": 5}}})
    moving.empty(apps, schema)
    policy.refresh_from_db()
    assert policy.extra["tools"] == document["tools"]


def test_whole_number_keys_come_first_as_in_javascript(environment: Any) -> None:
    load(environment, {"tools": {"toolsBySender": {"id:5": {}, "42": {}, "7": {}}}})
    assert [rule.key for rule in SenderRule.objects.order_by("position")] == ["7", "42", "id:5"]


def test_empty_objects_and_explicit_empty_lists_survive(environment: Any) -> None:
    document = {
        "tools": {"allow": [], "sandbox": {}, "byProvider": {}, "exec": {}},
        "agents": {"entries": {"main": {"tools": {}}}},
        "channels": {
            "telegram": {"groups": {}, "accounts": {"a": {"groups": {}}}},
            "slack": {"channels": {"C": {"tools": {}}}},
        },
    }
    load(environment, document)
    assert json.dumps(document_export(environment)) == json.dumps(document)


# --- what an import touches ---


def test_an_import_touches_only_what_differs(environment: Any, admin: Any) -> None:
    document: dict[str, Any] = {"agents": {"ownership": "explicit", "entries": {"a": {}, "b": {}, "c": {}}}}
    load(environment, document)
    kept = Agent.objects.get(key="a")
    del document["agents"]["entries"]["b"]
    document["agents"]["entries"]["c"] = {"tools": {"deny": ["exec"]}}
    document["agents"]["entries"]["d"] = {}
    report = load(environment, document, by=admin)
    assert dict(report.counts) == {"created": 1, "changed": 1, "deleted": 1, "unchanged": 2}
    assert Agent.objects.get(key="a") == kept
    changed = Agent.objects.get(key="c")
    assert changed.version == 2 and record_history(changed)[0].actor == "user:admin"


def test_the_two_documents_are_imported_each_by_itself(environment: Any) -> None:
    load(environment, {"agents": {"entries": {"main": {}}}})
    document_import(environment, None, approvals='{"version":1,"agents":{"main":{"security":"deny"}}}', by=None)
    assert Agent.objects.count() == 1
    load(environment, {"agents": {"entries": {"ops": {}}}})
    assert approvals_export(environment) == {"version": 1, "agents": {"main": {"security": "deny"}}}


def test_many_records_at_once_are_logged_with_their_actor(environment: Any, admin: Any) -> None:
    rules = {f"id:{number}": {"deny": ["exec", 'odd "name"\\', "ä"]} for number in range(300)}
    document = {"tools": {"toolsBySender": rules}}
    report = load(environment, document, by=admin)
    assert report.counts["created"] == 301
    assert document_export(environment) == document
    (entry,) = record_history(SenderRule.objects.get(key="id:299"))
    assert (entry.action, entry.actor) == ("insert", "user:admin")
