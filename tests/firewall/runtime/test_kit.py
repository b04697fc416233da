"""The kit for authors: the sample's own tests pass, and what cannot be called says why."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from apps.firewall.runtime.kit import ToolNotReadyError, run_tool

ROOT = Path(__file__).parents[3]
WEATHER = ROOT / "docs" / "examples" / "tools" / "weather"
TOOL = """
from openclaw_admin.tools import ToolContext, tool


@tool
def tell(context: ToolContext):
    return {"units": context.config.get("units"), "letters": len(context.config.get("key", "")), "who": context.session}


@tool
def leak(context: ToolContext):
    return {"key": context.config["key"]}


@tool
def reach():
    import socket
    socket.create_connection(("127.0.0.1", 9), timeout=1)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "office_tool.py").write_text(TOOL)
    return tmp_path


@pytest.mark.unhurried
@pytest.mark.slow
def test_the_samples_own_tests_pass() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(WEATHER)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout
    assert "4 passed" in ran.stdout


def test_a_tool_gets_the_config_and_the_caller_that_a_test_gives(folder: Path) -> None:
    config = {"units": "metric", "key": {"$secret": "KEY"}}
    answer = run_tool(folder, "tell", config=config, secrets={"KEY": "s3cret-text"}, channel="slack", sender_id="U1")
    assert answer.result is not None, answer.error
    assert (answer.result["units"], answer.result["letters"]) == ("metric", 11)
    assert answer.result["who"]["sender_id"] == "U1"


def test_a_secret_that_a_tool_says_back_is_masked_as_in_production(folder: Path) -> None:
    answer = run_tool(folder, "leak", config={"key": {"$secret": "KEY"}}, secrets={"KEY": "s3cret-text"})
    assert answer.result == {"key": "***"}


def test_a_tool_is_held_as_in_production(folder: Path) -> None:
    answer = run_tool(folder, "reach")
    assert answer.error is not None
    assert (answer.status, answer.error["code"]) == ("failed", "tool_raised")


def test_a_folder_without_the_tool_says_what_is_broken_in_it(folder: Path) -> None:
    (folder / "tool_bad.py").write_text("def broken(:")
    with pytest.raises(ToolNotReadyError, match=r"no tool named `gone`; tool_bad\.py: ") as caught:
        run_tool(folder, "gone")
    assert caught.value.code == "tool_not_ready"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolNotReadyError, match="cannot be looked through"):
        run_tool(tmp_path / "nowhere", "tell")
