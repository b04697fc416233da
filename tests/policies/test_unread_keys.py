"""Keys of documents that no release reads: named with the place where they belong, and never taken for a rule."""

import json
from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import decide
from apps.firewall.engine.dialect import DIALECTS
from apps.policies.document.findings import Findings, show_path
from apps.policies.document.unread import note_unread, note_version, unread_keys_of
from apps.policies.models import Agent, GlobalPolicy
from apps.policies.selectors import document_export, draft_snapshot, lint
from apps.policies.services import demo, document_check, document_import, publish

DENY: dict[str, Any] = {"deny": ["exec"]}


def unread(document: dict[str, Any], release: str = "2026.9") -> list[tuple[str, str, str]]:
    """Return place, code and what is offered."""
    found = unread_keys_of(document, DIALECTS[release])
    return [(show_path(each.path), each.code, each.message.rpartition(" `")[2].strip("`?")) for each in found]


def at(path: str, value: Any = DENY) -> dict[str, Any]:
    """Return a document with a value at a path."""
    document: Any = value
    for step in reversed(path.split(".")):
        document = {step: document}
    assert isinstance(document, dict)
    return document


@pytest.mark.parametrize("release", DIALECTS)
@pytest.mark.parametrize(
    ("path", "right"),
    [
        ("deny", "tools.deny"),
        ("toolsBySender", "tools.toolsBySender"),
        ("profile", "tools.profile"),
        ("exec", "tools.exec"),
        ("agents.tools", "tools"),
        ("agents.defaults.tools", "tools"),
        ("agents.defaults.deny", "tools.deny"),
        ("agents.defaults.alsoAllow", "tools.alsoAllow"),
        ("agents.defaults.sandbox.tools", "tools.sandbox.tools"),
        ("agents.defaults.sandbox.deny", "tools.sandbox.tools.deny"),
        ("agents.defaults.subagents.tools", "tools.subagents.tools"),
        ("agents.entries.x.deny", "agents.entries.x.tools.deny"),
        ("agents.entries.x.denylist", "agents.entries.x.tools.deny"),
        ("agents.entries.x.byProvider", "agents.entries.x.tools.byProvider"),
        ("agents.entries.x.exec", "agents.entries.x.tools.exec"),
        ("agents.entries.x.sandbox.tools", "agents.entries.x.tools.sandbox.tools"),
        ("agents.entries.x.tools.sandbox.deny", "agents.entries.x.tools.sandbox.tools.deny"),
        ("agents.entries.x.tools.subagents", "tools.subagents"),
        ("agents.entries.x.subagents.tools", "tools.subagents.tools"),
        ("tools.sandbox.deny", "tools.sandbox.tools.deny"),
        ("tools.sandbox.allow", "tools.sandbox.tools.allow"),
        ("tools.subagents.alsoAllow", "tools.subagents.tools.alsoAllow"),
        ("channels.tools", "channels.<channel>.groups.<id>.tools"),
        ("channels.telegram.tools", "channels.telegram.groups.*.tools"),
        ("channels.telegram.toolsBySender", "channels.telegram.groups.*.toolsBySender"),
        ("channels.telegram.accounts.a.tools", "channels.telegram.accounts.a.groups.*.tools"),
        ("channels.telegram.groups.-1.deny", "channels.telegram.groups.-1.tools.deny"),
        ("channels.telegram.groups.-1.topics.5.tools", "channels.telegram.groups.-1.tools"),
        ("channels.discord.tools", "channels.discord.guilds.*.tools"),
        ("channels.discord.guilds.1.channels.2.deny", "channels.discord.guilds.1.channels.2.tools.deny"),
        ("channels.zalo.tools", "channels.zalo.groups.*.tools"),
        ("channels.zalo.groups.1.tool", "channels.zalo.groups.1.tools"),
    ],
)
def test_a_rule_in_a_dead_place_is_a_mistake_that_names_the_right_one(path: str, right: str, release: str) -> None:
    value: Any = DENY
    if path.rpartition(".")[2] in ("deny", "denylist", "alsoAllow", "allow"):
        value = ["exec"]

    assert unread(at(path, value), release) == [(path, "dead_place", right)]


