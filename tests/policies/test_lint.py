"""The review of a draft: what it finds, how badly it takes it, and what it leaves alone."""

import json
from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import decide, explain_tool
from apps.firewall.tools.definition import Definition
from apps.policies.models import Agent
from apps.policies.selectors import LintFinding, draft_snapshot, lint
from apps.policies.services import document_import
from apps.registry.models import Tool
from apps.registry.services import plugin_save, tools_import

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


@pytest.mark.parametrize(("release", "channel"), [("2026.9", "discord"), ("2026.2", "telegram")])
def test_rules_for_direct_chats_are_said_not_to_decide_where_the_release_reads_none(
    release: str, channel: str, found: Any, environment: Any
) -> None:
    environment.dialect = release
    environment.save(update_fields=["dialect"])
    agents = {"list": [{"id": "main"}]}
    findings = found({"agents": agents, "channels": {channel: {"direct": {"7": {"tools": {"deny": ["exec"]}}}}}})
    assert [item.code for item in findings if item.code != "not_of_release"] == ["direct_not_decided"]


def test_rules_for_direct_chats_that_decide_are_reviewed_as_those_of_groups(found: Any) -> None:
    chats: dict[str, Any] = {"7": {"tools": {"deny": ["exec"]}}, "-100": {"tools": {"deny": ["exec"]}}, "*": {}}
    chats["8"] = {"tools": {"deny": ["exec"]}, "toolsBySender": {"*": {}}}
    findings = found({"channels": {"telegram": {"direct": chats}}})
    assert [(item.code, item.path) for item in findings] == [
        ("never_reached", "channels.telegram.direct.8"),
        ("group_shape", "channels.telegram.direct.-100"),
    ]


@pytest.mark.parametrize(("channel", "kind", "key"), [("telegram", "direct", "7"), ("irc", "groups", "#ops")])
def test_a_phone_number_where_none_is_known_matches_nobody(channel: str, kind: str, key: str, found: Any) -> None:
    rules = {"e164:+15551230001": {"deny": ["exec"]}, "id:7": {"deny": ["exec"]}}
    (finding,) = found({"channels": {channel: {kind: {key: {"toolsBySender": rules}}}}})
    assert (finding.code, finding.path) == (
        "never_reached",
        f"channels.{channel}.{kind}.{key}.toolsBySender.e164:+15551230001",
    )


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


@pytest.mark.parametrize("entry", ["tide_alarm", "tides", "group:plugins", "tide_*"])
@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"channels": {"telegram": {"groups": {"-1": {"tools": {"alsoAllow": []}}}}}}, "channels.telegram.groups.-1"),
        ({"tools": {"toolsBySender": {"id:1": {"alsoAllow": []}}}}, "tools.toolsBySender.id:1"),
        ({"tools": {"sandbox": {"tools": {"alsoAllow": []}}}}, "tools"),
        ({"tools": {"subagents": {"tools": {"allow": []}}}}, "tools"),
    ],
)
def test_optional_tools_that_only_narrow_lists_name_are_said_to_be_held_back(
    found: Any, environment: Any, entry: str, document: dict[str, Any], path: str
) -> None:
    tides, alarm = plugin_save(environment, key="tides"), Definition(name="tide_alarm", parameters={"type": "object"})
    tools_import(environment, [alarm], source="plugin", plugin=tides, state="active")
    Tool.objects.filter(name="tide_alarm").update(is_optional=True)
    text = json.dumps(document).replace("[]", json.dumps([entry]))

    held = [each for each in found(json.loads(text)) if each.code == "optional_held_back"]
    assert [(each.path, "`tide_alarm`" in each.message) for each in held] == [(path, True)]
    agents = {"agents": {"entries": {"main": {"tools": {"alsoAllow": [entry]}}}}}
    assert "optional_held_back" not in {each.code for each in found({**json.loads(text), **agents})}


def test_allowlists_are_reviewed(found: Any) -> None:
    entries = [{"pattern": "*"}, {"pattern": "git", "argPattern": "status"}, {"pattern": "ls", "argPattern": "^(-l$"}]
    findings = found({}, {"version": 1, "agents": {"main": {"allowlist": entries}}})
    assert [item.code for item in findings] == ["allows_every_command", "unanchored_pattern", "bad_pattern"]


@pytest.mark.parametrize("pattern", ["**", "/**", "/**/*", " ** "])
def test_a_pattern_that_admits_every_program_is_named_however_it_is_written(found: Any, pattern: str) -> None:
    findings = found({}, {"version": 1, "agents": {"main": {"allowlist": [{"pattern": pattern}]}}})

    assert [item.code for item in findings] == ["allows_every_command"]


@pytest.mark.parametrize("pattern", ["*/ssh", "/usr/nowhere/cd", "/opt/none/source"])
def test_a_program_pattern_that_can_match_no_file_is_named(found: Any, pattern: str) -> None:
    findings = found({}, {"version": 1, "agents": {"main": {"allowlist": [{"pattern": pattern}]}}})

    assert [item.code for item in findings] == ["matches_nothing"]


