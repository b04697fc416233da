"""A small MCP server behind an address of this machine, in the test's own loop, that misbehaves as it is told."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

Answer = Callable[[asyncio.StreamWriter, dict[str, Any]], Awaitable[None]]

GREETING = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "web", "version": "3"},
}
TOOLS = {"tools": [{"name": "echo", "description": "Echoes.", "inputSchema": {"type": "object"}}]}


def http(status: int, body: bytes, *, kind: str = "application/json", more: str = "") -> bytes:
    return f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body


def result(identifier: Any, content: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": identifier, "result": content}).encode()


def event(message: bytes) -> bytes:
    return b"event: message\r\ndata: " + message + b"\r\n\r\n"


STREAM = b"HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\n\r\n"


async def normal(writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
    said = {"content": [{"type": "text", "text": json.dumps(message["params"].get("arguments"))}]}
    writer.write(http(200, result(message["id"], said)))


async def streamed(writer: asyncio.StreamWriter, message: dict[str, Any]) -> None:
    note = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}})
    said = {"content": [{"type": "text", "text": "in a stream"}]}
    writer.write(STREAM + event(note.encode()) + event(result(message["id"], said)))
    writer.close()


async def hangs(writer: asyncio.StreamWriter, _: dict[str, Any]) -> None:
    await asyncio.sleep(30)


async def breaks_off(writer: asyncio.StreamWriter, _: dict[str, Any]) -> None:
    writer.write(b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
    writer.close()


async def ends_stream(writer: asyncio.StreamWriter, _: dict[str, Any]) -> None:
    writer.write(STREAM)
    writer.close()


async def rubbish(writer: asyncio.StreamWriter, _: dict[str, Any]) -> None:
    writer.write(http(200, b'{"jsonrpc": '))


async def refuses(writer: asyncio.StreamWriter, _: dict[str, Any]) -> None:
    writer.write(http(503, b"busy", kind="text/plain"))


async def is_not_behind_its_address(writer: asyncio.StreamWriter, _: dict[str, Any]) -> None:
    writer.write(http(502, b"bad gateway", kind="text/plain"))


async def is_a_page(writer: asyncio.StreamWriter, _: dict[str, Any]) -> None:
    writer.write(http(200, b"<html>", kind="text/html"))


async def is_huge(writer: asyncio.StreamWriter, _: dict[str, Any]) -> None:
    writer.write(http(200, b"")[:0] + b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\n\r\n")
    for _part in range(100):
        writer.write(b"x" * 1_000_000)
        await writer.drain()


async def floods(writer: asyncio.StreamWriter, _: dict[str, Any]) -> None:
    note = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}})
    writer.write(STREAM)
    for _part in range(10_000):
        writer.write(event(note.encode()))
        await writer.drain()


async def redirects(writer: asyncio.StreamWriter, _: dict[str, Any]) -> None:
    writer.write(http(307, b"", more="Location: http://169.254.169.254/latest\r\n"))


class WebServer:
    """Answers the greeting and the listing as it should, and calls as `answer` does."""

    def __init__(self, answer: Answer = normal, *, token: str = "") -> None:
        self.answer = answer
        self.token = token
        self.seen: list[str] = []
        self.traces: dict[str, str] = {}
        self._server: asyncio.Server | None = None

    async def start(self) -> int:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                lines = head.split("\r\n")
                headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                await self._route(writer, lines[0].split(" ")[0], headers, json.loads(body) if body else {})
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _route(
        self, writer: asyncio.StreamWriter, method: str, headers: dict[str, str], message: dict[str, Any]
    ) -> None:
        asked = message.get("method", method)
        self.seen.append(asked)
        self.traces[asked] = headers.get("traceparent", "")
        if self.token and headers.get("authorization") != f"bearer {self.token}":
            writer.write(http(401, b"{}"))
        elif asked == "initialize":
            writer.write(http(200, result(message["id"], GREETING), more="Mcp-Session-Id: s1\r\n"))
        elif asked == "tools/list":
            writer.write(http(200, result(message["id"], TOOLS)))
        elif asked == "tools/call":
            await self.answer(writer, message)
        elif asked.startswith("notifications/"):
            writer.write(http(202, b""))
        else:
            writer.write(http(405, b""))
