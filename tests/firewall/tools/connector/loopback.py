"""A server on this machine that answers as a test wants, and a look at every socket that is opened."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import Any

from apps.firewall.tools.connections import AddressRules
from apps.firewall.tools.connector import Connector, Resolve
from tests import loops

LOOPBACK = ("127.0.0.0/8", "::1/128")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

Handler = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Server:
    """A server that takes requests and keeps what it read."""

    port: int
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)

    def url(self, path: str = "/", host: str = "tools.test", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"


def saying(answer: bytes) -> Handler:
    """Answer every request with these bytes."""

    async def handle(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()

    return handle


@asynccontextmanager
async def serving(handler: Handler, *, tls: SSLContext | None = None) -> AsyncIterator[Server]:
    """Serve on a free port of 127.0.0.1 until the block ends."""
    server = Server(port=0)

    async def until_gone(handling: Awaitable[None], reader: asyncio.StreamReader) -> None:
        answering, gone = asyncio.ensure_future(handling), asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({answering, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                server.hung_up.set()
        finally:
            for each in (answering, gone):
                each.cancel()
            await asyncio.gather(answering, gone, return_exceptions=True)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.connections += 1
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next((line[15:] for line in head.lower().split(b"\r\n") if line[:15] == b"content-length:"), b"0")
            server.requests.append(head + await reader.readexactly(int(length)))
            await until_gone(handler(server.requests[-1], writer), reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    listening = await asyncio.start_server(talk, "127.0.0.1", 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()


def names(*rounds: Sequence[str]) -> Resolve:
    """Resolve every name to these addresses; several rounds give each look-up the next one."""
    left = list(rounds) or [["127.0.0.1"]]

    async def resolve(host: str) -> Sequence[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return resolve


def connector(server: Server | None = None, *, resolve: Resolve | None = None, ca: str = "", **rules: Any) -> Connector:
    """Make a connector that may use loopback and the server's port, unless the rules say otherwise."""
    ports = (80, 443) if server is None else (server.port,)
    return Connector(
        rules=AddressRules(**({"networks_allowed": LOOPBACK, "ports": ports} | rules)),
        resolve=resolve or names(),
        ca=ca,
    )


_watched: list[list[tuple[str, Any]]] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if _watched and event in {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo"}:
        _note(event, arguments[0] if event == "socket.getaddrinfo" else arguments[1])


def _note(event: str, place: Any) -> None:
    for seen in _watched:
        seen.append((event, place))


sys.addaudithook(_watch)  # sockets of Python
loops.watches.append(_note)  # those of the event loop


@contextmanager
def watching() -> Iterator[list[tuple[str, Any]]]:
    """Collect every attempt of this process to connect, to send or to resolve, with the address."""
    seen: list[tuple[str, Any]] = []
    _watched.append(seen)
    try:
        yield seen
    finally:
        _watched.remove(seen)
