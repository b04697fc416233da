"""`shell_execute`: judged as `exec` is, and held to the lists of its source besides."""

from dataclasses import replace
from typing import Any

import pytest

from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.runtime.call import CallResult
from apps.firewall.runtime.invoke import invoke, resume
from apps.firewall.runtime.testing import FakeExecutor, FakeFiles, FakeWorld, call_of
from apps.firewall.tools.configured import BY_NAME

PROGRAMS = FakeFiles({f"/bin/{name}": f"/bin/{name}" for name in ("ls", "rm", "env", "bash", "grep")})
FULL = {"security": "full", "ask": "off"}


def world(*, exec_settings: dict[str, Any] = FULL, **lists: list[str]) -> FakeWorld:
    tool = ToolEntry(
        "shell_execute",
        params=BY_NAME["shell_execute"].definition.parameters,
        plugin="shell",
        traits={"config": lists},
        executor={"kind": "configured", "tool": "shell_execute", "source": "shell"},
    )
    snapshot = build_snapshot(
        SnapshotSource(
            environment="production",
            tools=[tool],
            agents=[AgentSource("bot", policy=Policy(allow=("shell_execute",)))],
            settings={"exec": exec_settings},
        )
    )
    return FakeWorld(snapshot, executor=FakeExecutor(tools=frozenset({"shell_execute"}), files=PROGRAMS))


async def run(here: FakeWorld, command: str) -> CallResult:
    return await invoke(call_of("shell_execute", command=command), here.ports)


def code(result: CallResult) -> str:
    return "" if result.error is None else str(result.error["code"])


async def test_without_lists_it_is_what_exec_is() -> None:
    here = world()

    assert (await run(here, "ls -l")).status == "completed"
    assert here.executor.actions[0].argv == ["ls", "-l"]


async def test_the_exec_policy_comes_first() -> None:
    off = await run(world(exec_settings={"security": "deny"}, commands=["ls"]), "ls")
    asked = await run(world(exec_settings={"security": "allowlist", "ask": "on-miss"}, commands=["ls"]), "ls")

    assert (off.status, code(off)) == ("denied", "security_deny")
    assert asked.status == "awaiting_approval"


async def test_a_person_is_not_asked_about_what_the_lists_refuse() -> None:
    here = world(exec_settings={"security": "allowlist", "ask": "always"}, commands=["ls"])

    assert code(await run(here, "rm x")) == "command_not_listed"
    assert here.approvals.asked == []


@pytest.mark.parametrize(
    "command",
    [
        "rm x",
        "env ls",
        "ls | grep x",
        "ls; rm x",
        "ls $(rm x)",
        "ls `rm x`",
        "ls > x",
        "bash -c ls",
        "./ls",
        "/bin/ls",
        "ls\nrm x",
    ],
)
async def test_only_plain_listed_commands_run(command: str) -> None:
    here = world(commands=["ls", "env", "bash"])

    result = await run(here, command)

    assert result.status == "denied", result
    assert here.executor.actions == []
    assert [note.judgement.layer for note in here.ledger.notes] in (["command_lists"], ["exec_policy"])


@pytest.mark.parametrize(
    "command", ["rm x", "/bin/rm x", "env rm x", "ls; rm x", "ls $(rm x)", "bash -c 'rm x'", "ls|/bin/rm"]
)
async def test_a_denied_command_does_not_run_in_any_clothes(command: str) -> None:
    here = world(deny_commands=["rm"])

    assert code(await run(here, command)) == "command_denied"
    assert here.executor.actions == []


async def test_a_word_that_is_no_command_is_none() -> None:
    assert (await run(world(deny_commands=["rm"]), "grep rm notes")).status == "completed"


PATTERNS = {
    r"rm\s+-rf": "rm  -rf x",
    r">\s*/dev/": "ls > /dev/sda",
    r"\|\s*sh": "ls | sh",
    r"\$\([^)]+\)": "ls $(ls)",
}


@pytest.mark.parametrize(("pattern", "command"), PATTERNS.items())
async def test_a_denied_pattern_is_searched_in_the_whole_line(pattern: str, command: str) -> None:
    here = world(deny_patterns=[pattern])

    assert code(await run(here, command)) == "command_denied"
    assert (await run(here, "ls -l")).status == "completed"


async def test_a_pattern_that_cannot_be_used_lets_nothing_through() -> None:
    assert code(await run(world(deny_patterns=["(a+)+"]), "ls")) == "command_denied"


async def test_an_approved_command_meets_the_lists_again() -> None:
    here = world(exec_settings={"security": "allowlist", "ask": "always"})
    asked = await run(here, "rm x")
    assert asked.asked is not None

    stricter = world(exec_settings={"security": "allowlist", "ask": "always"}, deny_commands=["rm"])
    result = await resume(here.approvals.asked[0].action, approval_id=asked.asked.id, ports=stricter.ports)

    assert (result.status, code(result)) == ("denied", "command_denied")


async def test_another_tool_of_that_name_runs_no_command() -> None:
    here = world()
    entry = here.snapshot.tool("shell_execute") if here.snapshot else None
    assert entry is not None
    python = replace(entry, executor={"kind": "python", "module": "m", "attribute": "a"})
    snapshot = build_snapshot(SnapshotSource(environment="production", tools=[python], agents=[AgentSource("bot")]))

    await invoke(call_of("shell_execute", command="rm x"), replace(here, snapshot=snapshot).ports)

    assert [action.argv for action in here.executor.actions] == [None]