@pytest.mark.parametrize("arguments", ["^(?=a)b$", r"^(a)\1$", "^" + "a" * 600 + "$"])
def test_a_pattern_of_arguments_that_nothing_can_match_is_named(found: Any, arguments: str) -> None:
    entries = [{"pattern": "/usr/bin/git", "argPattern": arguments}]

    assert [item.code for item in found({}, {"agents": {"main": {"allowlist": entries}}})] == ["bad_pattern"]


@pytest.mark.parametrize("pattern", ["ls *", "git status", "/bin/sh -c", "npm run build"])
def test_a_command_in_the_place_of_a_program_is_named(found: Any, pattern: str) -> None:
    (finding,) = found({}, {"version": 1, "agents": {"main": {"allowlist": [{"pattern": pattern}]}}})

    assert finding.code == "matches_nothing"
    assert f"write `{pattern.partition(' ')[0]}`" in finding.message


@pytest.mark.parametrize("pattern", ["/opt/our tools/run", "/opt/our tools/*", "~/my bin/deploy"])
def test_a_folder_with_a_blank_in_its_name_is_no_command(found: Any, pattern: str) -> None:
    assert found({}, {"version": 1, "agents": {"main": {"allowlist": [{"pattern": pattern}]}}}) == []


@pytest.fixture
def older(environment: Any) -> Any:
    environment.dialect = "2026.2"
    environment.save(update_fields=["dialect"])
    return environment


def test_a_list_that_the_older_release_ignores_is_not_said_to_leave_nothing(found: Any, older: Any) -> None:
    findings = found({"tools": {"allow": ["nosuchtool"]}, "agents": {"list": [{"id": "main"}]}})
    snapshot = draft_snapshot(older)
    context = CallContext(agent_id="main", sender_is_owner=True)
    (step,) = (step for step in explain_tool(snapshot, context, "exec") if step.key == "global")

    assert {item.code for item in findings} == {"unknown_name", "allow_ignored"}
    assert decide(snapshot, context, "exec").allowed
    assert (step.permits, "ignores it" in step.reason) == (True, True)


def test_a_sandbox_list_counts_in_the_older_release_whatever_it_names(found: Any, older: Any) -> None:
    findings = found({"tools": {"sandbox": {"tools": {"allow": ["nosuchtool"]}}}, "agents": {"list": [{"id": "main"}]}})

    assert {item.code for item in findings} == {"unknown_name", "allows_nothing"}


def test_a_key_by_channel_is_nobody_in_the_older_release(found: Any, older: Any) -> None:
    group = {"toolsBySender": {"channel:telegram:7": {"deny": ["exec"]}}}
    findings = found({"channels": {"telegram": {"groups": {"-1": group}}}, "agents": {"list": [{"id": "main"}]}})

    assert [item.code for item in findings] == ["never_reached"]


def test_a_pattern_of_many_repetitions_has_nothing_said_of_it(found: Any) -> None:
    entries = [{"pattern": "/usr/bin/git", "argPattern": r"^log -\d+ --since=\S+ --author=\S+$"}]

    assert found({}, {"agents": {"main": {"allowlist": entries}}}) == []


@pytest.mark.parametrize(
    ("entry", "codes"),
    [
        ({"pattern": "/usr/bin/ls"}, ["not_carried_over"]),
        ({"pattern": "/usr/bin/ls", "argPattern": "^-l$"}, ["not_carried_over"]),
        ({"pattern": "/usr/bin/ls", "argPattern": f"sha256:argv:{'0' * 64}"}, ["not_carried_over"]),
        ({"pattern": "/usr/bin/ls", "argPattern": f"sha256:cwd-argv:v1:{'0' * 64}"}, []),
        ({"pattern": "=command:0123456789abcdef"}, []),
    ],
)
def test_an_answer_that_openclaw_remembered_is_said_not_to_be_carried_over(
    found: Any, entry: dict[str, str], codes: list[str]
) -> None:
    entries = [{**entry, "source": "allow-always"}]

    assert [item.code for item in found({}, {"agents": {"main": {"allowlist": entries}}})] == codes


@pytest.mark.parametrize(
    ("pattern", "code"), [("ls *", "matches_nothing"), ("**", "allows_every_command"), ("*/ssh", "matches_nothing")]
)
def test_a_pattern_that_matches_nothing_or_everything_is_named(found: Any, pattern: str, code: str) -> None:
    findings = found({}, {"agents": {"main": {"allowlist": [{"pattern": pattern}]}}})

    assert [item.code for item in findings] == [code]


def test_what_of_the_approvals_nobody_reads_is_named_with_what_was_meant(found: Any) -> None:
    findings = found(
        {},
        {
            "version": 1,
            "defaults": {"securty": "deny", "aks": "always"},
            "agents": {
                "mian": {"security": "deny"},
                "main": {"denylist": [{"pattern": "rm"}], "allowlist": [{"pattern": "/bin/ls", "argpattern": "^-l$"}]},
            },
        },
    )

    assert {item.severity for item in findings} == {"warning"}
    said = {item.message.partition("`")[2].partition("`")[0] for item in findings if item.code == "unread_key"}
    assert said == {"securty", "aks", "denylist", "argpattern"}
    assert any("did you mean `argPattern`" in item.message for item in findings)
    assert [item.message for item in findings if item.code == "unknown_agent"] == [
        "no agent has the id `mian`, did you mean `main`?"
    ]


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
