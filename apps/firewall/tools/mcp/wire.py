"""The two streams of a connection to a server, whatever carries them, and what is known when it ended."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

import anyio
from mcp.shared.message import SessionMessage

from apps.firewall.tools.mcp.errors import McpError, McpFloodError

MESSAGE_LIMIT_BYTES: Final = 8 * 1024 * 1024
UNASKED_LIMIT: Final = 2_000


class Incoming:
    """What a server sends, message by message, as the session reads it.

    Notifications and requests of the server are taken until there are `UNASKED_LIMIT` of them since we last asked for
    something: then reading fails, and the connection with it.
    """

    def __init__(self, stream: Any) -> None:
        self.fault: McpError | None = None
        self.on_end: Callable[[], None] = lambda: None
        self._stream = stream
        self._left = UNASKED_LIMIT

    def asked(self) -> None:
        """Note that we ask for something, so that messages are due again."""
        self._left = UNASKED_LIMIT

    async def receive(self) -> SessionMessage | Exception:
        item: SessionMessage | Exception = await self._stream.receive()
        self._left -= 1
        if self._left < 0:
            self.fault = McpFloodError(f"the server sent more than {UNASKED_LIMIT} messages that nobody asked for")
            self.on_end()
            raise self.fault
        return item

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            self.on_end()
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


@dataclass(frozen=True, slots=True)
class Wire:
    """An open connection.

    Args:
        reading, writing: what the session takes.
        why: waits a moment for what is known of the end and tells it; None when it is nothing.
        remarks: what people should know of a server that goes on: stray lines, its last words.
        is_relayed: whether the last refusal came from somebody before the server, who cannot know what it did.
    """

    reading: Incoming
    writing: Any
    why: Callable[[], Awaitable[McpError | None]]
    remarks: Callable[[], str]
    is_relayed: Callable[[], bool] = lambda: False
