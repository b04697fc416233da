"""News of running tools: what is told, what is taken out, and that an answer is never mistaken for news."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.runtime.results import ResultRules
from apps.firewall.runtime.results.news import OUTPUT_LIMIT, shown_news
from apps.firewall.tools.builtin import exec as exec_tool
from apps.firewall.tools.executors import PythonExecutor
from apps.firewall.tools.progress import OUTPUT_BYTES, OutputTail, Progress, reported_to, reported_without
from apps.firewall.tools.python_tools import PythonTools
from apps.firewall.tools.running import Command, Place
from apps.firewall.tools.sifting import NewsSift

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
NEWS = b'{"progress": {"message": "half", "done": 1, "total": 2}}\n'
ANSWER = b'{"result": {"progress": "{\\"progress\\": 1}"}}\n'

TOOL = """
import time
from openclaw_admin.tools import ToolContext, tool

@tool
def steps(context: ToolContext) -> dict:
    for number in (1, 2, 3):
        context.progress(f"step {number} of the key " + context.config.get("key", ""), done=number, total=3)
        time.sleep(0.15)
    context.progress(float("nan"), done=float("inf"), total="many")
    print("to nobody")
    return {"steps": 3}
"""


@pytest.fixture
def heard() -> Iterator[list[Progress]]:
    found: list[Progress] = []
    with reported_to(found.append):
        yield found


@pytest.mark.unhurried
async def test_a_python_tool_tells_how_far_it_has_come(heard: list[Progress], tmp_path: Path) -> None:
    (tmp_path / "steps_tool.py").write_text(TOOL)
    (tmp_path / "desk").mkdir()
    executor = PythonExecutor(attribute="steps", module="steps_tool", folder=str(tmp_path))
    order = {"name": "steps", "params": {}, "config": {"key": SECRET}, "context": {}}

    with reported_without([SECRET]):
        outcome = await PythonTools().run(executor, order, workspace=str(tmp_path / "desk"))

    assert outcome.result == {"steps": 3}, outcome
    assert [(news.done, news.total) for news in heard[:3]] == [(1, 3), (2, 3), (3, 3)]
    assert heard[0].message == "step 1 of the key ***"
    assert all(news.done is None or news.done < 10 for news in heard)


@pytest.mark.unhurried
async def test_a_command_shows_the_end_of_its_output(heard: list[Progress], tmp_path: Path) -> None:
    code = "import time\nfor n in range(3):\n    print('line', n, flush=True)\n    time.sleep(0.1)\n"
    command = Command(argv=("python3", "-c", code), executable=str(Path(sys.executable).resolve()), cwd=str(tmp_path))

    outcome = await exec_tool.run({"command": "x"}, Place(root=str(tmp_path), python=sys.executable), command)

    assert outcome.result is not None and outcome.result["stdout"] == "line 0\nline 1\nline 2\n", outcome
    assert heard[0].output.startswith("line 0\n") and heard[-1].output == "line 0\nline 1\nline 2\n"


@given(st.lists(st.sampled_from([NEWS, b"x\n", b'{"progressive": 1}\n', b"\n"]), max_size=6), st.data())
def test_news_are_taken_out_wherever_the_stream_is_cut(lines: list[bytes], data: Any) -> None:
    stream = b"".join(lines) + ANSWER
    found: list[Progress] = []
    with reported_to(found.append):
        sift = NewsSift()

    kept, at = b"", 0
    while at < len(stream):
        end = data.draw(st.integers(at + 1, len(stream)))
        kept += sift.watch("stdout", stream[at:end])
        at = end

    assert kept == b"".join(line for line in lines if line != NEWS) + ANSWER
    assert found == [Progress(message="half", done=1, total=2)] * lines.count(NEWS)


@pytest.mark.parametrize("forged", [b'{"progress": 7}\n', b'{"progress": [\n', b'{"progress": {"message": 1e999}}\n'])
def test_forged_news_tell_nothing(heard: list[Progress], forged: bytes) -> None:
    assert NewsSift().watch("stdout", forged + ANSWER) == ANSWER
    assert all(news == Progress() for news in heard)


def test_a_line_of_news_without_end_is_no_news(heard: list[Progress]) -> None:
    sift = NewsSift()
    assert sum(len(sift.watch("stdout", b'{"progress": "' + b"x" * 4000)) for _ in range(20)) > 40_000
    assert heard == []


def test_what_is_shown_is_masked_and_short(heard: list[Progress]) -> None:
    tail = OutputTail()
    tail.watch("stdout", f"{SECRET}\n".encode() * 2000)

    assert heard[-1].is_cut and len(heard[-1].output) == OUTPUT_BYTES
    shown = shown_news(Progress(message=f"use {SECRET}", output=heard[-1].output, is_cut=True), ResultRules())
    assert SECRET[4:20] not in json.dumps(shown) and len(shown["output"]) <= OUTPUT_LIMIT
    assert shown["output"].startswith("[masked 44 characters")
