"""A server that is a process of ours: confined, one message a line, nothing else believed.

A line that is no JSON is passed over a few times, because many servers greet on the wrong stream; one that is JSON and
no message ends the connection.
"""

import asyncio
import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from apps.firewall.sandbox.landlock import is_beneath
from apps.firewall.sandbox.limits import Limits
from apps.firewall.sandbox.pipes import PipedProcess, piped_process
from apps.firewall.tools.connections import Connection
from apps.firewall.tools.mcp.errors import (
    McpEndedError,
    McpError,
    McpFloodError,
    McpNotStartedError,
    McpProtocolError,
    McpSettingsError,
)
from apps.firewall.tools.mcp.wire import MESSAGE_LIMIT_BYTES, Incoming, Wire

PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LIMITS: Final = Limits(
    cpu_s=600,
    memory_bytes=4 * 1024**3,
    file_bytes=100 * 1024**2,
    open_files=256,
    processes=64,
    written_bytes=4 * 1024**3,
)
LIFETIME_S: Final = 3600.0
ERRORS_KEPT_BYTES: Final = 8 * 1024
STRAY_LIMIT: Final = 16
SHOWN_CHARACTERS: Final = 200
LAST_WORDS_S: Final = 2.0

ENDINGS: Final[Mapping[str, str]] = {
    "timed_out": "the server was ended: it had run as long as one may",
    "process_limit": "the server was ended: it started too many processes",
    "memory_limit": "the server was ended: it used too much memory",
    "cpu_limit": "the server was ended: it computed for too long",
    "disk_limit": "the server was ended: it wrote too much",
    "stopped": "the server was ended from outside",
    "lost": "nobody knows how the server ended",
}


class Lines:
    """Cuts a stream of bytes into lines of bounded length."""

    def __init__(self, limit_bytes: int = MESSAGE_LIMIT_BYTES) -> None:
        self._limit = limit_bytes
        self._kept = bytearray()

    def add(self, part: bytes) -> Iterator[bytes]:
        """Give the lines that a further part completes.

        Raises:
            McpFloodError: a line does not end within the limit.
        """
        *complete, rest = part.split(b"\n")
        for line in complete:
            self._keep(line)
            yield bytes(self._kept)
            self._kept.clear()
        self._keep(rest)

    def _keep(self, part: bytes) -> None:
        self._kept += part
        if len(self._kept) > self._limit:
            raise McpFloodError(f"the server sent a message of more than {self._limit} bytes")


class _Speech:
    """Carries messages between one process and the session."""

    def __init__(self, process: PipedProcess) -> None:
        self.process = process
        self.fault: McpError | None = None
        self.stray = ""
        self._strays = 0

    async def hear(self, session: Any) -> None:
        """Read until the output ends; close the session's side then, with `fault` saying what it was."""
        lines = Lines()
        async with session:
            try:
                while part := await self.process.read():
                    for line in lines.add(part):
                        message = self._message(line)
                        if message is not None:
                            await session.send(SessionMessage(message))
            except McpError as exc:
                self.fault = exc
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # the session is gone
            else:
                self.fault = await self._last_words()

    async def say(self, session: Any) -> None:
        """Write what the session sends until one of both is gone."""
        async with session:
            with contextlib.suppress(ConnectionError):  # hearing notices why
                async for each in session:
                    text: str = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await self.process.write(text.encode() + b"\n")

    async def why(self) -> McpError:
        return self.fault or await self._last_words()

    def remarks(self) -> str:
        """Tell what the server said apart from messages; empty when it was nothing."""
        said = [f"it wrote lines that are no messages, such as `{self.stray}`"] if self.stray else []
        errors = self.process.errors().text().strip()
        if errors:
            said.append(f"its last words: `{_shown(errors.splitlines()[-1])}`")
        return "; ".join(said)

    def _message(self, line: bytes) -> Any:
        text = line.strip()
        if not text:
            return None
        try:
            return jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValueError as exc:
            shown = _shown(text.decode("utf-8", "replace"))
            if text[:1] in b"{[":
                raise McpProtocolError(f"the server wrote a line that is no message: `{shown}`") from exc
        self.stray = self.stray or shown
        self._strays += 1
        if self._strays > STRAY_LIMIT:
            raise McpProtocolError(f"the server writes lines that are no messages, such as `{self.stray}`")
        return None

    async def _last_words(self) -> McpError:
        process = self.process
        try:
            async with asyncio.timeout(LAST_WORDS_S):
                await process.ended.wait()
        except TimeoutError:
            return McpEndedError(self._with_remarks("the server closed its output"))
        if process.how in {"not_started", "not_confined"}:
            return McpNotStartedError(f"the server did not start: {process.error}")
        told = ENDINGS.get(process.how)
        if told is None:
            by = f"signal {process.signal}" if process.signal is not None else f"exit code {process.exit_code}"
            told = f"the server ended with {by}"
        return McpEndedError(self._with_remarks(told))

    def _with_remarks(self, told: str) -> str:
        remarks = self.remarks()
        return f"{told}; {remarks}" if remarks else told


