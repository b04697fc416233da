"""Runs one call of a tool that an MCP server brings."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from apps.firewall.identifiers import trace_headers
from apps.firewall.tools.connections import Connection, Secrets
from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.executors import McpExecutor
from apps.firewall.tools.mcp.errors import McpError, McpRefusedError
from apps.firewall.tools.mcp.sessions import McpSessions, Owner, opened, start_limit_s
from apps.firewall.tools.progress import reporter
from apps.firewall.tools.running import ToolOutcome, failed

if TYPE_CHECKING:
    from apps.firewall.tools.mcp.client import McpClient

DEFAULT_TIMEOUT_MS: Final = 60_000
NOBODY: Final = Owner("")
KEPT: Final = frozenset({"mcp_stdio"})
"""Kinds whose connections are kept between calls: a process is dear to start, an address is opened in no time."""


async def run_mcp_tool(
    executor: McpExecutor,
    definition: Definition,
    params: JsonObject,
    *,
    connection: Connection,
    timeout_ms: int | None = None,
    sessions: McpSessions | None = None,
    owner: Owner = NOBODY,
    trace_id: str = "",
) -> ToolOutcome:
    """Call a tool on its server, and say in every case what became of it.

    Args:
        definition: as it was accepted; structured content is held to its output schema, whatever the server says now.
        timeout_ms: for the answer; opening the connection has a bound of its own.
        sessions: kept connections, of which servers that are processes are lent one.
        owner: whose connections these are.
        trace_id: of the trace that the call belongs to; each request to an address carries it on.
    Returns:
        `completed` with the result; `failed` with its cause; `unknown` when the server took the call and nobody knows
        what it did.
    Raises:
        asyncio.CancelledError: the caller was cancelled; the server was told.
    """
    timeout_s = (timeout_ms or definition.timeout_ms or DEFAULT_TIMEOUT_MS) / 1000
    try:
        async with _client(connection, sessions, owner, trace_id) as client:
            return await _call(client, executor, definition, params, timeout_s, sessions)
    except McpError as exc:  # it could not be opened, so nothing was asked
        return failed(exc.code, str(exc))


async def _call(
    client: "McpClient",
    executor: McpExecutor,
    definition: Definition,
    params: Mapping[str, Any],
    timeout_s: float,
    sessions: McpSessions | None,
) -> ToolOutcome:
    from apps.firewall.tools.mcp.results import outcome_of  # with the client, which is there by now

    try:
        answer = await client.call(executor.tool, params, timeout_s=timeout_s, report=reporter())
    except asyncio.CancelledError:
        if sessions is not None:  # the server may still be at it, and the next call would wait behind
            sessions.distrust(client)
        raise
    except McpRefusedError as exc:
        return failed(exc.code, str(exc))
    except McpError as exc:
        if sessions is not None:
            sessions.distrust(client)
        return ToolOutcome(ended="unknown", error={"code": exc.code, "message": str(exc)})
    return outcome_of(answer, definition)


def _client(
    connection: Connection, sessions: McpSessions | None, owner: Owner, trace_id: str
) -> AbstractAsyncContextManager["McpClient"]:
    start_s = start_limit_s(connection)
    if sessions is not None and connection.kind in KEPT:
        return sessions.client(owner, connection, timeout_s=start_s)
    headers = Secrets({**connection.headers, **trace_headers(trace_id)})
    return opened(replace(connection, headers=headers), timeout_s=start_s)
