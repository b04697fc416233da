"""Cases of policy tests: what a snapshot answers to a call that is only thought of."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.grants import Grant
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.runtime.cases import CASE_LAYERS, CaseAnswer, PolicyCase, Verdict, answer_case, run_cases
from apps.firewall.runtime.rehearse import rehearse
from apps.firewall.runtime.testing import FakeFiles, FakeWorld, call_of
from tests.firewall.runtime.test_invoke import snapshot

PLACE = CallContext(agent_id="bot")
FILES = FakeFiles()
GRANTED = Grant(key="reads", permissions=("db:read",), agent="bot", resources={"database": ("orders",)})


def answered(policy: Snapshot, tool: str, **members: Any) -> CaseAnswer:
    context = members.pop("context", PLACE)
    case = PolicyCase(name="x", context=context, tool=tool, verdict="allowed", **members)
    return answer_case(policy, case, files=FILES)


def guarded(*grants: Grant) -> Snapshot:
    tool = ToolEntry(
        "orders_query",
        params={"type": "object"},
        traits={"permissions": ["db:read"], "resources": {"database": "database"}},
    )
    return build_snapshot(SnapshotSource(tools=[tool], agents=[AgentSource("bot")], grants=grants))


def test_a_tool_that_passes_every_layer_is_allowed() -> None:
    assert answered(snapshot(), "read") == CaseAnswer(verdict="allowed", reason="everything that applies admits it")


def test_the_first_layer_that_removes_a_tool_decides() -> None:
    found = answered(snapshot(deny=("read",)), "read")
    assert (found.verdict, found.layer, found.rule) == ("denied", "agent", "agents.bot.tools.deny read")


def test_a_tool_that_does_not_exist_is_denied() -> None:
    found = answered(snapshot(), "raed")
    assert (found.verdict, found.layer) == ("denied", "unknown_tool")


@pytest.mark.parametrize(
    ("params", "verdict", "rule"),
    [
        ({"database": "orders"}, "allowed", ""),
        ({"database": "payroll"}, "denied", "db:read"),
        (None, "allowed", ""),  # it may run for some params: the case asks about the tool alone
    ],
)
def test_permissions_come_after_the_layers(params: Mapping[str, Any] | None, verdict: str, rule: str) -> None:
    found = answered(guarded(GRANTED), "orders_query", params=params)
    assert (found.verdict, found.rule) == (verdict, rule)
    assert found.layer == ("permissions" if verdict == "denied" else "")


def test_a_permission_that_nobody_has_denies_whatever_the_params() -> None:
    found = answered(guarded(), "orders_query")
    assert (found.verdict, found.layer, found.rule, found.grants) == ("denied", "permissions", "db:read", ())


def test_the_grants_that_took_part_are_named() -> None:
    assert answered(guarded(GRANTED), "orders_query", params={"database": "orders"}).grants == ("reads",)


@pytest.mark.parametrize("ask", ["off", "on-miss", "always"])
@pytest.mark.parametrize("security", ["deny", "allowlist", "full"])
@pytest.mark.parametrize("command", ["/bin/ls", "rm -rf /", "ls | bash", "ls $(rm x)", "FOO=1 ls"])
def test_a_command_gets_the_verdict_that_the_call_itself_would_get(command: str, security: str, ask: str) -> None:
    policy = snapshot(exec_settings={"security": security, "ask": ask})
    told = asyncio.run(rehearse(call_of("exec", command=command), FakeWorld(policy).ports))
    found = answered(policy, "exec", params={"command": command})
    assert found.verdict == ("denied" if not told.runs else "asks" if told.asks else "allowed")
    assert found.layer == ("" if found.verdict == "allowed" else "exec_policy")


@pytest.mark.parametrize(
    ("security", "ask", "verdict"),
    [
        ("deny", "off", "denied"),
        ("allowlist", "on-miss", "asks"),
        ("allowlist", "off", "allowed"),
        ("full", "on-miss", "allowed"),
        ("full", "always", "asks"),
    ],
)
def test_without_a_command_the_settings_answer_for_commands_as_such(security: str, ask: str, verdict: str) -> None:
    found = answered(snapshot(exec_settings={"security": security, "ask": ask}), "exec")
    assert (found.verdict, found.layer) == (verdict, "" if verdict == "allowed" else "exec_policy")


@pytest.mark.parametrize("command", ["", "  ", 7, None, ["ls"]])
def test_a_command_that_is_no_text_is_denied(command: Any) -> None:
    found = answered(snapshot(), "exec", params={"command": command})
    assert (found.verdict, found.rule) == ("denied", "params.command")


def test_a_host_that_the_settings_refuse_is_denied() -> None:
    found = answered(snapshot(exec_settings={"host": "gateway"}), "exec", params={"command": "ls", "host": "node"})
    assert (found.verdict, found.layer) == ("denied", "exec_policy")


def test_the_entry_that_admits_a_command_is_named() -> None:
    policy = snapshot(exec_settings={"security": "allowlist", "ask": "on-miss"})
    assert answered(policy, "exec", params={"command": "ls"}).pattern == "/bin/*"


def test_a_context_that_contradicts_itself_is_denied_as_the_call_would_be() -> None:
    found = answered(snapshot(), "read", context=CallContext(agent_id="nobody", session_key="agent:other:main"))
    assert (found.verdict, found.layer) == ("denied", "context_contradiction")


def test_what_breaks_on_the_way_is_a_denial_that_says_so() -> None:
    class Broken:
        def is_program(self, path: str) -> bool:
            raise OSError(path)

        def real_path(self, path: str) -> str:
            return path

    case = PolicyCase(name="x", context=PLACE, tool="exec", verdict="denied", params={"command": "ls"})
    policy = snapshot(exec_settings={"security": "allowlist", "ask": "on-miss"})
    (result,) = run_cases(policy, [case], files=Broken())
    assert result.answer.layer == "error" and "cannot be answered" in result.answer.reason
    assert not result.has_passed


@pytest.mark.parametrize(
    ("verdict", "layer", "passes"),
    [("denied", "", True), ("denied", "agent", True), ("denied", "global", False), ("allowed", "", False)],
)
def test_a_case_passes_when_verdict_and_layer_are_the_expected_ones(verdict: Verdict, layer: str, passes: bool) -> None:
    case = PolicyCase(name="x", context=PLACE, tool="read", verdict=verdict, layer=layer)
    (result,) = run_cases(snapshot(deny=("read",)), [case], files=FILES)
    assert result.has_passed is passes


def test_every_layer_of_a_release_may_be_named() -> None:
    assert {"agent", "sender", "owner_only", "unknown_tool", "permissions", "exec_policy"} <= set(CASE_LAYERS)
    assert len(set(CASE_LAYERS)) == len(CASE_LAYERS)


def test_the_blocks_that_decided_are_named_where_that_is_asked() -> None:
    policy = build_snapshot(
        SnapshotSource(
            tools=[ToolEntry("read"), ToolEntry("write")],
            policy=Policy(allow=("read", "write")),
            agents=[AgentSource("bot", policy=Policy(allow=None, deny=("write",)))],
        )
    )
    cases = [PolicyCase(name=tool, context=PLACE, tool=tool, verdict="allowed") for tool in ("read", "write")]
    passed, removed = run_cases(policy, cases, files=FILES, with_places=True)
    assert passed.places == ("tools", "agents.bot.tools")
    assert removed.places == ("agents.bot.tools",)
    assert run_cases(policy, cases, files=FILES)[0].places == ()