@contextlib.asynccontextmanager
async def stdio_wire(connection: Connection) -> AsyncIterator[Wire]:
    """Start the server of a connection and speak with it while the block lasts.

    It works in the folder `cwd`, below which it may do anything with files; without one in an empty folder that is
    gone afterwards. It reads its program, arguments that are files, and what `settings.paths` lists; it has the
    network only where `settings.network` says so.

    Raises:
        McpSettingsError: there is no command, no such program or folder, or a folder is closed to it.
    """
    options = dict(connection.settings)
    readable = [*_files(connection.command[1:]), *_paths(options.get("paths"))]
    _check_open(connection, readable)
    with _folder(connection) as folder:
        program = _program(connection, folder)
        async with (
            piped_process(
                connection.command,
                executable=program,
                cwd=folder,
                env={"PATH": PATH, "HOME": folder, "LANG": "C.UTF-8", **connection.env},
                limits=_limits(options.get("limits")),
                time_limit_s=LIFETIME_S,
                error_limit_bytes=ERRORS_KEPT_BYTES,
                network=options.get("network") is True,
                readable=readable,
            ) as process,
            _carried(_Speech(process)) as wire,
        ):
            yield wire


@contextlib.asynccontextmanager
async def _carried(speech: _Speech) -> AsyncIterator[Wire]:
    to_session, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [asyncio.create_task(speech.hear(to_session)), asyncio.create_task(speech.say(from_session))]
    try:
        yield Wire(Incoming(reading), writing, speech.why, speech.remarks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for stream in (to_session, reading, writing, from_session):
            stream.close()


@contextlib.contextmanager
def _folder(connection: Connection) -> Iterator[str]:
    if connection.cwd:
        folder = Path(connection.cwd)
        if not folder.is_absolute() or folder.resolve().parent == folder.resolve() or not folder.is_dir():
            raise McpSettingsError(f"`{connection.cwd}` is no folder that a server may work in")
        yield connection.cwd
        return
    made = tempfile.mkdtemp(prefix="openclaw-mcp-")
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _check_open(connection: Connection, readable: list[str]) -> None:
    closed = [os.path.realpath(each) for each in connection.closed]
    for path in (*readable, *([connection.cwd] if connection.cwd else ())):
        real = os.path.realpath(path)
        if any(is_beneath(real, each) or is_beneath(each, real) for each in closed):
            raise McpSettingsError(f"`{path}` overlaps the folder of keys and records")


def _program(connection: Connection, folder: str) -> str:
    if not connection.command:
        raise McpSettingsError(f"the source `{connection.source}` names no command")
    name = connection.command[0]
    found = shutil.which(name if "/" not in name else str(Path(folder, name)), path=PATH)
    if found is None:
        raise McpSettingsError(f"there is no program `{name}`")
    return found


def _limits(stated: Any) -> Limits:
    members = {each.name: getattr(LIMITS, each.name) for each in fields(Limits)}
    if isinstance(stated, Mapping):
        members |= {name: value for name, value in stated.items() if name in members and type(value) is int}
    try:
        return Limits(**members)
    except ValueError as exc:
        raise McpSettingsError(f"limits: {exc}") from exc


def _files(arguments: tuple[str, ...]) -> list[str]:
    return [each for each in arguments if each.startswith("/") and Path(each).is_file()]


def _paths(stated: Any) -> list[str]:
    return [each for each in stated if isinstance(each, str)] if isinstance(stated, list | tuple) else []


def _shown(text: str) -> str:
    plain = json.dumps(text, ensure_ascii=False)[1:-1]
    return plain if len(plain) <= SHOWN_CHARACTERS else f"{plain[:SHOWN_CHARACTERS]}…"
