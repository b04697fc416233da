"""Runs tools of MCP servers."""

from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.call import Action
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.runtime.executors.remote import over_connection
from apps.firewall.tools.connections import Connection, Connections
from apps.firewall.tools.executors import McpExecutor, ToolExecutor
from apps.firewall.tools.mcp.sessions import McpSessions, Owner
from apps.firewall.tools.mcp_tool import run_mcp_tool
from apps.firewall.tools.running import ToolOutcome


class McpRunner:
    """Runs tools of kind `mcp` over the connections of their servers.

    Args:
        sessions: servers that are kept running between calls; None starts one for each call.
    """

    kind = McpExecutor.kind

    def __init__(self, connections: Connections, sessions: McpSessions | None = None) -> None:
        self._connections = connections
        self._sessions = sessions

    def runs(self, tool: ToolEntry, executor: ToolExecutor) -> bool:  # noqa: ARG002
        return True

    async def run(
        self,
        action: Action,
        tool: ToolEntry,
        executor: ToolExecutor,
        workspace: str,  # noqa: ARG002
    ) -> ToolOutcome:
        assert isinstance(executor, McpExecutor)  # noqa: S101 - the dispatch goes by kind
        definition = definition_of(tool)

        async def perform(connection: Connection) -> ToolOutcome:
            return await run_mcp_tool(
                executor,
                definition,
                action.params,
                connection=connection,
                timeout_ms=definition.timeout_ms,
                sessions=self._sessions,
                owner=Owner.of(action.environment, action.agent, action.context.get("session_key")),
                trace_id=action.trace_id,
            )

        return await over_connection(self._connections, action.environment, executor.source, perform)
