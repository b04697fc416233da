"""Runs the firewall's own tools that sources configure."""

import sys
from collections.abc import Callable, Sequence

from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.call import Action
from apps.firewall.runtime.executors.builtin import command_needs, place_of
from apps.firewall.runtime.executors.remote import over_connection
from apps.firewall.sandbox.levels import offer
from apps.firewall.tools.browser.slots import BrowserSlots
from apps.firewall.tools.configured import BY_NAME, TOOLS, ConfiguredTool
from apps.firewall.tools.connections import Connection, Connections
from apps.firewall.tools.connector import Resolve, system_resolve
from apps.firewall.tools.executors import ConfiguredExecutor, ToolExecutor
from apps.firewall.tools.running import Command, Place, ToolOutcome, failed
from apps.firewall.tools.sandboxing import Allowance, Sandbox, Terms
from apps.firewall.tools.work import DatabasePlace, Work


class ConfiguredRunner:
    """Runs the tools of `apps.firewall.tools.configured`.

    Args:
        resolve: what tells the addresses of a name.
        query_program: path of the program that asks databases; `database_places` reads their addresses.
        browsers: how many may be open at once; None for as many as are asked for.
    """

    kind = ConfiguredExecutor.kind

    def __init__(
        self,
        connections: Connections,
        *,
        sandbox: Sandbox | None = None,
        python: str = sys.executable,
        resolve: Resolve = system_resolve,
        query_program: str = "",
        database_places: Callable[[str], Sequence[DatabasePlace]] | None = None,
        browsers: BrowserSlots | None = None,
    ) -> None:
        self._connections = connections
        self._sandbox = sandbox or Sandbox(Allowance(), offer())
        self._python = python
        self._resolve = resolve
        self._query_program = query_program
        self._database_places = database_places
        self._browsers = browsers

    def runs(self, tool: ToolEntry, executor: ToolExecutor) -> bool:  # noqa: ARG002
        return isinstance(executor, ConfiguredExecutor) and executor.tool in BY_NAME

    def check(self, tool: ToolEntry) -> None:
        """Let through a tool that can have the sandbox it needs.

        Raises:
            SandboxRefusedError: it cannot.
        """
        own = BY_NAME.get((tool.executor or {}).get("tool", ""))
        if own is not None and own.is_process:
            self._terms(own)

    async def run(self, action: Action, tool: ToolEntry, executor: ToolExecutor, workspace: str) -> ToolOutcome:  # noqa: ARG002
        assert isinstance(executor, ConfiguredExecutor)  # noqa: S101 - the dispatch goes by kind

        async def perform(connection: Connection) -> ToolOutcome:
            own = next((each for each in TOOLS.get(connection.kind, ()) if each.definition.name == executor.tool), None)
            if own is None:
                return failed("source_unfit", f"the source `{executor.source}` configures no `{executor.tool}`")
            place = Place(root=workspace, python=self._python)
            work = Work(
                place=place_of(self._terms(own), workspace, self._python) if own.is_process else place,
                connection=connection,
                command=_command(action),
                resolve=self._resolve,
                query_program=self._query_program,
                database_places=self._database_places,
                environment=action.environment,
                browsers=self._browsers,
            )
            return await own.run(action.params, work)

        return await over_connection(self._connections, action.environment, executor.source, perform)

    def _terms(self, own: ConfiguredTool) -> Terms:
        needs = own.definition.sandbox or command_needs(self._sandbox)
        return self._sandbox.terms(needs, prefers_isolation=True)


def _command(action: Action) -> Command | None:
    if action.argv is None:
        return None
    return Command(argv=tuple(action.argv), executable=action.executable, cwd=action.cwd, env=action.env)
