"""Our end of one supervisor: its socket, and the three streams of its command."""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Mapping
from typing import Any, NamedTuple

from apps.firewall.sandbox.descriptor_transport import DescriptorTransport
from apps.firewall.sandbox.forkserver import Forkserver
from apps.firewall.sandbox.terminal import open_terminal

GRACE_S = 3.0
CHUNK_BYTES = 65536


class Ends(NamedTuple):
    """Descriptors of the streams of one command: ours, -1 for none, and the three that it gets.

    Args:
        out: its output; the whole terminal, where it has one.
    """

    out: int
    err: int
    writing: int
    given: tuple[int, int, int]
    is_terminal: bool = False

    @property
    def kept(self) -> list[int]:
        return [each for each in (self.out, self.err, self.writing) if each >= 0]


def _pipes(*, has_input: bool) -> Ends:
    reading, writing = os.pipe() if has_input else (os.open(os.devnull, os.O_RDONLY), -1)
    (out, out_writing), (err, err_writing) = os.pipe(), os.pipe()
    return Ends(out, err, writing, (reading, out_writing, err_writing))


def _terminal() -> Ends:
    ours, theirs = open_terminal()
    return Ends(ours, -1, -1, (theirs, theirs, theirs), is_terminal=True)


class Supervised:
    """A supervisor that was begun.

    Args:
        stdin: None for a command that has an empty device.
    """

    def __init__(self, server: Forkserver, number: int, control: socket.socket, unsent: bytes) -> None:
        self._server = server
        self._number = number
        self._control = control
        self._unsent = unsent
        self._received = bytearray()
        self._reported = asyncio.Event()
        self._listening = asyncio.create_task(self._listen())
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout = asyncio.StreamReader()
        self.stderr = asyncio.StreamReader()
        self._transports: list[DescriptorTransport] = []

    @classmethod
    def begin(
        cls, server: Forkserver, order: Mapping[str, Any], *, has_input: bool, has_terminal: bool = False
    ) -> "Supervised":
        """Have a supervisor forked, and tell it what to run; of a long order `hand_over` brings the rest.

        Args:
            has_terminal: the command's streams are a terminal of its own, and all it says comes as `stdout`.
        Raises:
            LauncherError: it cannot be.
        """
        line = json.dumps(order).encode() + b"\n"
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        sent = ours.send(line)  # it finds its order there, and begins while we open our ends
        ends = _terminal() if has_terminal else _pipes(has_input=has_input)
        try:
            number = server.begin(theirs.fileno(), ends.given)
        except BaseException:
            ours.close()
            for descriptor in ends.kept:
                os.close(descriptor)
            raise
        finally:
            theirs.close()
            for descriptor in set(ends.given):
                os.close(descriptor)
        begun = cls(server, number, ours, line[sent:])
        begun._open(ends)
        return begun

    def _open(self, ends: Ends) -> None:
        out = DescriptorTransport(ends.out, self.stdout)
        self._transports.append(out)
        if ends.is_terminal:
            self.stdin = out.writer()
            self.stderr.feed_eof()
            return
        self._transports.append(DescriptorTransport(ends.err, self.stderr))
        if ends.writing >= 0:
            pipe = DescriptorTransport(ends.writing)
            self._transports.append(pipe)
            self.stdin = pipe.writer()

    async def hand_over(self) -> None:
        """Send what of the order has not gone yet."""
        if not self._unsent:
            return
        with contextlib.suppress(ConnectionError):  # it was killed; there will be no report
            await asyncio.get_running_loop().sock_sendall(self._control, self._unsent)

    async def report(self) -> dict[str, Any]:
        """Wait for what it says when its tree is gone; `{}` when it was killed."""
        await self._reported.wait()
        report: dict[str, Any] = json.loads(self._received) if self._received.endswith(b"\n") else {}
        return report

    def ask_to_end(self) -> None:
        """Have it end its tree; it reports that when it has."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)

    async def end(self) -> None:
        """Have it end its tree, insist when it does not, and let go of it."""
        self.ask_to_end()
        try:
            for _ in range(2):
                if (await asyncio.wait([self._listening], timeout=GRACE_S))[0]:
                    return
                self._server.kill(self._number)
        finally:
            self._listening.cancel()
            await asyncio.wait([self._listening])
            self._control.close()
            for transport in self._transports:
                transport.abort()

    async def _listen(self) -> None:
        """Receive until it is gone."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(ConnectionError):
            while part := await loop.sock_recv(self._control, CHUNK_BYTES):
                self._received += part
                if part.endswith(b"\n"):
                    self._reported.set()
        self._reported.set()
