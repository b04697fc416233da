"""The engine on the command line: answers, and clear sentences for what cannot be answered."""

from pathlib import Path

import pytest

from apps.firewall.engine.__main__ import main
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import AgentSource, ChannelSource, GroupSource, SnapshotSource, ToolEntry


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    source = SnapshotSource(
        tools=[ToolEntry(name) for name in ("read", "exec", "memory_get")],
        agents=[AgentSource("bot", policy=Policy(deny=("memory_*",))), AgentSource("ops")],
        channels=[ChannelSource("telegram", {"groups": [GroupSource("-100", Policy(allow=("read",)))]})],
    )
    path = tmp_path / "snapshot.json"
    path.write_bytes(build_snapshot(source).to_bytes())
    return str(path)


def test_it_names_layer_and_rule_of_a_denied_tool(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", snapshot, "--agent", "bot", "--tool", "memory_get"]) == 1
    said = capsys.readouterr().out
    assert "layer: agent (agents.bot.tools.allow)" in said
    assert "rule: agents.bot.tools.deny memory_*" in said


def test_it_says_that_a_tool_is_allowed(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", snapshot, "--agent", "bot", "--tool", "exec"]) == 0
    assert "exec: allowed" in capsys.readouterr().out


def test_of_commands_it_names_the_setting_behind_each_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = SnapshotSource(
        tools=[ToolEntry("exec")],
        agents=[AgentSource("bot", settings={"exec": {"mode": "ask"}})],
        settings={"exec": {"host": "sandbox"}, "elevated": {"allowFrom": {"telegram": ["42"]}}},
        exec_approvals={"defaults": {"ask": "always"}},
    )
    path = tmp_path / "commands.json"
    path.write_bytes(build_snapshot(source).to_bytes())
    asked = ["explain", str(path), "--agent", "bot", "--tool", "exec", "--channel", "telegram", "--sender", "42"]
    assert main([*asked, "--sandbox"]) == 0
    said = capsys.readouterr().out
    assert "security: allowlist  agents.entries.bot.tools.exec.mode" in said
    assert "ask: always  execApprovals.defaults.ask" in said
    assert "host: sandbox  tools.exec.host" in said
    assert "elevated: allowed  tools.elevated.allowFrom.telegram" in said
    main(asked)
    assert "refused: host `sandbox` needs a sandbox" in capsys.readouterr().out


def test_it_puts_the_context_into_the_group(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--agent", "bot", "--channel", "telegram", "--group", "-100", "--sender", "42", "--owner", "no"]
    assert main(["explain", snapshot, *arguments, "--tool", "exec"]) == 1
    assert "channels.telegram.groups.-100.tools" in capsys.readouterr().out


def test_without_a_tool_it_shows_what_each_layer_removes(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", snapshot, "--agent", "bot"]) == 0
    said = capsys.readouterr().out
    assert "agents.bot.tools.allow  3 -> 2" in said
    assert "allowed: read, exec" in said


def test_it_lists_what_is_allowed(snapshot: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["allowed", snapshot, "--agent", "ops"]) == 0
    assert capsys.readouterr().out.split() == ["read", "exec", "memory_get"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--agent", "bot", "--depth", "-1"], "the depth `-1` is below 0"),
        (["--agent", "bot", "--group", "-100"], "a group needs its channel"),
        (["--group", "-100", "--channel", "telegram"], "a group needs an agent or a session key"),
        ([], "several agents are configured"),
    ],
)
def test_what_cannot_be_asked_gets_a_sentence(
    snapshot: str, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["allowed", snapshot, *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_a_missing_file_gets_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["allowed", str(tmp_path / "none.json")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_a_file_that_is_no_snapshot_gets_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "other.json"
    path.write_text("{}")
    assert main(["explain", str(path), "--agent", "bot"]) == 2
    assert "unknown snapshot format" in capsys.readouterr().err