@pytest.mark.parametrize("release", DIALECTS)
@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("toools", "tools"),
        ("agnets", "agents"),
        ("chanels", "channels"),
        ("agents.entries.x.tool", "tools"),
        ("agents.entries.x.toolz", "tools"),
        ("tools.dney", "deny"),
        ("tools.denylist", "deny"),
        ("tools.alsoalow", "alsoAllow"),
        ("tools.sandbx", "sandbox"),
        ("tools.subagent", "subagents"),
        ("tools.sandbox.tool", "tools"),
        ("tools.exec.securty", "security"),
        ("tools.exec.safeBin", "safeBins"),
        ("tools.exec.applyPatch.workspaceonly", "workspaceOnly"),
        ("tools.elevated.allowfrom", "allowFrom"),
        ("tools.fs.workspace_only", "workspaceOnly"),
        ("channels.telegram.groups.-1.tool", "tools"),
        ("channels.telegram.groups.-1.bySender", "toolsBySender"),
        ("channels.telegram.grups", "groups"),
        ("commands.ownerAllowfrom", "ownerAllowFrom"),
    ],
)
def test_a_misspelt_word_of_policy_is_a_mistake_that_names_the_right_one(path: str, meant: str, release: str) -> None:
    assert unread(at(path), release) == [(path, "unknown_key", meant)]


@pytest.mark.parametrize(
    "path", ["mta", "agents.defaults.memorySearch", "commands.ownerDisplay", "gateway.nodes.denyCommands", "tools.fs.x"]
)
def test_what_the_release_does_not_know_is_named_and_kept(path: str) -> None:
    assert [found[:2] for found in unread(at(path, True))] == [(path, "not_of_release")]


def test_what_another_release_knows_is_no_spelling_mistake() -> None:
    assert [found[:2] for found in unread(at("tools.toolsBySender", {"*": DENY}), "2026.2")] == [
        ("tools.toolsBySender", "not_of_release")
    ]


@pytest.mark.parametrize(
    "document",
    [
        {"$include": "more.json", "$schema": "x"},
        {"agents": {"list": [{"id": "main", "default": True, "tools": DENY}]}},
        {"agents": {"ownership": "explicit", "entries": {"main": {"tools": {"sandbox": {"tools": DENY}}}}}},
        {"channels": {"feishu": {"tools": {"doc": True}, "groups": {"oc_1": {"tools": DENY}}}}},
        {"channels": {"slack": {"channels": {"C1": {"allow": True, "toolsBySender": {"*": DENY}}}}}},
        {"channels": {"telegram": {"groups": {"tools": {"tools": DENY}, "deny": {}}, "accounts": {"deny": {}}}}},
        {"channels": {"profile": {"groups": {"1": {"tools": DENY}}}, "exec": {}}},
        {"plugins": {"entries": {"x": {"config": {"tools": DENY, "deny": ["exec"]}}}}},
        {"mcp": {"servers": {"x": {"url": "http://127.0.0.1", "anything": 1}}}},
        {"tools": {"byProvider": {"deny": DENY}, "toolsBySender": {"id:7": DENY}}},
    ],
)
def test_what_is_read_and_what_people_name_is_left_alone(document: dict[str, Any]) -> None:
    assert unread(document) == []


def test_places_of_a_list_of_agents_are_those_of_the_file() -> None:
    document = {"agents": {"list": [{"id": "main"}, {"id": "x", "deny": ["exec"]}]}}

    assert unread(document) == [("agents.list[1].deny", "dead_place", "agents.list[1].tools.deny")]


@pytest.mark.parametrize(
    ("written", "release", "told"),
    [
        ("2026.10.1", "2026.9", "2026.9"),
        ("2026.11", "2026.9", "2026.9"),
        ("2027.1.3-beta.1", "2026.9", "2026.9"),
        ("v2026.9.7", "2026.9", "2026.9"),
        ("2026.9.6", "2026.2", "2026.9"),
        ("2026.3.13", "2026.2", "2026.9"),
        ("2026.9.6", "2026.9", ""),
        ("2026.9.6-1", "2026.9", ""),
        ("2026.6.8", "2026.9", ""),
        ("2026.2.25", "2026.2", ""),
        ("soon", "2026.9", ""),
        (7, "2026.9", ""),
    ],
)
def test_a_document_of_a_later_openclaw_says_so(written: Any, release: str, told: str) -> None:
    findings = Findings()

    assert note_version({"meta": {"lastTouchedVersion": written}}, release, findings) is bool(told)
    assert [(item.path, item.code, item.severity) for item in findings.items] == (
        [("meta.lastTouchedVersion", "later_release", "warning")] if told else []
    )
    assert all(told in item.message for item in findings.items)


def test_what_a_later_openclaw_wrote_is_named_and_refuses_nothing() -> None:
    findings = Findings()
    note_unread({"newRoom": {}, "tools": {"denied": ["exec"]}}, "2026.9", findings, is_mild=True)

    assert [(item.path, item.severity) for item in findings.items] == [
        ("newRoom", "warning"),
        ("tools.denied", "warning"),
    ]


