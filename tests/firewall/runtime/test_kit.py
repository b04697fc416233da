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


FAILING = """
import os
from pathlib import Path
from openclaw_admin.tools import ToolContext, tool


@tool(idempotent=True, retry={"max_retries": 2, "delay_ms": 1})
def crash_once(context: ToolContext):
    mark = Path(context.workspace) / "mark"
    if not mark.exists():
        mark.write_text("x")
        os._exit(3)
    return {"runs": "again"}


@tool
def read_lamp(context: ToolContext):
    raise LookupError("no lamp behind " + context.config["key"])


@tool
def read_deep():
    try:
        raise OSError("no wire")
    except OSError as exc:
        raise ValueError("x" * 50_000) from exc
"""


def test_a_crash_is_retried_where_the_tool_says_so(tmp_path: Path) -> None:
    (tmp_path / "lamp_tool.py").write_text(FAILING)
    answer = run_tool(tmp_path, "crash_once")
    assert (answer.status, answer.result) == ("completed", {"runs": "again"})
    assert [each["code"] for each in answer.warnings] == ["retried"]


def test_a_raising_tool_shows_its_author_the_traceback_and_its_caller_the_class(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "lamp_tool.py").write_text(FAILING)

    answer = run_tool(tmp_path, "read_lamp", config={"key": {"$secret": "KEY"}}, secrets={"KEY": "s3cret-text"})

    assert answer.error is not None
    assert answer.error["message"] == "the tool broke: LookupError"
    assert answer.cause is not None
    assert (answer.cause.exception, answer.cause.message) == ("LookupError", "no lamp behind ***")
    shown = capsys.readouterr().err
    assert f'File "{tmp_path}/lamp_tool.py", line 18, in read_lamp' in shown
    assert "LookupError: no lamp behind ***" in shown
    assert "s3cret-text" not in shown + str(answer)
    assert "host.py" not in shown


def test_what_it_shows_is_bounded_and_names_the_cause_of_the_cause(tmp_path: Path) -> None:
    (tmp_path / "lamp_tool.py").write_text(FAILING)
    answer = run_tool(tmp_path, "read_deep")
    assert answer.cause is not None
    assert answer.cause.traceback.startswith("Traceback") and "OSError: no wire" in answer.cause.traceback
    assert len(answer.cause.message) == 1_000
    assert 7_000 < len(answer.cause.traceback) <= 8_100
