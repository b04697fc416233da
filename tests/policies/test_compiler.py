"""Rows -> snapshot: the imported document decides exactly as the document itself."""

import json
from pathlib import Path
from typing import Any

import json5
import pytest

from apps import policies
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import decide, explain
from apps.firewall.engine.openclaw_json import parse_document
from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import UNPROVEN_GROUPS_REFUSED
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.discovery.found import Found, Look
from apps.firewall.tools.executors import McpExecutor
from apps.policies.compiler import compile_draft, tool_entries
from apps.policies.selectors import agent_get, approvals_export, document_export, draft_diff, draft_snapshot
from apps.policies.services import agent_create, document_import, draft_start, profile_create, publish, record_update
from apps.registry.services import run_start, run_take, source_create, source_save, tools_import

SAMPLES = Path(__file__).parent.parent / "samples"
DEMO = Path(policies.__file__).parent / "demo" / "openclaw.json"
DEMO_APPROVALS = DEMO.with_name("exec-approvals.json")

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("dialect", ["2026.9", "2026.2"])
@pytest.mark.parametrize("sample", ["full", "demo"])
def test_records_compile_to_what_the_engine_reads_in_the_document(environment: Any, sample: str, dialect: str) -> None:
    environment.dialect = dialect
    environment.save(update_fields=["dialect"])
    text = DEMO.read_text() if sample == "demo" else (SAMPLES / "openclaw.full.json5").read_text()
    approvals = DEMO_APPROVALS.read_text()
    document_import(environment, text, approvals=approvals, by=None)
    read = parse_document(
        json5.loads(text) if dialect == "2026.9" else document_export(environment),
        dialect=dialect,
        tools=tool_entries(environment),
        environment=environment.slug,
        exec_approvals=json.loads(approvals),
    )
    read.settings = {**read.settings, "groups": UNPROVEN_GROUPS_REFUSED}  # as every new environment has it
    assert compile_draft(environment).document == build_snapshot(read).document
    assert compile_draft(environment).digest == build_snapshot(read).digest


def test_the_demo_is_as_large_as_a_real_installation(environment: Any) -> None:
    report = document_import(environment, DEMO.read_text(), approvals=DEMO_APPROVALS.read_text(), by=None)
    assert report.records["agent"] >= 6 and report.records["channel"] >= 3
    assert report.records["channelgroup"] >= 40 and report.records["senderrule"] >= 60
    assert len(document_export(environment)["models"]["providers"]) == 3
    assert report.records["allowlistentry"] >= 10


def test_the_demo_comes_back_as_it_was(environment: Any) -> None:
    document_import(environment, DEMO.read_text(), approvals=DEMO_APPROVALS.read_text(), by=None)
    assert json.dumps(document_export(environment, secrets="open")) == json.dumps(json.loads(DEMO.read_text()))
    approvals = approvals_export(environment, secrets="open")
    assert json.dumps(approvals) == json.dumps(json.loads(DEMO_APPROVALS.read_text()))


def test_the_demo_can_be_published(environment: Any, admin: Any) -> None:
    document_import(environment, DEMO.read_text(), approvals=DEMO_APPROVALS.read_text(), by=None)
    assert publish(environment, by=admin, message="demo", expected_live="").number == 1


def test_no_secret_reaches_a_snapshot(environment: Any) -> None:
    document = {
        "agents": {"defaults": {"sandbox": {"docker": {"env": {"TOKEN": "made-up-secret"}}}}, "entries": {"main": {}}}
    }
    document_import(environment, json.dumps(document), by=None)
    assert b"made-up-secret" not in compile_draft(environment).to_bytes()


def test_a_profile_of_our_own_decides(environment: Any, admin: Any) -> None:
    draft_start(environment, by=admin)
    profile_create(environment, "readers", by=admin, allow=["read", "group:web"], deny=["web_fetch"])
    agent_create(environment, "main", by=admin, profile="readers")
    snapshot = draft_snapshot(environment)
    context = CallContext(agent_id="main")
    verdicts = {tool: decide(snapshot, context, tool).allowed for tool in ("read", "web_search", "web_fetch", "exec")}
    assert verdicts == {"read": True, "web_search": True, "web_fetch": False, "exec": False}


def test_tools_of_servers_belong_to_the_bundle(environment: Any, admin: Any) -> None:
    definition = Definition(name="tracker__find", parameters={"type": "object"})
    tools_import(environment, [definition], source="mcp", server_name="tracker", state="active")
    draft_start(environment, by=admin)
    agent_create(environment, "main", by=admin, allow=["bundle-mcp"])
    assert explain(draft_snapshot(environment), CallContext(agent_id="main")).allowed == ("tracker__find",)


def test_the_difference_between_draft_and_live_is_one_of_meaning(environment: Any, admin: Any) -> None:
    document_import(environment, DEMO.read_text(), by=None)
    assert draft_diff(environment) is None
    publish(environment, by=admin, message="demo", expected_live="")
    unchanged = draft_diff(environment)
    assert unchanged is not None and unchanged.is_empty
    agent = agent_get(environment, "ops-runner")
    assert agent is not None
    record_update(agent, {"deny": [*(agent.deny or []), "exec"]}, by=admin, expected_version=1)
    changed = draft_diff(environment)
    assert changed is not None
    assert {change.lost for change in changed.changes} == {("exec",)}
    assert {agent for change in changed.changes for agent in change.agents} == {"ops-runner"}


def test_a_draft_follows_what_a_source_does_with_changed_definitions(environment: Any) -> None:
    source = source_create(environment, key="tracker", kind="mcp_stdio", settings={"command": ["/bin/true"]})
    executor = McpExecutor(source="tracker", tool="find")
    for description in ("Finds.", "Finds, and tells everybody."):
        definition = Definition(name="tracker__find", description=description)
        run_take(run_start(source), Look(found=(Found(key="find", definition=definition, executor=executor),)))
    assert draft_snapshot(environment).tool("tracker__find") is None

    source_save(source, on_drift="keep")

    kept = draft_snapshot(environment).tool("tracker__find")
    assert kept is not None
    assert (kept.description, kept.executor) == ("Finds.", {"kind": "mcp", "source": "tracker", "tool": "find"})