# --- through the import ---


@pytest.mark.django_db
def test_an_import_refuses_dead_rules_and_changes_nothing(environment: Any) -> None:
    found = document_check(environment, json.dumps(at("agents.defaults.tools") | at("channels.zalo.tools")))

    assert [(item.path, item.code, item.severity) for item in found] == [
        ("agents.defaults.tools", "dead_place", "error"),
        ("channels.zalo.tools", "dead_place", "error"),
    ]


@pytest.mark.django_db
def test_a_document_of_a_later_openclaw_is_imported_and_decided_by_the_newest_release(environment: Any) -> None:
    document = {"meta": {"lastTouchedVersion": "2026.11.2"}, "newRoom": {"x": 1}, "tools": {"deny": ["exec"]}}
    report = document_import(environment, json.dumps(document), by=None)

    assert {(item.path, item.code) for item in report.diagnostics if item.severity == "warning"} == {
        ("meta.lastTouchedVersion", "later_release"),
        ("newRoom", "not_of_release"),
    }
    assert document_export(environment) == document
    snapshot = draft_snapshot(environment)
    assert snapshot.dialect == "2026.9"
    assert not decide(snapshot, CallContext(agent_id="main"), "exec").allowed


@pytest.mark.django_db
def test_a_file_without_agents_has_the_one_that_openclaw_takes_and_can_be_published(environment: Any) -> None:
    document = {"agents": {"defaults": {"model": {"primary": "x/y"}}}, "tools": {"deny": ["exec"]}}
    document_import(environment, json.dumps(document), by=None)

    assert [(item.code, item.severity) for item in lint(environment)] == [("implicit_agent", "info")]
    publish(environment, by=None, message="first", expected_live=None)
    snapshot = draft_snapshot(environment)
    context = CallContext(agent_id="main", session_key="agent:main:main")
    assert [decide(snapshot, context, tool).allowed for tool in ("read", "exec")] == [True, False]
    assert document_export(environment) == document


@pytest.mark.django_db
def test_the_review_names_what_a_draft_keeps_of_dead_rules(environment: Any) -> None:
    document_import(environment, json.dumps({"agents": {"entries": {"main": {}}}}), by=None)
    GlobalPolicy.objects.update(extra={"agents": {"entries": None, "defaults": {"tools": DENY}}})
    Agent.objects.update(extra={"deny": ["exec"]})

    assert [(item.code, item.severity, item.path) for item in lint(environment)] == [
        ("dead_place", "warning", "agents.defaults.tools"),
        ("dead_place", "warning", "agents.entries.main.deny"),
    ]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("approvals", "told"),
    [
        ({"version": 1}, {"no_agents": ""}),
        ({"version": 1, "agnets": {"main": {}}}, {"unread_key": "agnets"}),
        ({"version": 1, "securty": "deny", "agents": {"main": {}}}, {"unread_key": "securty"}),
        ({"version": 1, "agents": {"mian": {}}}, {"unknown_agent": "agents.mian"}),
        ({"version": 1, "agents": {"*": {}, "default": {}, "main": {}}}, {}),
        ({"version": 1, "agents": {"main": {"denylist": []}}}, {"unread_key": "agents.main.denylist"}),
        (
            {"version": 1, "agents": {"main": {"allowlist": [{"pattern": "/bin/ls", "argpattern": "^-l$"}]}}},
            {"unread_key": "agents.main.allowlist[0].argpattern"},
        ),
    ],
)
def test_an_import_of_approvals_names_what_means_nothing(
    approvals: dict[str, Any], told: dict[str, str], environment: Any
) -> None:
    for document in (None, '{"agents": {"entries": {"main": {}}}}'):
        found = document_check(environment, document, approvals=json.dumps(approvals))

        assert {item.code: item.path for item in found if item.severity == "warning"} == {
            code: f"approvals:{path}" for code, path in told.items()
        }


@pytest.mark.django_db
def test_a_list_of_denied_commands_is_not_taken_for_one_of_admitted_ones(environment: Any) -> None:
    approvals = {"version": 1, "agents": {"main": {"denylist": [{"pattern": "rm"}]}}}
    found = document_check(environment, None, approvals=json.dumps(approvals))

    assert ["no list of denied commands" in item.message for item in found if item.code == "unread_key"] == [True]


def test_the_demo_has_no_key_that_its_release_refuses() -> None:
    document = json.loads((demo.FOLDER / "openclaw.json").read_text(encoding="utf-8"))

    assert unread(document) == []
