"""Connections of a server process: each ends by itself when its client says nothing, says half, or does not read.

uvicorn speaks HTTP and sockets. It waits without end for a request's head, and for a client that takes no answer.
"""

import asyncio
from typing import Any, Final

from django.conf import settings
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

HEAD_LIMIT_BYTES: Final = 64 * 1024
SLOWEST_READER_BYTES_S: Final = 1024


class _Reader:
    """Watches whether a client reads what it is sent. `transport` is the connection's."""

    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    _reading_timer: asyncio.TimerHandle | None = None

    def watch(self) -> None:
        """Look again in a while whether some of what waits now was taken."""
        self._stop()
        waiting = self.transport.get_write_buffer_size()
        self._reading_timer = self.loop.call_later(settings.SLOW_CLIENT_S, self._look, waiting)

    def unwatch(self) -> None:
        """Stop looking, unless the connection is only open for what still waits."""
        if not self.transport.is_closing():
            self._stop()

    def forget(self) -> None:
        """Stop looking: the connection is gone."""
        self._stop()

    def _stop(self) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None

    def _look(self, before: int) -> None:
        if before - self.transport.get_write_buffer_size() < SLOWEST_READER_BYTES_S * settings.SLOW_CLIENT_S:
            self.transport.abort()
        else:
            self.watch()


class HttpConnection(_Reader, HttpToolsProtocol):
    """HTTP whose heads come in time and whose answers are taken."""

    _head_timer: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _is_in_head = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        if self._is_in_head and self._head_bytes > HEAD_LIMIT_BYTES:
            self._refuse(431)
        elif self.cycle is None or self.cycle.response_complete:
            self._await_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head = True

    def on_headers_complete(self) -> None:
        self._is_in_head, self._head_bytes = False, 0
        self._end_head_timer()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._let_go()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._let_go()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.watch()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.unwatch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head_timer()
        self.forget()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        """Give the client its time for a whole head; what comes in the meantime gives it no more."""
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(settings.SLOW_CLIENT_S, self._head_is_late)

    def _end_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        if self._is_in_head and self._head_bytes:
            self._refuse(408)
        else:
            self.transport.close()
            self._let_go()

    def _refuse(self, status: int) -> None:
        head = b"content-length: 0\r\nconnection: close\r\n\r\n"
        self.transport.write(STATUS_LINE[status] + head)
        self.transport.close()
        self._let_go()

    def _let_go(self) -> None:
        """See to it that a connection that closes is closed, whether its client reads the rest or not."""
        if self.transport.is_closing():
            self.watch()


class SocketConnection(_Reader, WebSocketsSansIOProtocol):
    """A socket whose messages are taken. One whose client does not answer its pings is closed by uvicorn."""

    def pause_writing(self) -> None:
        super().pause_writing()
        self.watch()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.unwatch()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self.forget()
        super().connection_lost(exc)


PROTOCOLS: dict[str, Any] = {"http": HttpConnection, "ws": SocketConnection}
"""What uvicorn is configured with."""
