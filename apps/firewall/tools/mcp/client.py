"""One live connection to a server: greeted once, asked as often as one likes, every answer bounded in time."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import httpx2
from mcp import ClientSession
from mcp.shared.dispatcher import CallOptions, ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    PaginatedRequestParams,
)
from pydantic import ValidationError

from apps.firewall.errors import FirewallError
from apps.firewall.tools.connections import Connection, hidden
from apps.firewall.tools.mcp.errors import (
    McpEndedError,
    McpError,
    McpFloodError,
    McpProtocolError,
    McpRefusedError,
    McpSettingsError,
    McpTimedOutError,
    McpUnreachableError,
)
from apps.firewall.tools.mcp.http import http_wire
from apps.firewall.tools.mcp.stdio import stdio_wire
from apps.firewall.tools.mcp.wire import Wire
from apps.firewall.tools.progress import Report, read_progress

OURS: Final = Implementation(name="openclaw-admin", version="1")
PAGES_LIMIT: Final = 100
TOOLS_LIMIT: Final = 2_000
LEAVE_S: Final = 8.0
EXPLAIN_S: Final = 3.0
MESSAGE_CHARACTERS: Final = 500
NO_ANSWER: Final = frozenset({CONNECTION_CLOSED, PARSE_ERROR})

T = TypeVar("T")

for _logger in ("mcp", "client", "httpx2"):  # they write what servers send, and full addresses, into our log
    logging.getLogger(_logger).setLevel(logging.CRITICAL)

WIRES: Final[Mapping[str, Callable[[Connection], AbstractAsyncContextManager[Wire]]]] = {
    "mcp_stdio": stdio_wire,
    "mcp_http": http_wire,
}


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What a server says of itself."""

    name: str = ""
    version: str = ""
    title: str = ""
    protocol: str = ""
    instructions: str = ""


class _Dispatcher(JSONRPCDispatcher[TransportContext]):
    """Keeps the raw tools of a listing: one that is badly made must not break the others of its page."""

    tools: list[Any]

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None, **more: Any
    ) -> dict[str, Any]:
        answer = await super().send_raw_request(method, params, opts, **more)
        if method == "tools/list" and isinstance(answer.get("tools"), list):
            self.tools = answer["tools"]
            return {**answer, "tools": []}
        return answer


