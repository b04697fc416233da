"""Many websockets of many people in one thread: when each of them heard an event, at a few microseconds each.

A client library for each would take longer to read a message than the server to write it.
"""

import base64
import os
import selectors
import socket
import struct
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from urllib.parse import urlsplit

TEXT, PING, PONG = 0x1, 0x9, 0xA
MASKED = 0x80
READ_BYTES = 65_536
OPEN_AT_ONCE = 50
GIVE_UP_S = 60.0


class Sockets:
    """As many open sockets as there are cookies. `heard` takes the instants at which each heard an event."""

    def __init__(self, url: str, path: str, cookies: Sequence[str]) -> None:
        self._url, self._path, self._cookies = urlsplit(url), path, cookies
        self._selector = selectors.DefaultSelector()
        self._rest: dict[socket.socket, bytes] = {}
        self._times: dict[bytes, list[float]] = {}
        self._has_ended = False
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> "Sockets":
        self._thread.start()
        for start in range(0, len(self._cookies), OPEN_AT_ONCE):
            opened = [self._ask(cookie) for cookie in self._cookies[start : start + OPEN_AT_ONCE]]
            for each in opened:
                self._shake(each)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._has_ended = True
        self._thread.join()
        for each in list(self._rest):
            each.close()

    def forget(self) -> None:
        """Begin to count anew."""
        self._times = {}

    def heard(self, kind: str) -> list[float]:
        """Wait until every socket heard an event of a kind since `forget`; when each of them did."""
        until = time.perf_counter() + GIVE_UP_S
        marker = b'"%s"' % kind.encode()
        while time.perf_counter() < until:
            times = self._times.get(marker, [])
            if len(times) >= len(self._cookies):
                return times[:]
            time.sleep(0.002)
        raise RuntimeError(f"only {len(self._times.get(marker, []))} of {len(self._cookies)} sockets heard `{kind}`")

    def _ask(self, cookie: str) -> socket.socket:
        made = socket.create_connection((self._url.hostname or "", self._url.port or 80), timeout=GIVE_UP_S)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = (
            f"GET {self._path} HTTP/1.1", f"Host: {self._url.netloc}", f"Origin: {self._url.geturl()}",
            "Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13",
            f"Cookie: {cookie}", "", "",
        )  # fmt: skip
        made.sendall("\r\n".join(lines).encode())
        return made

    def _shake(self, made: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            more = made.recv(READ_BYTES)
            if not more:
                raise RuntimeError(f"the server closed a socket: {head[:200]!r}")
            head += more
        if not head.startswith(b"HTTP/1.1 101"):
            raise RuntimeError(f"the server took no socket: {head[:200]!r}")
        made.setblocking(False)
        self._rest[made] = head.partition(b"\r\n\r\n")[2]
        self._selector.register(made, selectors.EVENT_READ)

    def _read(self) -> None:
        while not self._has_ended:
            for key, _ in self._selector.select(0.1):
                at = time.perf_counter()
                made: socket.socket = key.fileobj  # type: ignore[assignment]
                with suppress(BlockingIOError):
                    more = made.recv(READ_BYTES)
                    if more:
                        self._take(made, more, at)
                    else:
                        self._selector.unregister(made)

    def _take(self, made: socket.socket, more: bytes, at: float) -> None:
        rest = self._rest[made] + more
        while (frame := _frame(rest)) is not None:
            code, payload, rest = frame
            if code == PING:
                made.send(bytes((MASKED | PONG, MASKED | len(payload))) + bytes(4) + payload)
            elif code == TEXT:
                for word in payload.split(b", ", 1)[0].split()[1:2]:  # {"type": "approval.requested", …
                    self._times.setdefault(word, []).append(at)
        self._rest[made] = rest


def _frame(text: bytes) -> tuple[int, bytes, bytes] | None:
    """Take the first whole frame: its code, its payload, and what follows."""
    if len(text) < 2:
        return None
    length, start = text[1] & 0x7F, 2
    if length == 126:
        if len(text) < 4:
            return None
        length, start = struct.unpack("!H", text[2:4])[0], 4
    if len(text) < start + length:
        return None
    return text[0] & 0xF, text[start : start + length], text[start + length :]
