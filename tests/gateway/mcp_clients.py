"""Real clients of MCP for tests of our server: the official package, over a real socket, in either of its protocols."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from apps.firewall.engine.source import ToolEntry
from apps.gateway.lifecycle import gateway
from tests.gateway.catalogues import snapshot_of
from tests.gateway.server import Holder, Server

PATH = "/api/v1/mcp"
MODES = ("legacy", "auto")
"""With a greeting and sessions, as up to 2025; and as since 2026, without."""

CONTROLS = frozenset({"tool_search", "tool_describe", "tool_call"})

T = TypeVar("T")


@asynccontextmanager
async def connected(
    server: Server, secret: str, *, query: str = "agent=bot", mode: Any = "legacy"
) -> AsyncIterator[Client]:
    """Connect a client."""
    headers = {"Authorization": f"Bearer {secret}"}
    async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(30, read=60)) as http:
        url = f"{server.url}{PATH}?{query}"
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            yield client


def through(
    server: Server,
    secret: str,
    work: Callable[[Client], Awaitable[T]],
    *,
    query: str = "agent=bot",
    mode: Any = "legacy",
) -> T:
    """Do something as a client, and disconnect."""

    async def done() -> T:
        async with connected(server, secret, query=query, mode=mode) as client:
            return await work(client)

    return asyncio.run(done())


def text_of(result: CallToolResult) -> str:
    """Put the text of a result together."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def called_id(result: CallToolResult) -> str:
    """Give the id of the call that a result is of."""
    assert result.meta is not None
    return str(result.meta["openclaw-admin/call"])


def publish(server: Server, holder: Holder, tools: Sequence[ToolEntry], **more: Any) -> None:
    """Make other tools live."""
    holder.snapshot = snapshot_of(tools, **more)
    server.run(gateway().snapshots.reload())
