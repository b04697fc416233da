"""Runs what belongs to a run: the controls of its tool search, and the tools that its own caller runs."""

from typing import Protocol

from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.call import Action
from apps.firewall.tools.executors import ClientExecutor, SearchExecutor, ToolExecutor
from apps.firewall.tools.running import ToolOutcome, failed

NO_RUN = ("no_run", "this tool works within a run only")


class RunsOfAgents(Protocol):
    """The runs of agents, wherever they are kept."""

    async def control(self, action: Action) -> ToolOutcome:
        """Search or describe the catalogue of the action's run, or run its code; cancelling it ends what it began."""

    async def client(self, action: Action) -> ToolOutcome:
        """Have the run's caller run an action, and wait for what it reports."""


class SearchRunner:
    """Runs the controls of tool search."""

    kind = SearchExecutor.kind

    def __init__(self, runs: RunsOfAgents) -> None:
        self._runs = runs

    def runs(self, tool: ToolEntry, executor: ToolExecutor) -> bool:  # noqa: ARG002
        return isinstance(executor, SearchExecutor)

    async def run(self, action: Action, tool: ToolEntry, executor: ToolExecutor, workspace: str) -> ToolOutcome:  # noqa: ARG002
        return failed(*NO_RUN) if action.bridge is None else await self._runs.control(action)


class ClientRunner:
    """Has tools run by the caller who offered them."""

    kind = ClientExecutor.kind

    def __init__(self, runs: RunsOfAgents) -> None:
        self._runs = runs

    def runs(self, tool: ToolEntry, executor: ToolExecutor) -> bool:  # noqa: ARG002
        return isinstance(executor, ClientExecutor)

    async def run(self, action: Action, tool: ToolEntry, executor: ToolExecutor, workspace: str) -> ToolOutcome:  # noqa: ARG002
        return failed(*NO_RUN) if action.bridge is None else await self._runs.client(action)