class McpClient:
    """A connection that `start` opens and `stop` closes; both, and all questions, belong to one event loop."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.fault: McpError | None = None
        self._wire: Wire | None = None
        self._dispatcher: _Dispatcher | None = None
        self._session: ClientSession | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._leaving = asyncio.Event()
        self._is_stopping = False

    @property
    def is_alive(self) -> bool:
        """Say whether it was opened, and nothing ended it since."""
        return self._session is not None and not self._leaving.is_set() and self.fault is None

    @property
    def remarks(self) -> str:
        """What people should know of how the server behaves; empty when there is nothing."""
        return "" if self._wire is None else self._hidden(self._wire.remarks())

    async def start(self, *, timeout_s: float) -> None:
        """Open the connection and greet.

        Raises:
            McpError: why it is not open; nothing of it is left then.
        """
        self._keeper = asyncio.create_task(self._keep())
        waiting = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait({waiting, self._keeper}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.stop()
            raise
        finally:
            waiting.cancel()
        if self._ready.is_set():
            return
        fault = self.fault
        if fault is None:
            fault = McpTimedOutError(self._with_remarks(f"the server did not greet within {_seconds(timeout_s)}"))
        await self.stop()
        raise self._without_secrets(fault)

    async def stop(self) -> None:
        """Close the connection; the process of a server is gone afterwards."""
        self._is_stopping = True
        self._leaving.set()
        keeper = self._keeper
        if keeper is None:
            return
        if self._session is None:
            keeper.cancel()
        done, _ = await asyncio.wait({keeper}, timeout=LEAVE_S)
        if not done:
            keeper.cancel()
            await asyncio.wait({keeper})

    @property
    def facts(self) -> ServerFacts:
        """What the server said when it was greeted."""
        session = self._session
        if session is None:
            return ServerFacts()
        told = session.server_info
        return ServerFacts(
            name=told.name if told else "",
            version=told.version if told else "",
            title=(told.title or "") if told else "",
            protocol=session.protocol_version or "",
            instructions=session.instructions or "",
        )

    async def tools(self, *, timeout_s: float) -> list[Any]:
        """List the server's tools as it wrote them, all pages.

        Raises:
            McpError: a page did not come, or there are too many.
        """
        session, dispatcher = self._open()
        found: list[Any] = []

        async def all_pages() -> None:
            cursor: str | None = None
            for _ in range(PAGES_LIMIT):
                self._asked()
                params = PaginatedRequestParams(cursor=cursor) if cursor else None
                dispatcher.tools = []
                page = await session.list_tools(params=params)
                found.extend(dispatcher.tools)
                if not page.next_cursor:
                    return
                if page.next_cursor == cursor or len(found) > TOOLS_LIMIT:
                    break
                cursor = page.next_cursor
            raise McpFloodError(f"the list of tools does not end: {len(found)} so far")

        await self._within(timeout_s, all_pages(), "list its tools")
        if len(found) > TOOLS_LIMIT:
            raise McpFloodError(f"the server lists {len(found)} tools, {TOOLS_LIMIT} are allowed")
        return found

    async def call(
        self, tool: str, params: Mapping[str, Any], *, timeout_s: float, report: Report | None = None
    ) -> CallToolResult:
        """Call a tool by the server's own name for it.

        Args:
            report: hears how far the server says it has come.

        Raises:
            McpError: there is no answer, or it is none.
            asyncio.CancelledError: the server was told, and goes on or not as it likes.
        """
        session, _ = self._open()
        self._asked()
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=dict(params)))
        asking = session.send_request(
            request, CallToolResult, progress_callback=None if report is None else self._heard(report)
        )
        return await self._within(timeout_s, asking, f"answer `{tool}`")

    def _heard(self, report: Report) -> ProgressFnT:
        async def hear(progress: float, total: float | None, message: str | None) -> None:
            news = read_progress({"message": message, "done": progress, "total": total})
            if news is not None:
                report(news)

        return hear

    async def _keep(self) -> None:
        """Hold the connection open from one task, as its scopes want it, and note what ended it."""
        open_wire = WIRES.get(self.connection.kind)
        try:
            if open_wire is None:
                raise McpSettingsError(f"a source of kind `{self.connection.kind}` is no MCP server")
            async with open_wire(self.connection) as wire:
                self._wire = wire
                self._dispatcher = _Dispatcher(wire.reading, wire.writing)
                async with ClientSession(dispatcher=self._dispatcher, client_info=OURS) as session:
                    await _greet(session)
                    wire.reading.on_end = self._leaving.set
                    self._session = session
                    self._ready.set()
                    await self._leaving.wait()
                    if not self._is_stopping:
                        self.fault = await self._why()
        except (ExceptionGroup, FirewallError, OSError) as exc:
            self.fault = await self._fault_of(_first(exc))
        finally:
            self._leaving.set()

    async def _within(self, timeout_s: float, asking: Awaitable[T], what: str) -> T:
        try:
            async with asyncio.timeout(timeout_s):
                return await asking
        except TimeoutError:
            fault = McpTimedOutError(self._with_remarks(f"the server did not {what} within {_seconds(timeout_s)}"))
            raise self._without_secrets(fault) from None
        except (MCPError, ValidationError, RuntimeError) as exc:
            raise self._without_secrets(await self._fault_of(exc)) from None

    async def _fault_of(self, error: BaseException) -> McpError:
        if isinstance(error, McpError):
            return error
        if isinstance(error, MCPError):
            if error.code == CONNECTION_CLOSED and error.message == "Connection closed":
                return await self._why()
            # what carries messages made such an error of what it got instead of an answer
            if error.code in NO_ANSWER or (self._wire is not None and self._wire.is_relayed()):
                return McpProtocolError(self._with_remarks(f"the server did not answer: {_cut(error.message)}"))
            return McpRefusedError(self._with_remarks(f"the server refused: {_cut(error.message)} ({error.code})"))
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(step) for step in first["loc"])
            return McpProtocolError(f"the server's answer has not the form it must have: {place}: {first['msg']}")
        if isinstance(error, FirewallError | httpx2.TransportError):
            return McpUnreachableError(str(error))
        return McpProtocolError(_cut(str(error)) or type(error).__name__)

    async def _why(self) -> McpError:
        """Tell why the connection closed: what carries it knows, else what its keeper notes."""
        wire = self._wire
        told = self.fault or (wire.reading.fault or await wire.why() if wire is not None else None)
        if told is None and self._keeper is not None and self._keeper is not asyncio.current_task():
            await asyncio.wait({self._keeper}, timeout=EXPLAIN_S)
            told = self.fault
        return told or McpEndedError(self._with_remarks("the server closed the connection"))

    def _open(self) -> tuple[ClientSession, _Dispatcher]:
        if self._session is None or self._dispatcher is None:
            raise McpEndedError("the connection is not open")
        return self._session, self._dispatcher

    def _asked(self) -> None:
        if self._wire is not None:
            self._wire.reading.asked()

    def _with_remarks(self, told: str) -> str:
        return f"{told}; {self.remarks}" if self.remarks else told

    def _without_secrets(self, fault: McpError) -> McpError:
        return type(fault)(self._hidden(fault.message))

    def _hidden(self, text: str) -> str:
        """Take the secrets of the source out of what its server says: it may say them back, and it is recorded."""
        return hidden(text, self.connection.sealed_texts)


async def _greet(session: ClientSession) -> None:
    """Shake hands as servers up to 2025 do, else ask as those since 2026 want it."""
    try:
        await session.initialize()
    except MCPError as exc:
        if exc.code not in {METHOD_NOT_FOUND, UNSUPPORTED_PROTOCOL_VERSION}:
            raise
        await session.discover()


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _cut(text: str) -> str:
    return text if len(text) <= MESSAGE_CHARACTERS else f"{text[:MESSAGE_CHARACTERS]}…"


def _seconds(timeout_s: float) -> str:
    return f"{timeout_s:g} s"
