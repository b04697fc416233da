"""Clients of a server that say half, say nothing or do not read."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

SOCKET = (
    b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eHh4eHh4eHh4eHh4eHh4eA==\r\n"
)

Slow = Callable[[asyncio.StreamReader, asyncio.StreamWriter, bytes], Awaitable[None]]


def head(method: str, path: str, host: bytes, more: bytes = b"") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: ".encode() + host + b"\r\n" + more + b"\r\n"


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: bytes) -> None:
    """Connect, and say nothing."""


async def half_a_head(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: bytes) -> None:
    """Send a head that never ends, a header at a time."""
    writer.write(head("GET", "/sign-in/", host)[:-2])
    with suppress(ConnectionError):
        while not reader.at_eof():
            writer.write(b"X-More: 1\r\n")
            await writer.drain()
            await asyncio.sleep(0.2)


async def half_a_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: bytes) -> None:
    """Hold a body back."""
    writer.write(head("POST", "/sign-in/", host, b"Content-Length: 5000\r\n") + b"login=")


async def half_a_body_in_chunks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: bytes) -> None:
    """Send a body that never ends, a byte at a time."""
    writer.write(head("POST", "/api/v1/halts", host, b"Transfer-Encoding: chunked\r\n"))
    with suppress(ConnectionError):
        while not reader.at_eof():
            writer.write(b"1\r\nx\r\n")
            await writer.drain()
            await asyncio.sleep(0.2)


async def idle_after_an_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: bytes) -> None:
    """Keep a connection, and send an empty line now and then."""
    writer.write(head("GET", "/healthz", host))
    with suppress(ConnectionError):
        while not reader.at_eof():
            writer.write(b"\r\n")
            await writer.drain()
            await asyncio.sleep(0.2)


async def socket_that_is_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: bytes) -> None:
    """Open a socket without a session."""
    writer.write(head("GET", "/ws/console/", host, SOCKET + b"Origin: http://" + host + b"\r\n"))


KINDS: list[Slow] = [
    silent,
    half_a_head,
    half_a_body,
    half_a_body_in_chunks,
    idle_after_an_answer,
    socket_that_is_silent,
]


async def connected(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", port)


async def until_ended(kind: Slow, port: int) -> None:
    """Be a slow client until the server ends the connection."""
    reader, writer = await connected(port)
    doing: asyncio.Task[None] = asyncio.create_task(kind(reader, writer, b"127.0.0.1:%d" % port))  # type: ignore[arg-type]
    async with asyncio.timeout(300):
        with suppress(ConnectionError):
            while await reader.read(65536):
                pass
        await doing
    writer.close()


async def keep_slow(kind: Slow, port: int) -> None:
    """Be a slow client, again and again."""
    while True:
        with suppress(OSError):
            await until_ended(kind, port)
