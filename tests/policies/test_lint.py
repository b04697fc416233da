"""The review of a draft: what it finds, how badly it takes it, and what it leaves alone."""

import json
from typing import Any

import pytest

from apps.firewall.tools.definition import Definition
from apps.policies.models import Agent
from apps.policies.selectors import LintFinding, lint
from apps.policies.services import document_import
from apps.registry.services import tools_import

pytestmark = pytest.mark.django_db


@pytest.fixture
def found(environment: Any) -> Any:
    def review(document: dict[str, Any], approvals: dict[str, Any] | None = None) -> list[LintFinding]:
        document.setdefault("agents", {"entries": {"main": {}}})
        text = None if approvals is None else json.dumps(approvals)
        document_import(environment, json.dumps(document), approvals=text, by=None)
        return lint(environment)

    return review


def shown(findings: list[LintFinding]) -> list[tuple[str, str, str, str]]:
    return [(item.code, item.severity, item.path, item.entry) for item in findings]


def test_a_clean_draft_has_no_findings(found: Any) -> None:
    assert found({"tools": {"profile": "coding", "alsoAllow": ["message"], "deny": ["group:nodes", "web_*"]}}) == []


def test_an_unknown_name_comes_with_what_was_meant(found: Any) -> None:
    (finding,) = found({"tools": {"deny": ["exce", "read"]}})
    assert (finding.code, finding.path, finding.entry, finding.suggestion) == (
        "unknown_name",
        "tools.deny",
        "exce",
        "exec",
    )


def test_the_tools_of_callers_are_known_by_their_plugin(found: Any) -> None:
    (finding,) = found({"tools": {"profile": "coding", "alsoAllow": ["client"]}})
    assert (finding.code, finding.severity) == ("matches_nothing", "info")


def test_a_pattern_that_matches_nothing_is_named(found: Any) -> None:
    assert shown(found({"tools": {"deny": ["zzz_*"]}})) == [("matches_nothing", "warning", "tools.deny", "zzz_*")]


def test_a_list_that_names_no_tool_leaves_none(found: Any) -> None:
    codes = {item.code for item in found({"tools": {"allow": ["nosuchtool"]}})}
    assert codes == {"unknown_name", "allows_nothing"}


def test_an_allow_entry_that_is_denied_beside_it_is_void(found: Any) -> None:
    findings = found({"tools": {"alsoAllow": ["exec", "read"], "deny": ["group:runtime"]}})
    assert shown(findings) == [("allow_voided", "warning", "tools.alsoAllow", "exec")]


def test_old_names_are_told_their_new_ones(found: Any) -> None:
    (finding,) = found({"tools": {"deny": ["bash"]}})
    assert (finding.code, finding.severity, finding.suggestion) == ("old_name", "info", "exec")


def test_tools_of_a_declared_server_are_not_unknown(found: Any) -> None:
    findings = found({"tools": {"alsoAllow": ["tracker__find"]}, "mcp": {"servers": {"Tracker": {"url": "x"}}}})
    assert shown(findings) == [("matches_nothing", "info", "tools.alsoAllow", "tracker__find")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("id:42", "42"),
        ("ID:42", "id: 42 "),
        ("username:@Bob", "username:bob"),
        ("channel:Telegram:7", "channel:telegram:7"),
    ],
)
def test_sender_keys_that_mean_the_same_are_named(found: Any, first: str, second: str) -> None:
    findings = found({"tools": {"toolsBySender": {first: {"deny": ["exec"]}, second: {}}}})
    assert [item.code for item in findings] == ["same_sender"]


def test_a_sender_key_that_can_match_nobody_is_named(found: Any) -> None:
    findings = found({"tools": {"toolsBySender": {"id:": {}, "channel:telegram": {}}}})
    assert [item.code for item in findings] == ["never_reached", "never_reached"]


def test_a_group_whose_star_rule_hides_its_tools_is_named(found: Any) -> None:
    group = {"tools": {"deny": ["exec"]}, "toolsBySender": {"*": {"deny": ["read"]}}}
    findings = found({"channels": {"telegram": {"groups": {"-1": group}}}})
    assert shown(findings) == [("never_reached", "warning", "channels.telegram.groups.-1", "")]


def test_rules_for_direct_chats_are_said_not_to_decide_here(found: Any) -> None:
    findings = found({"channels": {"telegram": {"direct": {"7": {"tools": {"deny": ["exec"]}}}}}})
    assert [item.code for item in findings] == ["direct_not_decided"]


def test_agents_and_providers_that_mean_the_same_are_named(found: Any) -> None:
    document = {
        "agents": {"ownership": "explicit", "entries": {"Ops": {}, "ops": {}}},
        "tools": {"byProvider": {"OpenAI": {}, "openai": {}}},
    }
    assert [item.code for item in found(document)] == ["same_agent", "same_provider"]


def test_a_sandbox_that_hides_mcp_tools_is_named(found: Any, environment: Any) -> None:
    definition = Definition(name="tracker__find", parameters={"type": "object"})
    tools_import(environment, [definition], source="mcp", server_name="tracker", state="active")
    agents = {"defaults": {"sandbox": {"mode": "all"}}, "entries": {"main": {}}}
    (finding,) = found({"agents": agents})
    assert (finding.code, finding.path) == ("mcp_hidden_by_sandbox", "agents.entries.main")
    assert found({"agents": agents, "tools": {"sandbox": {"tools": {"alsoAllow": ["bundle-mcp"]}}}}) == []


def test_allowlists_are_reviewed(found: Any) -> None:
    entries = [{"pattern": "*"}, {"pattern": "git", "argPattern": "status"}, {"pattern": "ls", "argPattern": "^(-l$"}]
    findings = found({}, {"version": 1, "agents": {"main": {"allowlist": entries}}})
    assert [item.code for item in findings] == ["allows_every_command", "unanchored_pattern", "bad_pattern"]


def test_an_empty_environment_cannot_be_published(environment: Any) -> None:
    assert [(item.code, item.severity) for item in lint(environment)] == [("no_draft", "error"), ("no_agent", "error")]


def test_a_profile_that_nothing_has_is_an_error(found: Any, environment: Any) -> None:
    found({})
    Agent.objects.filter(environment=environment).update(profile="codng")
    (finding,) = lint(environment)
    assert (finding.code, finding.severity, finding.path) == ("unknown_profile", "error", "agents.entries.main")


def test_errors_come_first(found: Any, environment: Any) -> None:
    found({"tools": {"deny": ["nosuchtool"]}})
    Agent.objects.filter(environment=environment).update(profile="codng")
    assert [item.severity for item in lint(environment)] == ["error", "warning"]
