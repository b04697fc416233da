"""A server behind an address, spoken with over streamable HTTP; every request goes through the connector."""

import contextlib
from collections.abc import AsyncIterator
from typing import Final

import httpx2
from mcp.client.streamable_http import streamable_http_client

from apps.firewall.tools.connections import Connection
from apps.firewall.tools.connector import Connector
from apps.firewall.tools.connector.urls import check_url
from apps.firewall.tools.mcp.wire import MESSAGE_LIMIT_BYTES, Incoming, Wire

CONNECT_S: Final = 10.0
GATEWAYS: Final = frozenset({502, 504})
STREAM_LIMIT_BYTES: Final = 32 * 1024 * 1024


class _Statuses:
    """Remembers the last refusal by status: the protocol's errors do not tell it."""

    def __init__(self) -> None:
        self.refused = 0

    async def note(self, answer: httpx2.Response) -> None:
        if answer.request.method == "POST":
            self.refused = answer.status_code if answer.status_code >= 400 else 0

    def remarks(self) -> str:
        return f"its address answered with status {self.refused}" if self.refused else ""

    def is_relayed(self) -> bool:
        return self.refused in GATEWAYS


async def _nothing() -> None:
    """The connection's own errors say why it ended."""


@contextlib.asynccontextmanager
async def http_wire(connection: Connection) -> AsyncIterator[Wire]:
    """Speak with the server at a connection's address while the block lasts; its session is ended afterwards.

    Redirects are followed within the same origin only. Waiting for an answer is bounded by whoever asks.

    Raises:
        ConnectorError: the address may not be opened.
    """
    check_url(connection.url, connection.rules)
    statuses = _Statuses()
    client = httpx2.AsyncClient(
        transport=Connector.of(connection).transport(limit_bytes=STREAM_LIMIT_BYTES),
        trust_env=False,
        headers=dict(connection.headers),
        timeout=httpx2.Timeout(CONNECT_S, read=None),
        event_hooks={"response": [statuses.note]},
    )
    async with (
        client,
        streamable_http_client(connection.url, http_client=client, max_sse_event_size=MESSAGE_LIMIT_BYTES) as (
            reading,
            writing,
        ),
    ):
        yield Wire(Incoming(reading), writing, _nothing, statuses.remarks, statuses.is_relayed)
