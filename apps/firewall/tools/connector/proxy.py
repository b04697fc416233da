"""Lets a program out that speaks HTTP by itself: a proxy on a socket in a folder, under the connector's rules.

The program that uses it has no other way out. Each request and each tunnel is judged by where it leads; a name is
resolved once for all of them, every address of it is checked, and to exactly these is connected. What is refused gets
no answer: the line closes, and `refusals` has the reason.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import h11

from apps.firewall.tools.connections import AddressRules
from apps.firewall.tools.connector.addresses import Address
from apps.firewall.tools.connector.errors import (
    AnswerBrokenError,
    ConnectorError,
    UnreachableError,
    UrlRefusedError,
)
from apps.firewall.tools.connector.resolving import Resolve, addresses_of, system_resolve
from apps.firewall.tools.connector.urls import Target, check_url, read_target

CONNECT_LIMIT_S: Final = 10.0
CHUNK_BYTES: Final = 65536
HEAD_LIMIT_BYTES: Final = 128 * 1024
LINES_LIMIT: Final = 2_000
LINES_AT_ONCE: Final = 128
REFUSALS_LIMIT: Final = 100
TLS_BEGINS: Final = b"\x16"
_OF_ONE_LINE: Final = frozenset(
    {b"connection", b"host", b"keep-alive", b"proxy-authorization", b"proxy-connection", b"te", b"trailer", b"upgrade"}
)


@dataclass(slots=True)
class _Line:
    """Both ends of a line: the program's, or that of the server it asks."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, part: bytes | None) -> None:
        if part:
            if self.writer.is_closing():
                raise BrokenPipeError("the other end has hung up")
            self.writer.write(part)
            await self.writer.drain()


