"""Our end of one supervisor: its socket, and the three streams of its command."""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Mapping
from functools import partial
from typing import Any

from apps.firewall.sandbox.forkserver import Forkserver

GRACE_S = 3.0
CHUNK_BYTES = 65536


class Supervised:
    """A supervisor that was begun.

    Args:
        stdin: None for a command that has an empty device.
    """

    def __init__(self, server: Forkserver, number: int, control: socket.socket) -> None:
        self._server = server
        self._number = number
        self._control = control
        self._received = bytearray()
        self._reported = asyncio.Event()
        self._listening = asyncio.create_task(self._listen())
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout = asyncio.StreamReader()
        self.stderr = asyncio.StreamReader()
        self._transports: list[asyncio.BaseTransport] = []

    @classmethod
    async def begin(cls, server: Forkserver, *, has_input: bool) -> "Supervised":
        """Have a supervisor forked; it waits for its order.

        Raises:
            LauncherError: it cannot be.
        """
        ours, theirs = socket.socketpair()
        reading, writing = os.pipe() if has_input else (os.open(os.devnull, os.O_RDONLY), -1)
        (out, out_writing), (err, err_writing) = os.pipe(), os.pipe()
        kept = [out, err, *([writing] if has_input else [])]
        try:
            number = server.begin(theirs.fileno(), (reading, out_writing, err_writing))
        except BaseException:
            ours.close()
            for descriptor in kept:
                os.close(descriptor)
            raise
        finally:
            theirs.close()
            for descriptor in (reading, out_writing, err_writing):
                os.close(descriptor)
        ours.setblocking(False)
        begun = cls(server, number, ours)
        await begun._open(out, err, writing)
        return begun

    async def _open(self, out: int, err: int, writing: int) -> None:
        loop = asyncio.get_running_loop()
        for stream, descriptor in ((self.stdout, out), (self.stderr, err)):
            made = partial(asyncio.StreamReaderProtocol, stream)
            transport, _ = await loop.connect_read_pipe(made, os.fdopen(descriptor, "rb", 0))
            self._transports.append(transport)
        if writing < 0:
            return
        pipe, flow = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(writing, "wb", 0))
        self._transports.append(pipe)
        self.stdin = asyncio.StreamWriter(pipe, flow, None, loop)

    async def order(self, order: Mapping[str, Any]) -> None:
        """Tell it what to run."""
        with contextlib.suppress(ConnectionError):  # it was killed; there will be no report
            await asyncio.get_running_loop().sock_sendall(self._control, json.dumps(order).encode() + b"\n")

    async def report(self) -> dict[str, Any]:
        """Wait for what it says when its tree is gone; `{}` when it was killed."""
        await self._reported.wait()
        report: dict[str, Any] = json.loads(self._received) if self._received.endswith(b"\n") else {}
        return report

    async def end(self) -> None:
        """Have it end its tree, insist when it does not, and let go of it."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
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
                transport.close()

    async def _listen(self) -> None:
        """Receive until it is gone."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(ConnectionError):
            while part := await loop.sock_recv(self._control, CHUNK_BYTES):
                self._received += part
                if part.endswith(b"\n"):
                    self._reported.set()
        self._reported.set()
