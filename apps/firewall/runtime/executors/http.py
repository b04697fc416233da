"""Runs tools that live on a server: one signed request a call."""

from uuid import UUID

from apps.firewall.engine.source import ToolEntry
from apps.firewall.identifiers import show_id
from apps.firewall.runtime.call import Action
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.runtime.executors.remote import over_connection
from apps.firewall.tools.connections import Connection, Connections
from apps.firewall.tools.executors import HttpExecutor, ToolExecutor
from apps.firewall.tools.http_tool import run_http_tool
from apps.firewall.tools.running import ToolOutcome


class HttpRunner:
    """Runs tools of kind `http` over the connections of their sources."""

    kind = HttpExecutor.kind

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def runs(self, tool: ToolEntry, executor: ToolExecutor) -> bool:  # noqa: ARG002
        return True

    async def run(
        self,
        action: Action,
        tool: ToolEntry,
        executor: ToolExecutor,
        workspace: str,  # noqa: ARG002
    ) -> ToolOutcome:
        assert isinstance(executor, HttpExecutor)  # noqa: S101 - the dispatch goes by kind
        definition = definition_of(tool)

        async def perform(connection: Connection) -> ToolOutcome:
            return await run_http_tool(
                executor,
                definition,
                action.params,
                connection=connection,
                timeout_ms=definition.timeout_ms,
                call_id=show_id("call", UUID(action.call_id)),  # as people find it in the audit
                trace_id=action.trace_id,
            )

        return await over_connection(self._connections, action.environment, executor.source, perform)
