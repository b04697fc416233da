"""Which runner a tool gets: the one its record names, and never one under the name of a core tool."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.call import Action
from apps.firewall.runtime.executors.builtin import BuiltinRunner
from apps.firewall.runtime.executors.dispatch import Executors
from apps.firewall.runtime.executors.workspaces import Workspaces
from apps.firewall.tools.executors import ToolExecutor
from apps.firewall.tools.running import ToolOutcome


class PythonDouble:
    """Stands where Python tools run, and says what it was asked to run."""

    kind = "python"

    def runs(self, tool: ToolEntry, executor: ToolExecutor) -> bool:
        return True

    async def run(self, action: Action, tool: ToolEntry, executor: ToolExecutor, workspace: str) -> ToolOutcome:
        return ToolOutcome(result={"executor": executor, "workspace": workspace})


@pytest.fixture
def executors(tmp_path: Path) -> Executors:
    return Executors(Workspaces(tmp_path), (BuiltinRunner(), PythonDouble()))


def action(tool: str, **params: Any) -> Action:
    return Action(
        call_id=str(uuid4()),
        environment="production",
        agent="bot",
        actor="",
        requester="",
        trace_id="",
        tool=tool,
        params=params,
        context={},
        snapshot="",
    )


PYTHON = {"kind": "python", "module": "weather", "attribute": "Weather"}


@pytest.mark.parametrize("executor", [None, {}, {"kind": "builtin"}])
async def test_a_core_tool_runs_here_with_and_without_a_record_of_it(executors: Executors, executor: Any) -> None:
    tool = ToolEntry("write", executor=executor)

    outcome = await executors.run(action("write", path="a", content="x"), tool)

    assert executors.runs(tool)
    assert (outcome.ended, outcome.result) == ("completed", {"path": "a", "bytes": 1, "created": True})


async def test_a_tool_goes_to_the_runner_of_its_kind(executors: Executors, tmp_path: Path) -> None:
    tool = ToolEntry("get_weather", plugin="weather", executor=PYTHON)

    outcome = await executors.run(action("get_weather"), tool)

    assert executors.runs(tool)
    assert outcome.result is not None
    assert outcome.result["executor"].attribute == "Weather"
    assert Path(outcome.result["workspace"]).parent.parent == tmp_path.resolve()


@pytest.mark.parametrize(
    "tool",
    [
        ToolEntry("get_weather"),
        ToolEntry("get_weather", executor={"kind": "builtin"}),
        ToolEntry("get_weather", executor={"kind": "wish"}),
        ToolEntry("get_weather", executor={"kind": "python", "url": "http://x"}),
        ToolEntry("get_weather", executor={"kind": "http", "url": "http://x", "source": "s"}),
        ToolEntry("exec", executor=PYTHON),
        ToolEntry("exec", plugin="weather"),
        ToolEntry("read", plugin="weather", executor={"kind": "builtin"}),
    ],
    ids=lambda tool: f"{tool.name} {tool.plugin} {tool.executor}",
)
async def test_what_has_no_runner_or_takes_a_core_name_does_not_run(executors: Executors, tool: ToolEntry) -> None:
    assert not executors.runs(tool)

    outcome = await executors.run(action(tool.name), tool)

    assert outcome.error == {"code": "no_executor", "message": f"the tool `{tool.name}` cannot run here"}


async def test_an_action_runs_with_its_own_tool_only(executors: Executors) -> None:
    outcome = await executors.run(action("read", path="a"), ToolEntry("write"))

    assert outcome.error is not None
    assert outcome.error["code"] == "no_executor"