@dataclass(slots=True, kw_only=True)
class GuardedProxy:
    """One program's way out. It serves as long as the block of `serving` lasts; nothing of it is used twice.

    Args:
        bytes_limit: of all that is carried, both ways together.
        refusals: place (`host:port`) -> why it was not reached, the latest for each.
    """

    rules: AddressRules
    resolve: Resolve = system_resolve
    bytes_limit: int
    refusals: dict[str, ConnectorError] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)
    carried_bytes: int = 0
    _found: dict[str, asyncio.Task[list[Address]]] = field(default_factory=dict)
    _lines: set[asyncio.Task[None]] = field(default_factory=set)
    _count: int = 0

    @asynccontextmanager
    async def serving(self, path: str) -> AsyncIterator[None]:
        """Serve at a path for a socket; all lines are closed at the end."""
        server = await asyncio.start_unix_server(self._accept, path)
        try:
            yield
        finally:
            server.close()
            tasks = [*self._lines, *self._found.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def refusal(self, url: str) -> ConnectorError | None:
        """Say why a URL was not reached; None when it was, or when nobody asked for it."""
        try:
            return self.refusals.get(_place(read_target(url)))
        except UrlRefusedError as exc:
            return exc

    @property
    def is_exhausted(self) -> bool:
        return self.carried_bytes > self.bytes_limit

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a callback of a server is one
        self._count += 1
        self._lines.add(task)
        with contextlib.closing(writer), contextlib.suppress(OSError, h11.ProtocolError, asyncio.CancelledError):
            try:
                if len(self._lines) <= LINES_AT_ONCE and self._count <= LINES_LIMIT and not self.is_exhausted:
                    await self._serve(_Line(reader, writer))
            finally:
                self._lines.discard(task)

    async def _serve(self, near: _Line) -> None:
        """Serve one request, or one tunnel; every line is for one."""
        asking = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_LIMIT_BYTES)
        request = await self._event(asking, near)
        if not isinstance(request, h11.Request):
            return
        target = _asked_for(request)
        try:
            if request.method == b"CONNECT":
                await self._tunnel(near, target, asking.trailing_data[0])
            else:
                await self._request(near, asking, request, target)
        except ConnectorError as exc:
            self._refuse(target, exc)

    async def _request(self, near: _Line, asking: h11.Connection, request: h11.Request, url: str) -> None:
        target = check_url(url, self.rules)
        path = b"/" + request.target.partition(b"://")[2].partition(b"/")[2]
        answering = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_LIMIT_BYTES)
        headers = [
            (b"Host", target.host_header.encode()),
            *_carried(request),
            (b"Connection", b"close"),
        ]
        async with self._connected(target) as far:
            await far.send(answering.send(h11.Request(method=request.method, target=path, headers=headers)))
            await self._carry_events(asking, near, answering, far)
            try:
                await self._answer(answering, far, asking, near)
            except h11.RemoteProtocolError as exc:
                words = str(exc).partition(":")[0]  # what follows is what the other side said
                raise AnswerBrokenError(f"`{target.host}` does not speak HTTP: {words}") from exc

    async def _answer(self, answering: h11.Connection, far: _Line, asking: h11.Connection, near: _Line) -> None:
        answer = await self._event(answering, far)
        while isinstance(answer, h11.InformationalResponse):
            answer = await self._event(answering, far)
        if not isinstance(answer, h11.Response):
            raise h11.RemoteProtocolError("the line closed before an answer")
        headers = [*_carried(answer), (b"Connection", b"close")]
        head = h11.Response(status_code=answer.status_code, reason=answer.reason, headers=headers)
        await near.send(asking.send(head))
        await self._carry_events(answering, far, asking, near)

    async def _carry_events(self, come: h11.Connection, source: _Line, go: h11.Connection, sink: _Line) -> None:
        """Carry a body to its end."""
        while True:
            event = await self._event(come, source)
            if isinstance(event, h11.Data):
                await sink.send(go.send(event))
            elif isinstance(event, h11.EndOfMessage):
                await sink.send(go.send(h11.EndOfMessage()))
                return
            else:
                raise h11.RemoteProtocolError("the line closed before the end")

    async def _event(self, talk: h11.Connection, line: _Line) -> object:
        while (event := talk.next_event()) is h11.NEED_DATA:
            talk.receive_data(self._counted(await line.reader.read(CHUNK_BYTES)))
        return event

    async def _tunnel(self, near: _Line, url: str, begun: bytes) -> None:
        schemes = self.rules.schemes
        target = check_url(url if "https" in schemes else url.replace("https://", "http://", 1), self.rules)
        async with self._connected(target) as far:
            await near.send(b"HTTP/1.1 200 Connected\r\n\r\n")
            first = begun or self._counted(await near.reader.read(CHUNK_BYTES))
            scheme = "https" if first.startswith(TLS_BEGINS) else "http"  # a socket without TLS takes a tunnel, too
            if first and scheme not in schemes:
                raise UrlRefusedError(f"addresses must begin with {' or '.join(schemes)}, not `{scheme}`")
            await far.send(first)
            async with asyncio.TaskGroup() as ways:
                ways.create_task(self._pump(near, far))
                ways.create_task(self._pump(far, near))

    async def _pump(self, source: _Line, sink: _Line) -> None:
        with contextlib.suppress(OSError):  # one side hung up: the other learns of it
            while part := self._counted(await source.reader.read(CHUNK_BYTES)):
                await sink.send(part)
        with contextlib.suppress(OSError):
            sink.writer.write_eof()

    @asynccontextmanager
    async def _connected(self, target: Target) -> AsyncIterator[_Line]:
        addresses = await self._addresses(target.host)
        reader, writer = await _opened(target, addresses)
        self.reached.add(_place(target))
        with contextlib.closing(writer):
            yield _Line(reader, writer)

    async def _addresses(self, host: str) -> list[Address]:
        """Find the addresses of a host, once."""
        if host not in self._found:
            self._found[host] = asyncio.ensure_future(addresses_of(host, self.rules, self.resolve))
        return await asyncio.shield(self._found[host])

    def _counted(self, part: bytes) -> bytes:
        self.carried_bytes += len(part)
        if self.is_exhausted:
            for line in self._lines:
                line.cancel()
        return part

    def _refuse(self, url: str, exc: ConnectorError) -> None:
        try:
            place = _place(read_target(url))
        except UrlRefusedError:
            place = url[:200]
        if len(self.refusals) < REFUSALS_LIMIT:
            self.refusals[place] = exc


async def _opened(target: Target, addresses: list[Address]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    why = "it has no address"
    for address in addresses:
        try:
            async with asyncio.timeout(CONNECT_LIMIT_S / len(addresses)):
                return await asyncio.open_connection(str(address), target.port)
        except TimeoutError:
            why = "no answer in time"
        except OSError as exc:
            why = exc.strerror or "unknown"
    raise UnreachableError(f"`{target.host}` (port {target.port}) does not answer: {why}")


def _asked_for(request: h11.Request) -> str:
    """Give the origin that a request leads to, as a URL."""
    asked = request.target.decode("latin-1")
    if request.method == b"CONNECT":
        return f"https://{asked}/"
    scheme, _, rest = asked.partition("://")
    return f"{scheme}://{rest.partition('/')[0].partition('?')[0]}/"


def _place(target: Target) -> str:
    host = f"[{target.host}]" if ":" in target.host else target.host
    return f"{host}:{target.port}"


def _carried(message: h11.Request | h11.Response) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in message.headers.raw_items() if name.lower() not in _OF_ONE_LINE]
